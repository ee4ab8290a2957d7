"""`paper_fetch` over real plugins and a real fetch layer, with upstreams on loopback."""

from __future__ import annotations

import asyncio
import dataclasses
import hashlib
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from carrel.config import Config
from carrel.errors import ConfigError
from carrel.exchange import Call
from carrel.papers.opening import log_path, open_log, open_store
from carrel.papers.store.incoming import MAX_FILE_BYTES
from carrel.records import parse_id
from support.fetch_harness import until
from support.paper_world import CHALLENGE, LANDING, LOGIN, PDF, PaperWorld, page_reply, pdf_reply
from support.upstream import Reply, Seen, Upstream

from .conftest import Papers

PLOS = "https://journals.plos.org/a.pdf"
ZENODO = "https://zenodo.org/b.pdf"
OpenPapers = Callable[..., Papers]


def rows(config: Config) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log_path(config).read_text("utf-8").splitlines()]


def paths(upstream: Upstream) -> list[str]:
    sources = ("api.crossref.org", "api.unpaywall.org")
    found = [f"{one.host}{one.path}" for one in upstream.seen if one.host not in sources]
    return [one for one in found if "/api/query" not in one]


def test_an_open_paper_is_stored_with_its_licence_and_provenance(
    world: PaperWorld, papers: Papers, configuration: Config
) -> None:
    doi = world.add("10.5555/open", (PLOS, pdf_reply()))
    result = papers.fetch("https://doi.org/10.5555/OPEN")
    assert result["ok"] is True
    assert (result["source"], result["license"], result["oa_status"]) == (
        "unpaywall",
        "cc-by",
        "gold",
    )
    assert result["size_bytes"] == len(PDF)
    assert result["pdf"] == {"status": "fetched"}
    assert Path(result["path"]).read_bytes() == PDF
    stored = open_store(configuration).find(parse_id(doi))
    assert stored is not None
    entry = stored.entry
    assert entry.title == "On walled desks"
    assert entry.own["copy_url"] == PLOS
    assert entry.own["sha256"] == hashlib.sha256(PDF).hexdigest()
    events = [(one["event"], one["result"], one["capability"]) for one in rows(configuration)]
    assert events == [
        ("resolve", "ok", "metadata"),
        ("fetch", "ok", "oa"),
        ("store_write", "ok", "oa"),
    ]
    fetched = rows(configuration)[1]
    assert (fetched["license"], fetched["size_bytes"]) == ("cc-by", len(PDF))
    assert fetched["store_path"] == "doi_10.5555_open.pdf"
    assert not open_log(configuration).verify().faults


def test_a_stored_paper_is_not_downloaded_again(
    world: PaperWorld, papers: Papers, upstream: Upstream
) -> None:
    doi = world.add("10.5555/open", (PLOS, pdf_reply()))
    first = papers.fetch(doi)
    seen = len(upstream.seen)
    again = papers.fetch(f"https://doi.org/{doi.upper()}")
    assert again["pdf"] == {"status": "stored"}
    assert again["path"] == first["path"]
    assert len(upstream.seen) == seen


def test_an_e_print_comes_from_arxiv(world: PaperWorld, papers: Papers) -> None:
    world.add_eprint("2401.00001", pdf_reply())
    result = papers.fetch("https://arxiv.org/abs/2401.00001")
    assert (result["ok"], result["source"]) == (True, "arxiv")


def test_one_version_of_an_e_print_is_fetched_and_no_other(
    world: PaperWorld, papers: Papers, upstream: Upstream, configuration: Config
) -> None:
    doi = world.add("10.5555/published", (PLOS, pdf_reply()))
    world.add_eprint("2401.00001", page_reply(b"<h1>Not found</h1>", 404), doi=doi)
    world.serve("https://export.arxiv.org/pdf/2401.00001v2", pdf_reply(PDF + b"% second\n"))
    assert papers.fetch(doi)["source"] == "unpaywall"
    seen = len(upstream.seen)
    missing = papers.fetch("arXiv:2401.00001v1")
    assert missing["ok"] is False, "neither the published article nor the second version"
    assert "journals.plos.org" not in [one.host for one in upstream.seen[seen:]]
    fetched = papers.fetch("arXiv:2401.00001v2")
    assert (fetched["ok"], fetched["source"]) == (True, "arxiv")
    assert Path(fetched["path"]).read_bytes().endswith(b"% second\n")
    again = papers.fetch("arXiv:2401.00001v2")
    assert (again["path"], again["pdf"]) == (fetched["path"], {"status": "stored"})
    kept = papers.fetch(doi)
    assert Path(kept["path"]).read_bytes() == PDF, "the article keeps its own file"


