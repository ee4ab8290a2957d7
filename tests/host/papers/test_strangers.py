"""A plugin that is not built in takes part in everything by configuration alone, and harms nobody.

The configuration is a file as an operator writes it: the built-in sources, which answer from a
recording, and one entry for the plugin.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from carrel.config import load_config
from carrel.exchange import Call, Limits
from carrel.features import FEATURES
from carrel.plugins.concurrent_calls import Question, ask_all
from carrel.plugins.roles import read_full_text, read_links, read_search, role_sources
from carrel.tools import Toolbox
from support.pages import ROOT
from support.role_guests import role_guest

Raw = dict[str, Any]
DESK = "10.5555/desk.2023.101"  # that the recorded sources know
OWN = "10.5555/strange.1"  # that they do not
PDF = "https://strangers.example/own.pdf"
KINDS = {"identifiers": ["doi", "arxiv"], "batch": 10}
ROLES = {
    "search": {"max": 50, "filters": ["year"]},
    "open_copies": KINDS,
    "full_text": {"identifiers": ["doi"]},
    "references": {"identifiers": ["doi"], "max": 100},
    "citations": {"identifiers": ["doi"], "max": 100},
}


def record(doi: str | None = OWN, **members: Any) -> Raw:
    ids = {} if doi is None else {"doi": doi}
    return {"ids": ids, "type": "article-journal", "source": "crossref", **members}


def of(doi: str, work: Raw) -> Raw:
    return {"id": {"type": "doi", "id": doi}, "work": work}


def found(*works: Raw, missing: tuple[str, ...] = ()) -> str:
    absent = [{"type": "doi", "id": doi} for doi in missing]
    return json.dumps({"works": works, "not_found": absent})


def copies(*urls: str) -> list[Raw]:
    return [{"url": url, "kind": "pdf", "host_type": "repository"} for url in urls]


def full_text(url: str) -> str:
    return json.dumps({"copies": [{"url": url, "format": "pdf"}]})


OPEN = record(title="On strange desks", authors=[{"family": "Lampe"}], issued="2024")
HONEST = {
    "lookup": found(of(OWN, OPEN), of(DESK, record(DESK, title="A desk"))),
    "role:search": json.dumps({"works": [OPEN], "total": 1}),
    "role:open_copies": found(of(OWN, OPEN | {"open_copies": copies(PDF), "is_oa": True})),
    "role:full_text": full_text(PDF),
    "role:references": json.dumps({"links": [{"work": record(DESK), "contexts": ["As in [1]."]}]}),
    "role:citations": json.dumps({"links": [{"work": record("10.5555/later.1")}]}),
}
Open = Callable[..., Toolbox]


@pytest.fixture
def open_toolbox(tmp_path: Path, code_folder: Path) -> Iterator[Open]:
    """Opens a toolbox over the file of an operator who added one plugin, `strange`."""
    opened: list[Toolbox] = []

    def one(results: Raw, **manifest: Any) -> Toolbox:
        declared: Raw = {"lookup": KINDS, "roles": ROLES, **manifest}
        path = tmp_path / "strange.wasm"
        path.write_bytes(role_guest(results, **declared).wasm)
        file = tmp_path / "carrel.toml"
        file.write_text(
            f'[plugins.strange]\nurl = "{path.as_uri()}"\n'
            f'[papers]\nfolder = "{(tmp_path / "store").as_posix()}"\n'
        )
        config = replace(
            load_config(file),
            cache_dir=code_folder,
            data_dir=tmp_path,
            replay_dir=ROOT / "examples" / "recordings" / "lookup",
        )
        opened.append(Toolbox(config, features=FEATURES))
        return opened[-1]

    yield one
    for toolbox in opened:
        toolbox.close()


def call(toolbox: Toolbox, tool: str, **arguments: Any) -> Raw:
    result: Raw = toolbox.call_sync(tool, arguments).data
    return result


def ask(toolbox: Toolbox, role: str, arguments: Raw) -> bytes:
    """Asks the plugin `strange`, which must be among those that take the role."""
    sources, _ = role_sources(toolbox.plugin_set, toolbox.config, role)
    [source] = [one for one in sources if one.name == "strange"]
    question = Question("strange", source.spec.tool, arguments)
    whole = Call("test", role, Limits(wall_seconds=60))
    [answer] = ask_all(toolbox.plugin_set, [question], whole)
    assert isinstance(answer, bytes), answer
    return answer


@pytest.mark.requirement("result:typed:stranger")
def test_a_plugin_with_every_role_joins_search_resolve_and_copies(open_toolbox: Open) -> None:
    toolbox = open_toolbox(HONEST)
    result = call(toolbox, "paper_search", query="strange desks")
    assert [one["sources"] for one in result["works"]] == [["strange"]]
    assert {one["source"]: one["outcome"] for one in result["sources"]}["strange"] == "found"
    result = call(toolbox, "paper_resolve", ref=DESK)
    assert {"crossref", "strange"} <= set(result["sources"])
    result = call(toolbox, "paper_metadata", ref=OWN)
    assert (result["source"], result["oa_url"]) == ("strange", PDF)
    result = call(toolbox, "work_lookup", ids=[OWN])
    assert result["works"][0]["sources"] == ["strange"]


def test_a_plugin_with_every_role_is_asked_for_full_text_and_links(open_toolbox: Open) -> None:
    toolbox = open_toolbox(HONEST)
    own = {"id": {"type": "doi", "id": OWN}}
    [copy] = read_full_text(ask(toolbox, "full_text", own), "strange")
    assert (copy.url, copy.format) == (PDF, "pdf")
    links = read_links(ask(toolbox, "references", own | {"limit": 5}), "strange", "references")
    assert [(one.work.ids.doi, one.work.source) for one in links.links] == [(DESK, "strange")]
    links = read_links(ask(toolbox, "citations", own | {"limit": 5}), "strange", "citations")
    assert [one.work.ids.doi for one in links.links] == ["10.5555/later.1"]


def test_works_beyond_those_asked_for_are_left_out_unread(open_toolbox: Open) -> None:
    many = json.dumps({"works": [record(f"10.5555/{number}") for number in range(10_000)]})
    toolbox = open_toolbox({"role:search": many}, lookup={"identifiers": ["doi"]})
    started = time.monotonic()
    result = call(toolbox, "paper_search", query="desks", limit=5, sources=["strange"])
    assert time.monotonic() - started < 30
    assert len(result["works"]) == 5
    [mine] = [one for one in result["sources"] if one["source"] == "strange"]
    assert (mine["count"], mine["notice"]) == (5, "9995 works left out: more than the 5 asked for")
    assert read_search(many.encode(), "strange", 3).surplus == 9_997


def test_answers_to_identifiers_that_were_not_asked_for_are_dropped(open_toolbox: Open) -> None:
    works = [of(f"10.5555/{number}", record(f"10.5555/{number}")) for number in range(10_000)]
    toolbox = open_toolbox({"lookup": found(*works, missing=(DESK,))})
    result = call(toolbox, "work_lookup", ids=[DESK])
    assert len(result["works"]) == 1
    assert "strange" not in result["works"][0]["sources"]


def test_a_lying_record_keeps_its_own_name_and_replaces_no_value(open_toolbox: Open) -> None:
    lie = record("10.5555/lamp(2021)102", title="Buy desks", abstract="Now.", is_oa=True)
    lie["updated_by"] = [{"type": "retraction", "doi": "10.5555/x"}]
    honest = open_toolbox({"lookup": found(missing=(DESK, "10.5555/LAMP(2021)102"))})
    before = call(honest, "work_lookup", ids=[DESK, "10.5555/LAMP(2021)102"])
    liar = open_toolbox({"lookup": found(of(DESK, lie), of("10.5555/LAMP(2021)102", lie))})
    after = call(liar, "work_lookup", ids=[DESK, "10.5555/LAMP(2021)102"])
    assert [one["work"] for one in after["items"]] == [0, 1], "two works stay two"
    for known, now in zip(before["works"], after["works"], strict=True):
        assert now["work"]["title"] == known["work"]["title"]
        assert now["work"]["ids"]["doi"] == known["work"]["ids"]["doi"]
        assert now["provenance"]["title"] == known["provenance"]["title"]
    assert "strange" not in after["works"][0]["sources"], "the record is of another DOI"
    alternatives = after["works"][1]["alternatives"]["title"]
    assert {"value": "Buy desks", "sources": ["strange"]} in alternatives, "it is shown who says so"


def test_one_lie_for_every_identifier_makes_no_one_work_of_many(open_toolbox: Open) -> None:
    ids = [DESK, "10.5555/LAMP(2021)102", "10.5555/nobody"]
    lie = record(None, title="Buy desks")
    toolbox = open_toolbox({"lookup": found(*(of(doi, lie) for doi in ids))})
    result = call(toolbox, "work_lookup", ids=ids)
    titles = [result["works"][one["work"]]["work"]["title"] for one in result["items"]]
    assert len(set(titles)) == 3
    assert titles[2] == "Buy desks", "nobody else has it"


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "https://127.0.0.1/x.pdf",
        "https://127.1/x.pdf",
        "https://0x7f.0x1/x.pdf",
        "http://169.254.169.254/latest/meta-data/",
        "https://[::1]/x.pdf",
        "https://[fd00::1]/x.pdf",
        "https://10.0.0.8/x.pdf",
        "https://localhost/x.pdf",
        "https://printer.local/x.pdf",
        "https://intranet/x.pdf",
        "https://user:word@strangers.example/x.pdf",
    ],
)
def test_an_address_off_the_public_web_is_no_copy(open_toolbox: Open, url: str) -> None:
    lie = OPEN | {"open_copies": copies(url), "is_oa": True}
    results = HONEST | {"role:open_copies": found(of(OWN, lie))}
    metadata = call(open_toolbox(results), "paper_metadata", ref=OWN)
    assert metadata["ok"] is True
    assert metadata["oa_url"] is None


def test_a_failing_plugin_hides_no_other_source(open_toolbox: Open) -> None:
    toolbox = open_toolbox({"role:search": json.dumps({"works": [{"ids": 1}, OPEN]})})
    result = call(toolbox, "paper_resolve", ref=DESK)
    assert result["ok"] is True
    assert "strange" not in result["sources"]
    assert {one["source"]: one["outcome"] for one in result["attempts"]}["strange"] == (
        "consulted_failed"
    )
    result = call(toolbox, "paper_search", query="desks", sources=["strange"])
    assert [one["work"]["title"] for one in result["works"]] == ["On strange desks"]
    assert result["sources"][-1]["notice"].startswith("1 records left out")
