"""Tests of exports and bibliographies: deterministic, and safe against what titles contain."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from carrel.bibliography import read_bibliography
from carrel.citations import CitationEngine
from carrel.exchange import Call
from carrel.web.research.exporting import export_session
from carrel.web.research.formatting import format_bibliography
from carrel.web.research.pages import LinkState
from carrel.web.research.recording import SessionRecorder
from carrel.web.research.sessions import SessionStore
from carrel.web.research.sessions.session import Source

from .test_sessions import begin, step

SOURCES: list[dict[str, Any]] = [
    {
        "url": "https://doi.org/10.5555/desks",
        "title": "Attention to walls",
        "author": "Vaswani, Ada; Bo Brown",
        "date": "2017-06-12",
        "site": "Desk Review",
        "doi": "10.5555/desks",
    },
    {"url": "https://example.org/lamps", "title": "The lamps of desks", "date": "June 2020"},
    {"url": "https://example.org/lamps", "title": "The same again"},
    {"title": "without an address", "url": ""},
]


def written(sources: list[dict[str, Any]], style: str, call: Call) -> dict[str, Any]:
    engine = CitationEngine(None)  # type: ignore[arg-type]  # these styles render nothing
    return format_bibliography(sources, style, engine, call)


class TestBibliographies:
    @pytest.mark.parametrize("style", ["bibtex", "ris", "csl-json"])
    @pytest.mark.requirement("web-researcher:format-once")
    def test_each_address_is_written_once(self, style: str, call: Call) -> None:
        result = written(SOURCES, style, call)
        assert result["entry_count"] == 2
        assert len(read_bibliography(result["bibliography"]).entries) == 2

    @pytest.mark.requirement("web-researcher:format-key:word")
    def test_a_key_is_surname_year_and_first_word_of_the_title(self, call: Call) -> None:
        text = written(SOURCES[:1], "bibtex", call)["bibliography"]
        assert "@article{vaswani2017attention," in text

    @pytest.mark.requirement("web-researcher:format-key:letters")
    def test_keys_of_a_list_differ(self, call: Call) -> None:
        twice = [{**SOURCES[0], "doi": "", "url": f"https://example.org/{n}"} for n in range(2)]
        text = written(twice, "bibtex", call)["bibliography"]
        assert "{vaswani2017attentiona," in text
        assert "{vaswani2017attentionb," in text

    @pytest.mark.requirement("web-researcher:format-ris")
    def test_ris_has_jour_with_a_doi_and_elec_without(self, call: Call) -> None:
        text = written(SOURCES, "ris", call)["bibliography"]
        assert [line for line in text.splitlines() if line.startswith("TY")] == [
            "TY  - JOUR",
            "TY  - ELEC",
        ]

    @pytest.mark.requirement("web-researcher:format-empty")
    def test_no_sources_are_an_empty_array_of_csl(self, call: Call) -> None:
        assert written([], "csl-json", call)["bibliography"] == "[]"
        assert written([], "ris", call)["bibliography"] == ""
        assert written([], "apa", call)["bibliography"] == ""

    @pytest.mark.parametrize("style", ["bibtex", "ris", "csl-json"])
    @pytest.mark.parametrize(
        "separator",
        ["\n", "\r", "\r\n", "\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x00"],
        ids=repr,
    )
    @pytest.mark.requirement("web-researcher:format-lines")
    def test_a_title_cannot_begin_a_record(self, style: str, separator: str, call: Call) -> None:
        evil = separator.join([
            "A", "ER  - ", "", "TY  - JOUR", "TI  - Forged", "}", "@article{forged, title={F}}",
        ])  # fmt: skip
        source = {"url": "https://example.org/", "title": evil, "author": evil, "site": evil}
        text = written([source], style, call)["bibliography"]
        assert len(read_bibliography(text).entries) == 1
        assert len([line for line in text.splitlines() if line.startswith(("TY", "@"))]) <= 1

    def test_the_same_sources_are_the_same_text(self, call: Call) -> None:
        assert written(SOURCES, "bibtex", call) == written(SOURCES, "bibtex", call)


class TestExports:
    def export(self, sessions: SessionStore, id_: str, format_: str, **more: Any) -> dict[str, Any]:
        return export_session(
            sessions.get(id_), format_, exported_at="NOW", principal="local", **more
        )

    def session(self, sessions: SessionStore) -> str:
        id_ = begin(sessions, 2, knowledge_gap="who built them")
        step(sessions, 3, id_, is_revision=True, revises_step=2, reasoning="It was wrong.")
        found = [Source("https://example.org/a", "Walls"), Source("https://example.org/b", "")]
        SessionRecorder(sessions).record(id_, found)
        return id_

    def test_a_report_has_goal_steps_questions_and_sources(self, sessions: SessionStore) -> None:
        export = self.export(sessions, self.session(sessions), "markdown")
        text = export["document"]
        assert text.startswith("# How do walls help?\n")
        for part in (
            "### Step 2 (superseded by step 3)",
            "### Step 3 (revises step 2)",
            "Reasoning: It was wrong.",
            "- who built them (step 1)",
            "1. [Walls](https://example.org/a) (example.org)",
            "Exported NOW for local.",
        ):
            assert part in text
        assert (export["step_count"], export["source_count"]) == (3, 2)

    @pytest.mark.parametrize("format_", ["markdown", "json"])
    @pytest.mark.requirement("web-researcher:export-same")
    def test_two_exports_of_a_session_differ_only_in_their_time(
        self, sessions: SessionStore, format_: str
    ) -> None:
        id_ = self.session(sessions)
        assert self.export(sessions, id_, format_) == self.export(sessions, id_, format_)

    def test_json_has_the_whole_session(self, sessions: SessionStore) -> None:
        document = self.export(sessions, self.session(sessions), "json")["document"]
        assert [one["step_number"] for one in document["steps"]] == [1, 2, 3]
        assert len(document["sources"]) == 2
        json.dumps(document)

    @pytest.mark.requirement("web-researcher:export-links")
    def test_links_are_marked_where_they_were_checked(self, sessions: SessionStore) -> None:
        id_ = self.session(sessions)
        links = {
            "https://example.org/a": LinkState(True, 200),
            "https://example.org/b": LinkState(None, None, "robots"),
        }
        text = self.export(sessions, id_, "markdown", links=links)["document"]
        assert "(example.org) — live, status 200" in text
        assert "(example.org) — not verified" in text

    def test_a_title_is_text_and_no_markdown(self, sessions: SessionStore) -> None:
        id_ = begin(sessions)
        evil = "x](https://evil.example) <script> # h\n\n## Sources"
        found = [Source("https://example.org/)](javascript:alert(1))", evil)]
        found.append(Source("javascript:alert(1)", "click"))
        SessionRecorder(sessions).record(id_, found)
        text = self.export(sessions, id_, "markdown")["document"]
        assert text.count("\n## Sources") == 1
        links = re.findall(r"(?<!\\)\]\(([a-z]+:[^)]*)\)", text)
        assert [link.partition("/%29")[0] for link in links] == ["https://example.org"]
        assert re.search(r"(?<!\\)<", text) is None