def test_copies_are_tried_in_the_documented_order(
    world: PaperWorld, papers: Papers, open_papers: OpenPapers, upstream: Upstream
) -> None:
    doi = world.add("10.5555/two", (PLOS, pdf_reply()), (ZENODO, pdf_reply()))
    assert papers.fetch(doi)["ok"]
    assert paths(upstream) == ["zenodo.org/b.pdf"]
    other = world.add(
        "10.5555/three",
        ("https://zenodo.org/c.pdf", pdf_reply()),
        ("https://journals.plos.org/c.pdf", pdf_reply()),
    )
    assert papers.fetch(other, prefer="version_of_record")["ok"]
    assert paths(upstream)[1:] == ["journals.plos.org/c.pdf"]


def test_the_next_copy_is_tried_when_one_is_no_pdf(
    world: PaperWorld, papers: Papers, configuration: Config
) -> None:
    doi = world.add("10.5555/two", (ZENODO, page_reply(LANDING)), (PLOS, pdf_reply()))
    result = papers.fetch(doi)
    assert result["ok"] is True
    failed = [one for one in result["attempts"] if one["outcome"] == "consulted_failed"]
    assert len(failed) == 1
    assert "landing page" in failed[0]["detail"]
    assert [(one["event"], one["result"]) for one in rows(configuration)] == [
        ("resolve", "ok"),
        ("fetch", "err"),
        ("fetch", "ok"),
        ("store_write", "ok"),
    ]


@pytest.mark.parametrize(
    ("reply", "word"),
    [
        (page_reply(LANDING), "landing page"),
        (page_reply(CHALLENGE), "challenge page"),
        (page_reply(LOGIN), "login page"),
        (page_reply(b"<html>" + b"x" * 2**21), "page"),
        (Reply(headers=[("Content-Type", "text/plain")], body=b"not a paper"), "text/plain"),
        (Reply(headers=[("Content-Type", "application/pdf")], body=b"\x89PNG...."), "pdf"),
        (Reply(headers=[("Content-Type", "application/pdf")], body=b"%PD"), "not a PDF"),
        (Reply(headers=[("Content-Type", "application/pdf")], body=b""), "not a PDF"),
    ],
)
def test_what_is_no_pdf_is_named_and_not_stored(
    world: PaperWorld, papers: Papers, configuration: Config, reply: Reply, word: str
) -> None:
    doi = world.add("10.5555/wall", (PLOS, reply))
    result = papers.fetch(doi)
    assert result["error"]["code"] == "NETWORK_ERROR"
    assert word in result["error"]["message"]
    assert result["error"]["denial_context"]["reason"] == "content_type_mismatch"
    assert result["error"]["denial_context"]["expected"] == [b"%PDF-".hex()]
    folder = configuration.papers.folder
    assert folder is not None
    assert not list(folder.glob("*.pdf"))
    assert not list(folder.glob(".partial/*.part"))
    entry = open_store(configuration).read("doi_10.5555_wall")
    assert entry is not None, "the metadata is stored all the same"
    assert entry.pdf_path is None


def test_a_file_that_is_announced_too_large_is_not_received(
    world: PaperWorld, papers: Papers
) -> None:
    raw = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%%PDF-1.7" % (MAX_FILE_BYTES + 1)
    doi = world.add("10.5555/large", (PLOS, Reply(raw=raw)))
    denial = papers.fetch(doi)["error"]["denial_context"]
    assert denial == {
        "reason": "size_cap_exceeded", "cap": MAX_FILE_BYTES, "actual": MAX_FILE_BYTES + 1,
    }  # fmt: skip


def test_no_copy_anywhere_is_no_oa_available(
    world: PaperWorld, papers: Papers, configuration: Config
) -> None:
    doi = world.add("10.5555/closed")
    result = papers.fetch(doi)
    assert result["error"]["code"] == "NO_OA_AVAILABLE"
    assert "denial_context" not in result["error"]
    assert open_store(configuration).read("doi_10.5555_closed") is not None


