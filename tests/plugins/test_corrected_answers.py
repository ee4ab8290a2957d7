"""Tests calls whose results were wrong in earlier versions, by their transcripts.

`tests/transcripts/NAME.txt` has the transcript of each case. When a result changes on purpose,
delete its file and run this test: it writes the file and fails once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from carrel.config import Config, PluginConfig, builtin
from carrel.fetch import FetchClient, FetchSettings
from carrel.plugins.plugin_set import PluginSet
from carrel.tools import Toolbox
from support.modules import answering_module, text_at
from support.pubmed import BASE, articles, found, links, summaries
from support.transcript import LaterClock, Session, wrapped
from support.upstream import Reply, Upstream

TRANSCRIPTS = Path(__file__).parents[1] / "transcripts"
HOSTS = ("export.arxiv.org", "arxiv.org", "api.crossref.org", "eutils.ncbi.nlm.nih.gov")
HTML = Reply(body=b"<html><body>Sign in to the network</body></html>")
MINUTES = 60.0


def eprints(*ids: str) -> Reply:
    entries = "".join(
        f"<entry><id>http://arxiv.org/abs/{one}v1</id><title>Oak {one}</title></entry>"
        for one in ids
    )
    head = (
        '<feed xmlns="http://www.w3.org/2005/Atom" xmlns:o="http://a9.com/-/spec/opensearch/1.1/">'
    )
    counts = f"<o:totalResults>{len(ids)}</o:totalResults><o:startIndex>0</o:startIndex>"
    return Reply(body=f"{head}{counts}{entries}</feed>".encode())


def json_reply(value: object, status: int = 200) -> Reply:
    return Reply(status, [("Content-Type", "application/json")], body=json.dumps(value).encode())


WORK = json_reply(
    {
        "status": "ok",
        "message-type": "work",
        "message": {"DOI": "10.5555/oak", "type": "journal-article", "title": ["Oak"]},
    }
)
ABSENT = Reply(404, body=b"Resource not found.")


def _unreadable_answer(session: Session) -> None:
    session.upstream("/api/query", ("a login page", HTML), ("a feed", eprints("2301.00001")))
    toolbox = session.open_toolbox("arxiv")
    for _ in range(3):
        session.call(toolbox, "arxiv_query", search_query="ti:oak", verify_source_url=False)


def _gateway_report(session: Session) -> None:
    report = json_reply({"message": "no healthy upstream"})
    session.upstream("*", ("a gateway's report", report), ("a work", WORK))
    toolbox = session.open_toolbox("crossref")
    for _ in range(2):
        session.call(toolbox, "crossref_work", doi="10.5555/oak")


def _doi_registered_later(session: Session) -> None:
    session.upstream("*", ("", ABSENT), ("", ABSENT), ("a work", WORK))
    toolbox = session.open_toolbox("crossref")
    session.call(toolbox, "crossref_work", doi="10.5555/oak")
    session.call(toolbox, "crossref_work", doi="10.5555/oak")
    session.wait(6 * MINUTES, "six minutes later")
    session.call(toolbox, "crossref_work", doi="10.5555/oak")


def _e_print_announced_later(session: Session) -> None:
    session.upstream(
        "/api/query",
        ("a feed with 2301.00001", eprints("2301.00001")),
        ("a feed with both", eprints("2301.00001", "2301.00002")),
    )
    toolbox = session.open_toolbox("arxiv")
    asked = {"id_list": "2301.00001,2301.00002", "verify_source_url": False}
    shown = ("total_results", "not_found", "notices")
    session.call(toolbox, "arxiv_query", show=shown, **asked)
    session.wait(6 * MINUTES, "six minutes later")
    session.call(toolbox, "arxiv_query", show=shown, **asked)


def _one_part_of_a_search_fails(session: Session) -> None:
    session.upstream(f"{BASE}/esearch.fcgi", ("two PMIDs", Reply(body=found("1", "2"))))
    session.upstream(f"{BASE}/esummary.fcgi", ("", Reply(503)))
    session.call(
        session.open_toolbox("eutils"),
        "pubmed_search",
        show=("pmids", "brief_summaries", "notices"),
        query_term="oak",
        fetch_brief_summaries=2,
    )


def _citation_of_a_retracted_article(session: Session) -> None:
    retracted = Reply(body=articles("1", retracted=("1",)))
    session.upstream(f"{BASE}/efetch.fcgi", ("an article that was retracted", retracted))
    toolbox = session.open_toolbox("eutils")
    for style in ("ris", "bibtex", "apa_string"):
        session.call(
            toolbox,
            "pubmed_related",
            show=("is_retracted", "updated_by", "citations"),
            source_pmid="1",
            relationship_type="citation_formats",
            citation_styles=[style],
        )


def _retracted_article_in_lists(session: Session) -> None:
    session.upstream(f"{BASE}/elink.fcgi", ("links", Reply(body=links("pubmed_pubmed", "1", "2"))))
    two = Reply(body=summaries("1", "2", retracted=("2",)))
    session.upstream(f"{BASE}/esummary.fcgi", ("summaries, one of them retracted", two))
    session.call(
        session.open_toolbox("eutils"),
        "pubmed_related",
        show=("related_articles",),
        source_pmid="100",
    )


def _refused_api_key(session: Session) -> None:
    report = json_reply({"error": "API key invalid", "api-key": "k", "type": "client"}, 400)
    session.upstream("*", ("the gateway's report", report))
    session.call(session.open_toolbox("eutils"), "pubmed_search", query_term="oak")


def _blocked_client(session: Session) -> None:
    session.upstream("*", ("", Reply(403)))
    session.call(session.open_toolbox("crossref"), "crossref_works", query="oak")


def _backend_fault(session: Session) -> None:
    fault = b"<eSearchResult><ERROR>Search Backend failed: timed out</ERROR></eSearchResult>"
    session.upstream("*", ("a report of an error", Reply(body=fault)))
    session.call(session.open_toolbox("eutils"), "pubmed_search", query_term="oak")


def _missing_path(session: Session) -> None:
    session.upstream("*", ("", Reply(404)))
    session.call(session.open_toolbox("arxiv"), "arxiv_query", search_query="ti:oak")


def _redirect_off_the_list(session: Session) -> None:
    moved = Reply(302, [("Location", "https://elsewhere.example/query")])
    session.upstream("*", ("to https://elsewhere.example/query", moved))
    session.call(session.open_toolbox("arxiv"), "arxiv_query", search_query="ti:oak")


def _limits_and_allowed_values(session: Session) -> None:
    toolbox = session.open_toolbox("arxiv", "eutils")
    many = [str(pmid) for pmid in range(1, 202)]
    session.call(toolbox, "pubmed_fetch", pmids=many)
    session.call(toolbox, "arxiv_query", search_query="ti:oak", sortBy="date")
    session.call(toolbox, "pubmed_related", source_pmid="1", relationship_type="citations")
    session.call(toolbox, "arxiv_query", search_query="ti:oak", max_result=3)


def _pmids_as_people_write_them(session: Session) -> None:
    session.upstream(f"{BASE}/efetch.fcgi", ("three articles", Reply(body=articles("1", "2", "3"))))
    session.call(
        session.open_toolbox("eutils"),
        "pubmed_fetch",
        show=("requested_pmids", "not_found_pmids"),
        pmids=[1, "PMID: 2", " 3 "],
        omit=["abstracts", "affiliations"],
    )


def _dates_and_queries(session: Session) -> None:
    toolbox = session.open_toolbox("eutils")
    dates = {"min_date": "2020/02/30", "max_date": "2020/03/31"}
    session.call(toolbox, "pubmed_search", query_term="oak", date_range=dates)
    session.call(
        toolbox,
        "pubmed_search",
        query_term="(oak OR elm",
        filter_by_publication_types=["Review"],
    )


def _unchecked_source_links(session: Session) -> None:
    ids = [f"2301.0000{number}" for number in range(1, 5)]
    session.upstream("/api/query", ("a feed with four e-prints", eprints(*ids)))
    session.upstream(f"/e-print/{ids[0]}v1", ("", Reply(200)))
    session.upstream(f"/e-print/{ids[1]}v1", ("", Reply(404)))
    session.upstream(f"/e-print/{ids[2]}v1", ("", Reply(503)))
    moved = Reply(302, [("Location", "https://mirror.example/src")])
    session.upstream(f"/e-print/{ids[3]}v1", ("to https://mirror.example/src", moved))
    toolbox = session.open_toolbox("arxiv")
    session.call(toolbox, "arxiv_query", show=("notices",), id_list=",".join(ids))


def _tool_of_a_plugin_that_failed(session: Session) -> None:
    toolbox = session.open_toolbox("arxiv", broken=b"nothing")
    session.call(toolbox, "broken_search", query="oak")
    session.call(toolbox, "arxiv_queri", query="oak")


TOOL = {
    "name": "ask",
    "inputSchema": {
        "type": "object",
        "properties": {
            "query": {"type": "string"},
            "order": {"anyOf": [{"enum": ["newest", "oldest"]}, {"type": "null"}]},
        },
    },
}


def _words_of_a_module(session: Session) -> None:
    reporting = answering_module(
        {"list_tools": {"tools": [TOOL]}},
        "(call $error_set (call $put (i32.const 0) (i32.const 37))) (return (i32.const 1))",
        export="call_tool",
        data=text_at(0, "the catalogue is closed until 9:00   "),
    )
    toolbox = session.open_toolbox(library=reporting.wasm)
    session.call(toolbox, "library_ask", query="oak")
    session.call(toolbox, "library_ask", query="oak", order="latest")


class Case(NamedTuple):
    """A call whose result was wrong.

    Attributes:
        title: the correct behaviour, in one line.
        before: the wrong result.
        run: makes the calls.
    """

    title: str
    before: str
    run: Callable[[Session], None]


CASES = {
    "unreadable-answer": Case(
        "An answer that the plugin cannot read is not kept",
        "arXiv's address answered with a login page and status 200. The page was kept for an "
        "hour, in new processes too, so every retry failed without a request.",
        _unreadable_answer,
    ),
    "gateway-report": Case(
        "A gateway's JSON with status 200 is no work, and is not kept",
        "The report was kept for a day, and every call of that day failed.",
        _gateway_report,
    ),
    "doi-registered-later": Case(
        "Absence is kept for five minutes",
        "A DOI that was registered a minute after the first call stayed absent for a day.",
        _doi_registered_later,
    ),
    "e-print-announced-later": Case(
        "An e-print that is announced later is found",
        "A notice named the absent id, and the feed without it was kept for an hour.",
        _e_print_announced_later,
    ),
    "one-part-of-a-search-fails": Case(
        "A search keeps the PMIDs that it found",
        "The call failed with upstream_unavailable and the PMIDs were lost.",
        _one_part_of_a_search_fails,
    ),
    "citation-of-a-retracted-article": Case(
        "Citations of a retracted article say that it is retracted",
        "RIS, BibTeX and APA were those of any other article.",
        _citation_of_a_retracted_article,
    ),
    "retracted-article-in-lists": Case(
        "Related articles are flagged when they are retracted",
        "The second article was listed as the first one is.",
        _retracted_article_in_lists,
    ),
    "refused-api-key": Case(
        "A refused API key is the operator's matter",
        "The action was fix_arguments: a model changed its query and asked again.",
        _refused_api_key,
    ),
    "blocked-client": Case(
        "Status 403 is the operator's matter",
        "The action was fix_arguments.",
        _blocked_client,
    ),
    "backend-fault": Case(
        "A fault of a backend is worth a retry",
        "The action was fix_arguments, although the same request succeeds a minute later.",
        _backend_fault,
    ),
    "missing-path": Case(
        "Status 404 to a search is no wrong identifier",
        "The error was not_found with the action check_identifier; the call had no identifier.",
        _missing_path,
    ),
    "redirect-off-the-list": Case(
        "A denied redirect says that it was one, and which grant allows it",
        "The message named elsewhere.example and no redirect, as if the plugin had asked for "
        "that host.",
        _redirect_off_the_list,
    ),
    "limits-and-allowed-values": Case(
        "Messages about arguments name the argument, the limit and every allowed value",
        "Messages left out the limit and how many were given, or some of the allowed values.",
        _limits_and_allowed_values,
    ),
    "pmids-as-people-write-them": Case(
        "Numbers, prefixes and blanks are understood in PMIDs",
        "Each of the three was refused.",
        _pmids_as_people_write_them,
    ),
    "dates-and-queries": Case(
        "Days that no calendar has and unbalanced queries are refused before they are sent",
        "Both were sent to NCBI, where the open parenthesis took in the clause of the "
        "publication types.",
        _dates_and_queries,
    ),
    "unchecked-source-links": Case(
        "Each source link that could not be checked says why",
        "One notice gave one reason for all of them.",
        _unchecked_source_links,
    ),
    "tool-of-a-plugin-that-failed": Case(
        "A tool of a plugin that could not be loaded is listed with the reason",
        "Both calls ended with 'unknown tool'.",
        _tool_of_a_plugin_that_failed,
    ),
    "words-of-a-module": Case(
        "A module's error keeps its words, and an enumeration names its values",
        "The module's words came with the advice to change the arguments; the second call was "
        "refused with 'not valid under any of the schemas in anyOf'.",
        _words_of_a_module,
    ),
}


@pytest.fixture
def session(config: Config, tmp_path: Path) -> Iterator[Session]:
    clock = LaterClock()
    opened: list[tuple[Toolbox, FetchClient]] = []
    with Upstream(*HOSTS) as upstream:

        def open_toolbox(*plugins: str, **files: bytes) -> Toolbox:
            entries = [builtin(name) for name in plugins]
            for name, data in files.items():
                (tmp_path / f"{name}.wasm").write_bytes(data)
                entries.append(PluginConfig(name, (tmp_path / f"{name}.wasm").as_uri()))
            changed = replace(config, plugins=tuple(entries))
            client = FetchClient(
                FetchSettings(
                    ca_bundle=upstream.write_authority(tmp_path),
                    cache_path=tmp_path / "answers.sqlite",
                    retries=0,
                ),
                resolver=upstream.names,
                dialer=upstream.dial,
                clock=clock,
            )
            toolbox = Toolbox(changed, plugin_set=PluginSet(changed, fetch_client=client))
            opened.append((toolbox, client))
            return toolbox

        yield Session(upstream, clock, open_toolbox, {str(tmp_path): "/home/reader"})
        for toolbox, client in opened:
            toolbox.close()
            client.close()


@pytest.mark.parametrize("name", CASES)
def test_a_corrected_result_equals_its_transcript(session: Session, name: str) -> None:
    case = CASES[name]
    case.run(session)
    transcript = f"{case.title}.\n\n{wrapped(f'Before: {case.before}')}\n\n{session.text()}"
    path = TRANSCRIPTS / f"{name}.txt"
    if not path.exists():
        path.write_text(transcript, "utf-8")
        pytest.fail(f"{path.name} was not there and is written: read it, and run the test again")
    assert transcript == path.read_text("utf-8")


def test_every_transcript_has_a_case() -> None:
    assert sorted(path.stem for path in TRANSCRIPTS.glob("*.txt")) == sorted(CASES)
