"""`paper_batch_fetch`: forty mixed references end as forty exact outcomes, live and replayed."""

from __future__ import annotations

import dataclasses
import json
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from carrel.config import Config
from carrel.papers.opening import open_log, open_store
from carrel.papers.store.incoming import MAX_FILE_BYTES
from support.paper_world import CHALLENGE, LANDING, LOGIN, PDF, PaperWorld, page_reply, pdf_reply
from support.upstream import Reply, Seen, Upstream

from .conftest import Papers

OpenPapers = Callable[..., Papers]
PLOS = "https://journals.plos.org"
ZENODO = "https://zenodo.org"

#: reference → `fetched`, or the code and a word of the message.
Outcomes = dict[str, tuple[str, str]]


def forty(world: PaperWorld) -> Outcomes:
    """Adds forty papers of every kind, and returns what each must end as."""
    expected: Outcomes = {}

    def expect(reference: str, outcome: str = "fetched", word: str = "") -> None:
        assert reference not in expected
        expected[reference] = (outcome, word)

    for number in range(8):
        expect(world.add(f"10.5555/open.{number}", (f"{PLOS}/o{number}.pdf", pdf_reply())))
    for number in range(4):
        expect(world.add(f"10.5555/green.{number}", (f"{ZENODO}/g{number}.pdf", pdf_reply())))
    for number in range(4):
        expect(f"arXiv:{world.add_eprint(f'2401.0000{number}', pdf_reply())}")
    for number in range(4):
        doi = world.add(f"10.5555/closed.{number}")
        expect(doi, "NO_OA_AVAILABLE", "no source knows an open copy")
    for number in range(4):
        expect(f"10.5555/nobody.{number}", "NOT_FOUND", "unknown to")
    expect("arXiv:2401.99999", "NOT_FOUND", "unknown to")
    expect("10.55", "INVALID_REF", "10.55")
    notice: dict[str, Any] = {"DOI": "10.5555/notice", "type": "retraction", "label": "Retraction"}
    notice |= {"updated": {"date-parts": [[2021, 2, 3]]}, "source": "publisher"}
    for number in range(2):
        copy = (f"{PLOS}/r{number}.pdf", pdf_reply())
        expect(world.add(f"10.5555/retracted.{number}", copy, updates=[notice]))
    for number in range(2):
        moved = Reply(301, [("Location", f"https://www.mdpi.com/moved{number}.pdf")])
        world.serve(f"https://www.mdpi.com/moved{number}.pdf", pdf_reply())
        expect(world.add(f"10.5555/moved.{number}", (f"{PLOS}/m{number}.pdf", moved)))
    away = Reply(302, [("Location", "https://elsewhere.example/x.pdf")])
    doi = world.add("10.5555/moved.away", (f"{PLOS}/away.pdf", away))
    expect(doi, "CAPABILITY_DENIED", "elsewhere.example is not on the list")
    for name, page, word in (
        ("landing", LANDING, "landing page"),
        ("challenge", CHALLENGE, "challenge page"),
        ("login", LOGIN, "login page"),
    ):
        doi = world.add(f"10.5555/{name}", (f"{PLOS}/{name}.pdf", page_reply(page)))
        expect(doi, "NETWORK_ERROR", word)
    doi = world.add("10.5555/forbidden", (f"{PLOS}/f.pdf", page_reply(CHALLENGE, 403)))
    expect(doi, "NETWORK_ERROR", "403")
    doi = world.add("10.5555/lost", (f"{PLOS}/lost.pdf", page_reply(b"gone", 404)))
    expect(doi, "NETWORK_ERROR", "404")
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%%PDF-1.7" % (MAX_FILE_BYTES + 1)
    doi = world.add("10.5555/oversized", (f"{PLOS}/big.pdf", Reply(raw=head)))
    expect(doi, "NETWORK_ERROR", "100,000,000 bytes")
    doi = world.add("10.5555/unlisted", ("https://elsewhere.example/u.pdf", pdf_reply()))
    expect(doi, "CAPABILITY_DENIED", "elsewhere.example")
    doi = world.add("10.5555/slow", (f"{PLOS}/slow.pdf", Reply(silent=True)))
    expect(doi, "FETCH_TIMEOUT", "did not answer")
    expect(world.add("10.5555/second", (f"{ZENODO}/s.pdf", page_reply(LANDING)),
                     (f"{PLOS}/s.pdf", pdf_reply())))  # fmt: skip
    assert len(expected) == 40
    return expected


def outcomes(batch: dict[str, Any]) -> Outcomes:
    return {
        row["ref"]: ("fetched", "")
        if row["ok"]
        else (row["error"]["code"], row["error"]["message"])
        for row in batch["results"]
    }


def require_expected(batch: dict[str, Any], expected: Outcomes) -> None:
    assert [row["ref"] for row in batch["results"]] == list(expected)
    for reference, (outcome, message) in outcomes(batch).items():
        code, word = expected[reference]
        assert (reference, outcome) == (reference, code), message
        assert word in message
    for row in batch["results"]:
        if not row["ok"]:
            assert "denial_context" in row["error"], "rows are uniform"
    total = sum(code == "fetched" for code, _ in expected.values())
    assert batch["summary"]["ok"] == total
    assert batch["summary"]["failed"] == len(expected) - total
    assert sum(batch["summary"]["codes"].values()) == len(expected) - total