def test_a_source_that_did_not_answer_is_not_taken_for_a_closed_paper(
    world: PaperWorld, papers: Papers
) -> None:
    doi = world.add("10.5555/closed")
    world.failing["api.unpaywall.org"] = 503
    result = papers.fetch(doi)
    assert result["error"]["code"] == "NETWORK_ERROR"
    assert "unpaywall" in result["error"]["message"]


def test_an_unknown_paper_is_not_found(world: PaperWorld, papers: Papers) -> None:
    result = papers.fetch("10.5555/nobody")
    assert result["error"]["code"] == "NOT_FOUND"
    assert result["ref"] == "10.5555/nobody"


def test_a_retracted_paper_is_fetched_and_marked_as_such(world: PaperWorld, papers: Papers) -> None:
    notice: dict[str, Any] = {"DOI": "10.5555/notice", "type": "retraction", "label": "Retraction"}
    notice |= {"updated": {"date-parts": [[2021, 2, 3]]}, "source": "publisher"}
    doi = world.add("10.5555/gone", (PLOS, pdf_reply()), updates=[notice])
    assert papers.fetch(doi)["retracted"] is True


class TestHosts:
    """Each hop is checked against the list of the kind of copy."""

    @pytest.mark.requirement("sandbox:hosts:downloads")
    def test_a_host_that_is_not_listed_is_refused(
        self, world: PaperWorld, papers: Papers, upstream: Upstream, configuration: Config
    ) -> None:
        doi = world.add("10.5555/x", ("https://elsewhere.example/a.pdf", pdf_reply()))
        result = papers.fetch(doi)
        error = result["error"]
        assert error["code"] == "CAPABILITY_DENIED"
        denial = error["denial_context"]
        assert denial["reason"] == "redirect_not_in_allowlist"
        assert (denial["attempted"], denial["hop_index"]) == ("elsewhere.example", 0)
        assert "journals.plos.org" in denial["expected"]
        assert error["remediation"] == [
            {
                "kind": "additional_host",
                "value": "elsewhere.example",
                "note": 'papers.publisher_hosts += ["elsewhere.example"] permits downloads from '
                "this host",
            }
        ]
        assert paths(upstream) == []
        denied = rows(configuration)[1]
        assert (denied["result"], denied["error_code"]) == ("denied", "NETWORK_ERROR")

    @pytest.mark.requirement("sandbox:hosts:downloads")
    def test_a_redirect_to_a_host_that_is_not_listed_is_refused(
        self, world: PaperWorld, papers: Papers, upstream: Upstream
    ) -> None:
        moved = Reply(302, [("Location", "https://elsewhere.example/a.pdf")])
        doi = world.add("10.5555/x", (PLOS, moved))
        world.serve("https://elsewhere.example/a.pdf", pdf_reply())
        denial = papers.fetch(doi)["error"]["denial_context"]
        assert (denial["attempted"], denial["hop_index"]) == ("elsewhere.example", 1)
        assert paths(upstream) == ["journals.plos.org/a.pdf"]

    def test_the_operator_adds_a_host_and_not_the_names_below_it(
        self, world: PaperWorld, open_papers: OpenPapers, configuration: Config
    ) -> None:
        added = configuration.papers._replace(publisher_hosts=("elsewhere.example",))
        papers = open_papers(dataclasses.replace(configuration, papers=added))
        doi = world.add("10.5555/x", ("https://elsewhere.example/a.pdf", pdf_reply()))
        assert papers.fetch(doi)["ok"]
        below = world.add("10.5555/y", ("https://sub.elsewhere.example/a.pdf", pdf_reply()))
        assert papers.fetch(below)["error"]["code"] == "CAPABILITY_DENIED"

    def test_a_blocked_host_stays_blocked_whatever_the_operator_adds(
        self,
        world: PaperWorld,
        open_papers: OpenPapers,
        configuration: Config,
        upstream: Upstream,
    ) -> None:
        added = configuration.papers._replace(publisher_hosts=("sci-hub.se",))
        papers = open_papers(dataclasses.replace(configuration, papers=added))
        doi = world.add("10.5555/x", ("https://sci-hub.se/a.pdf", pdf_reply()))
        assert papers.fetch(doi)["error"]["denial_context"]["reason"] == "host_in_block_list"
        assert paths(upstream) == []

    def test_a_redirect_without_tls_is_refused(self, world: PaperWorld, papers: Papers) -> None:
        doi = world.add("10.5555/x", (PLOS, Reply(302, [("Location", "http://www.mdpi.com/a")])))
        error = papers.fetch(doi)["error"]
        assert error["code"] == "CAPABILITY_DENIED"
        assert error["denial_context"]["reason"] == "insecure_scheme"
        assert error["denial_context"]["expected"] == ["https"]

    def test_an_address_without_tls_is_fetched_with_it(
        self, world: PaperWorld, papers: Papers
    ) -> None:
        doi = world.add("10.5555/x", ("http://journals.plos.org/old.pdf", pdf_reply()))
        assert papers.fetch(doi)["ok"]

    def test_a_private_address_is_refused(
        self, world: PaperWorld, papers: Papers, upstream: Upstream
    ) -> None:
        upstream.names.table["journals.plos.org"] = ["10.0.0.1"]
        doi = world.add("10.5555/x", (PLOS, pdf_reply()))
        error = papers.fetch(doi)["error"]
        assert error["denial_context"]["reason"] == "ssrf_private_address"

    def test_moved_copies_are_followed_within_the_list(
        self, world: PaperWorld, papers: Papers
    ) -> None:
        moved = Reply(301, [("Location", "https://www.mdpi.com/new.pdf")])
        world.serve("https://www.mdpi.com/new.pdf", pdf_reply())
        doi = world.add("10.5555/x", ("https://doi.org/10.5555/x", moved))
        assert papers.fetch(doi)["ok"]


class TestBrokenConnections:
    """A download continues where it broke, in the same call and in a later one."""

    tag = ("ETag", '"one"')

    def rest(self, seen: Seen) -> Reply:
        first = int(seen.headers["range"].removeprefix("bytes=").removesuffix("-"))
        assert seen.headers["if-range"] == '"one"'
        part = f"bytes {first}-{len(PDF) - 1}/{len(PDF)}"
        return Reply(206, [self.tag, ("Content-Range", part)], PDF[first:])

    def test_a_broken_download_is_resumed(
        self, world: PaperWorld, papers: Papers, upstream: Upstream
    ) -> None:
        broken = Reply(headers=[self.tag], body=PDF, cut=4000)
        doi = world.add("10.5555/x", (PLOS, pdf_reply()))
        world.serve(PLOS, broken, self.rest)
        result = papers.fetch(doi)
        assert result["ok"], result
        assert Path(result["path"]).read_bytes() == PDF

    def test_a_later_call_resumes(
        self, world: PaperWorld, open_papers: OpenPapers, upstream: Upstream
    ) -> None:
        doi = world.add("10.5555/x", (PLOS, pdf_reply()))
        world.serve(PLOS, Reply(headers=[self.tag], body=PDF, cut=4000))
        assert open_papers(retries=0).fetch(doi)["error"]["code"] == "NETWORK_ERROR"
        world.serve(PLOS, self.rest)
        result = open_papers().fetch(doi)
        assert result["ok"], result
        assert Path(result["path"]).read_bytes() == PDF

    def test_a_file_that_changed_is_received_anew(
        self, world: PaperWorld, open_papers: OpenPapers
    ) -> None:
        doi = world.add("10.5555/x", (PLOS, pdf_reply()))
        world.serve(PLOS, Reply(headers=[self.tag], body=PDF, cut=4000))
        assert not open_papers(retries=0).fetch(doi)["ok"]
        other = PDF.replace(b"0", b"1")
        world.serve(PLOS, Reply(416), pdf_reply(other))
        result = open_papers().fetch(doi)
        assert result["ok"], result
        assert Path(result["path"]).read_bytes() == other

    def test_the_rest_of_another_copy_is_not_appended(
        self, world: PaperWorld, open_papers: OpenPapers, upstream: Upstream
    ) -> None:
        doi = world.add("10.5555/x", (ZENODO, pdf_reply()), (PLOS, pdf_reply()))
        world.serve(ZENODO, Reply(headers=[self.tag], body=PDF, cut=4000))
        result = open_papers(retries=0).fetch(doi)
        assert result["ok"], result
        assert Path(result["path"]).read_bytes() == PDF
        assert "range" not in upstream.seen[-1].headers