def test_forty_references_end_as_forty_outcomes_live_and_replayed(
    world: PaperWorld, open_papers: OpenPapers, configuration: Config, tmp_path: Path
) -> None:
    expected = forty(world)
    recorded = dataclasses.replace(configuration, record_dir=tmp_path / "exchanges")
    batch = open_papers(recorded, read_seconds=1.5)("paper_batch_fetch", refs=list(expected))
    require_expected(batch, expected)
    store = open_store(configuration)
    stored = [key for key in store.list_keys() if store.pdf_path(key)]
    assert len(stored) == batch["summary"]["ok"]
    for key in stored:
        path = store.pdf_path(key)
        assert path is not None
        assert path.read_bytes() == PDF
    assert not open_log(configuration).verify().faults
    retracted = [row["ref"] for row in batch["results"] if row.get("retracted")]
    assert retracted == ["10.5555/retracted.0", "10.5555/retracted.1"]

    papers = configuration.papers._replace(folder=tmp_path / "second")
    replayed = dataclasses.replace(
        configuration, papers=papers, replay_dir=tmp_path / "exchanges", data_dir=tmp_path / "other"
    )
    again = open_papers(replayed)("paper_batch_fetch", refs=list(expected))
    require_expected(again, expected)
    assert json.dumps(again["summary"]) == json.dumps(batch["summary"])


def test_one_paper_is_downloaded_once_however_often_it_is_named(
    world: PaperWorld, papers: Papers, upstream: Upstream
) -> None:
    world.add("10.5555/open", (f"{PLOS}/a.pdf", pdf_reply()))
    refs = ["10.5555/open", "https://doi.org/10.5555/OPEN", "doi:10.5555/open"]
    batch = papers("paper_batch_fetch", refs=refs)
    assert [row["ref"] for row in batch["results"]] == refs
    assert len({row["path"] for row in batch["results"]}) == 1
    assert sum(one.path == "/a.pdf" for one in upstream.seen) == 1


def test_at_most_five_are_downloaded_at_once(
    world: PaperWorld, papers: Papers, upstream: Upstream
) -> None:
    lock = threading.Lock()
    running, most = 0, 0

    def slow(_seen: Seen) -> Reply:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        threading.Event().wait(0.05)
        with lock:
            running -= 1
        return pdf_reply()

    refs = [world.add(f"10.5555/p{n}", (f"{PLOS}/p{n}.pdf", slow)) for n in range(12)]
    batch = papers("paper_batch_fetch", refs=refs)
    assert batch["summary"]["ok"] == 12
    assert most <= 5


def test_more_than_a_hundred_are_refused(papers: Papers, upstream: Upstream) -> None:
    refs = [f"10.5555/{number}" for number in range(101)]
    result = papers("paper_batch_fetch", refs=refs)
    assert result["error"]["code"] == "INVALID_REF"
    assert papers("paper_batch_fetch", refs=[])["error"]["code"] == "INVALID_REF"
    assert not upstream.seen


def test_a_dry_run_plans_each(papers: Papers, upstream: Upstream) -> None:
    plan = papers("paper_batch_fetch", refs=["10.5555/a", "arXiv:2401.00001"], dry_run=True)
    assert [one["ref"] for one in plan["results"]] == [
        {"doi": "10.5555/a"},
        {"arxiv": "2401.00001"},
    ]
    assert plan["rate_limit_budget"]["global_per_sec"] == 5.0
    assert not upstream.seen


def test_stored_papers_need_no_source(
    world: PaperWorld, papers: Papers, upstream: Upstream
) -> None:
    world.add("10.5555/open", (f"{PLOS}/a.pdf", pdf_reply()))
    assert papers.fetch("10.5555/open")["ok"]
    world.failing |= {"api.crossref.org": 503, "api.unpaywall.org": 503}
    batch = papers("paper_batch_fetch", refs=["10.5555/open", "doi:10.5555/OPEN"])
    assert [row["pdf"]["status"] for row in batch["results"]] == ["stored", "stored"]


def test_a_batch_that_bypasses_the_cache_asks_every_source_again(
    world: PaperWorld, papers: Papers, upstream: Upstream
) -> None:
    world.add("10.5555/closed")

    def requests(*, refresh: bool) -> dict[str, int]:
        before = len(upstream.seen)
        arguments = {"refs": ["10.5555/closed"]}
        papers.toolbox.call_sync("paper_batch_fetch", arguments, refresh=refresh)
        return Counter(one.host for one in upstream.seen[before:])

    requests(refresh=False)
    assert requests(refresh=False) == {}
    # Crossref is asked for the record, and both for open copies.
    assert requests(refresh=True) == {"api.crossref.org": 2, "api.unpaywall.org": 1}