class TestMining:
    """Publishers' interfaces need an agreement and a key, and are asked for their DOIs only."""

    DOI = "10.1016/j.desk.2020.01.001"
    URL = "https://api.elsevier.com/content/article/doi/10.1016/j.desk.2020.01.001"

    @pytest.fixture
    def agreed(self, monkeypatch: pytest.MonkeyPatch) -> str:
        monkeypatch.setenv("CARREL_TDM_ELSEVIER_AGREED", "1")
        monkeypatch.setenv("CARREL_SECRET_TDM_ELSEVIER_KEY", "key-of-a-test")
        return "key-of-a-test"

    def test_with_both_the_copy_is_fetched_and_the_row_says_so(
        self,
        agreed: str,
        world: PaperWorld,
        papers: Papers,
        upstream: Upstream,
        configuration: Config,
    ) -> None:
        world.add(self.DOI)
        world.serve(self.URL, pdf_reply())
        result = papers.fetch(self.DOI)
        assert (result["ok"], result["source"]) == (True, "tdm-elsevier")
        asked = upstream.seen[-1]
        assert asked.host == "api.elsevier.com"
        assert asked.headers["x-els-apikey"] == agreed
        assert "httpAccept=application%2Fpdf" in asked.path
        assert rows(configuration)[1]["capability"] == "tdm-elsevier"
        assert agreed not in json.dumps(result) + log_path(configuration).read_text()
        capabilities = papers("paper_capabilities")
        assert (capabilities["tdm_enabled"], capabilities["tdm_elsevier"]) == (True, True)
        assert capabilities["tdm_aps"] is False

    def test_an_open_copy_comes_first(
        self, agreed: str, world: PaperWorld, papers: Papers, upstream: Upstream
    ) -> None:
        world.add(self.DOI, (PLOS, pdf_reply()))
        assert papers.fetch(self.DOI)["source"] == "unpaywall"
        assert "api.elsevier.com" not in {one.host for one in upstream.seen}

    def test_another_publishers_doi_is_not_asked_for(
        self, agreed: str, world: PaperWorld, papers: Papers, upstream: Upstream
    ) -> None:
        doi = world.add("10.1103/PhysRevX.1")
        result = papers.fetch(doi)
        outcomes = {one["source"]: one["outcome"] for one in result["error"]["attempts"]}
        assert outcomes["tdm-elsevier"] == "not_consulted_wrong_publisher"
        assert outcomes["tdm-aps"] == "not_consulted_disabled"
        assert "api.elsevier.com" not in {one.host for one in upstream.seen}

    @pytest.mark.parametrize(
        ("publisher", "doi", "url", "shown"),
        [
            (
                "aps",
                "10.1103/a",
                "https://harvest.aps.org/v2/journals/articles/10.1103/a",
                lambda seen: seen.headers["authorization"] == "Bearer key-1",
            ),
            (
                "springer",
                "10.1038/a",
                "https://link.springer.com/content/pdf/10.1038/a.pdf",
                lambda seen: seen.path.endswith("?api_key=key-1"),
            ),
        ],
        ids=["aps", "springer"],
    )
    def test_each_interface_gets_its_key_in_its_own_place(  # noqa: PLR0917 - fixtures
        self,
        world: PaperWorld,
        open_papers: OpenPapers,
        upstream: Upstream,
        monkeypatch: pytest.MonkeyPatch,
        publisher: str,
        doi: str,
        url: str,
        shown: Callable[[Seen], bool],
    ) -> None:
        monkeypatch.setenv(f"CARREL_TDM_{publisher.upper()}_AGREED", "yes")
        monkeypatch.setenv(f"CARREL_SECRET_TDM_{publisher.upper()}_KEY", "key-1")
        world.add(doi)
        world.serve(url, pdf_reply())
        assert open_papers().fetch(doi)["source"] == f"tdm-{publisher}"
        assert shown(upstream.seen[-1])

    @pytest.mark.parametrize("one", ["CARREL_TDM_APS_AGREED", "CARREL_SECRET_TDM_APS_KEY"])
    def test_either_alone_is_an_error_of_the_configuration(
        self, open_papers: OpenPapers, monkeypatch: pytest.MonkeyPatch, one: str
    ) -> None:
        monkeypatch.setenv(one, "1")
        with pytest.raises(ConfigError, match=r"CARREL_TDM_APS_AGREED.*CARREL_SECRET_TDM_APS_KEY|"
                           r"CARREL_SECRET_TDM_APS_KEY.*CARREL_TDM_APS_AGREED"):  # fmt: skip
            open_papers()("paper_health")


def test_nothing_is_fetched_when_the_log_cannot_be_written(
    world: PaperWorld, papers: Papers, configuration: Config, upstream: Upstream
) -> None:
    doi = world.add("10.5555/open", (PLOS, pdf_reply()))
    configuration.data_dir.mkdir()
    (configuration.data_dir / "provenance").write_text("a file in the place of the folder")
    assert papers.fetch(doi)["error"]["code"] == "LOG_ERROR"
    assert paths(upstream) == []
    assert open_store(configuration).list_keys() == []


def test_a_dry_run_touches_neither_network_nor_disk_nor_log(
    world: PaperWorld, papers: Papers, configuration: Config, upstream: Upstream
) -> None:
    result = papers.fetch("10.5555/open", dry_run=True)
    assert result["dry_run"] is True
    assert result["ref"] == {"doi": "10.5555/open"}
    plan = result["plan"]
    assert plan["metadata_sources"] == ["arxiv", "crossref", "unpaywall"]
    assert [one["key"] for one in plan["pdf_sources"]] == [
        "arxiv", "oa-repository", "oa-publisher",
    ]  # fmt: skip
    assert "journals.plos.org" in plan["pdf_sources"][2]["candidate_hosts"]
    assert plan["candidate_hosts_are_upper_bound"] is True
    assert plan["would_append_provenance"] is True
    assert plan["target_pdf_path"] == str(configuration.papers.folder / "doi_10.5555_open.pdf")  # type: ignore[operator]
    assert plan["target_metadata_path"].endswith("/.metadata/doi_10.5555_open.toml")
    assert result["rate_limit_budget"] == {"global_per_sec": 5.0, "per_source_min_gap_ms": 200}
    assert not upstream.seen
    assert not configuration.data_dir.exists()
    assert configuration.papers.folder is not None
    assert not configuration.papers.folder.exists()
    citation = papers.fetch("Müller. On walled desks. Annals, 2019", dry_run=True)
    assert citation["error"]["code"] == "INVALID_REF"


def test_metadata_asks_no_publisher(world: PaperWorld, papers: Papers, upstream: Upstream) -> None:
    doi = world.add("10.5555/open", (PLOS, pdf_reply()), (ZENODO, pdf_reply()))
    metadata = papers("paper_metadata", ref=doi)
    assert metadata["oa_url"] == ZENODO
    assert {one.host for one in upstream.seen} == {"api.crossref.org", "api.unpaywall.org"}


def test_health_creates_nothing_and_says_what_works(
    papers: Papers, configuration: Config, world: PaperWorld
) -> None:
    health = papers("paper_health")
    assert (health["ok"], health["store_writable"], health["papers"]) == (True, True, 0)
    assert health["schema_version"] == "1.0"
    assert not configuration.data_dir.exists()
    world.add("10.5555/open", (PLOS, pdf_reply()))
    papers.fetch("10.5555/open")
    assert papers("paper_health")["papers"] == 1


def test_a_cancelled_fetch_leaves_nothing_half_stored(
    world: PaperWorld, papers: Papers, configuration: Config, upstream: Upstream
) -> None:
    doi = world.add("10.5555/slow", (PLOS, pdf_reply(drip=0.01)))
    calls: list[Call] = []
    results: list[Any] = []

    def work() -> None:
        fetching = papers.toolbox.call("paper_fetch", {"ref": doi}, call_started=calls.append)
        results.append(asyncio.run(fetching).data)

    thread = threading.Thread(target=work)
    thread.start()
    until(lambda: "journals.plos.org/a.pdf" in paths(upstream), 30)
    calls[0].cancel()
    thread.join(10)
    assert results[0]["error"]["code"] == "FETCH_TIMEOUT"
    assert "cancelled" in results[0]["error"]["message"]
    assert not list(Path(str(configuration.papers.folder)).glob("*.pdf"))


def test_two_calls_for_one_paper_store_it_once(
    world: PaperWorld, papers: Papers, configuration: Config
) -> None:
    doi = world.add("10.5555/open", (PLOS, pdf_reply()))
    results: list[dict[str, Any]] = []
    threads = [threading.Thread(target=lambda: results.append(papers.fetch(doi))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [one["ok"] for one in results] == [True] * 4
    writes = [one for one in rows(configuration) if one["event"] == "store_write"]
    assert len(writes) == 1
    assert not open_log(configuration).verify().faults
