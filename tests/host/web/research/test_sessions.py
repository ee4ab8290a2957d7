"""Tests of research sessions: steps, revisions, branches, limits, privacy."""

from __future__ import annotations

from typing import Any

import pytest

from carrel.errors import ArgumentError, SourceError
from carrel.principal import Principal, acting_as
from carrel.web.answers import web_failure
from carrel.web.research.recording import SessionRecorder
from carrel.web.research.sessions import SessionNotFoundError, SessionStore
from carrel.web.research.sessions.coverage import coverage_of, suggested_queries
from carrel.web.research.sessions.patterns import repeated_failures
from carrel.web.research.sessions.session import MAX_STEPS, Source
from carrel.web.research.sessions.stepping import record_step
from carrel.web.research.sessions.views import progress_view, session_view, step_view
from support.memory_state import MemoryStore


def step(sessions: SessionStore, number: int, session_id: str = "", **more: Any) -> dict[str, Any]:
    arguments = {"search_step": f"step {number}", "step_number": number, "next_step_needed": True}
    if session_id:
        arguments["session_id"] = session_id
    session, warning = record_step(sessions, {**arguments, **more})
    return progress_view(session, number, mode="auto", warning=warning)


def begin(sessions: SessionStore, steps: int = 1, **more: Any) -> str:
    id_: str = step(sessions, 1, research_goal="How do walls help?", **more)["session_id"]
    for number in range(2, steps + 1):
        step(sessions, number, id_)
    return id_


class TestSteps:
    def test_step_one_begins_a_session_with_a_random_id(self, sessions: SessionStore) -> None:
        progress = step(sessions, 1, research_goal="How do walls help?")
        assert progress["research_goal"] == "How do walls help?"
        assert (progress["current_step"], progress["is_complete"]) == (1, False)
        assert progress["session_id"] != begin(sessions)
        assert progress["trust"] == "untrusted-external-content"

    @pytest.mark.requirement("web-researcher:sequential-session")
    def test_a_later_step_without_its_session_is_refused(self, sessions: SessionStore) -> None:
        with pytest.raises(ArgumentError, match="session_id"):
            step(sessions, 2)

    def test_a_session_that_is_not_there_says_how_long_they_last(
        self, sessions: SessionStore
    ) -> None:
        for id_ in ("nothing", "00000000-0000-4000-8000-000000000000"):
            with pytest.raises(SessionNotFoundError) as caught:
                step(sessions, 2, id_)
            assert str(caught.value) == (
                "Session not found or expired. Sessions last 4 hours from last activity."
            )
            assert web_failure(caught.value).kind == "session_not_found"

    def test_the_last_step_completes_the_session_and_a_further_one_reopens_it(
        self, sessions: SessionStore
    ) -> None:
        id_ = begin(sessions)
        assert "completed_at" in step(sessions, 2, id_, next_step_needed=False)
        assert not step(sessions, 3, id_)["is_complete"]

    @pytest.mark.parametrize(("steps", "mode"), [(8, "full"), (9, "summary")])
    @pytest.mark.requirement("web-researcher:sequential-echo")
    def test_up_to_eight_steps_are_echoed_and_then_summed_up(
        self, sessions: SessionStore, steps: int, mode: str
    ) -> None:
        id_ = begin(sessions, steps)
        view = progress_view(sessions.get(id_), steps, mode="auto")
        assert view["response_mode"] == mode
        assert ("steps" in view, "step_index" in view) == (mode == "full", mode != "full")
        assert [one["step_number"] for one in view["last_steps"]] == [steps - 2, steps - 1, steps]
        assert progress_view(sessions.get(id_), steps, mode="full")["response_mode"] == "full"

    @pytest.mark.requirement("web-researcher:sequential-steps")
    def test_there_are_two_hundred_steps_and_then_a_warning(self, sessions: SessionStore) -> None:
        id_ = begin(sessions)
        session = sessions.change(id_, lambda one: one.steps.extend(one.steps * (MAX_STEPS - 1)))
        assert len(session.steps) == MAX_STEPS == 200
        progress = step(sessions, 201, id_)
        assert "200 steps" in progress["warning"]
        assert len(sessions.get(id_).steps) == 200

    def test_hidden_characters_of_a_step_are_removed(self, sessions: SessionStore) -> None:
        id_ = begin(sessions, search_step="look\u202e here\x1b[2J")
        assert sessions.get(id_).steps[0].description == "look here [2J"


class TestRevisions:
    @pytest.mark.requirement("web-researcher:sequential-superseded")
    def test_superseded_by_is_derived_and_is_the_last_revision(
        self, sessions: SessionStore
    ) -> None:
        id_ = begin(sessions, 2)
        step(sessions, 3, id_, is_revision=True, revises_step=1)
        progress = step(sessions, 4, id_, is_revision=True, revises_step=1)
        assert [one.get("superseded_by") for one in progress["steps"]] == [4, None, None, None]
        session = sessions.get(id_)
        assert step_view(session, session.steps[0])["superseded_by"] == 4

    @pytest.mark.parametrize(
        "arguments",
        [
            {"is_revision": True},
            {"is_revision": True, "revises_step": 9},
            {"branch_from_step": 9, "branch_id": "b"},
        ],
        ids=["no step", "an absent step", "a branch of an absent step"],
    )
    def test_a_revision_of_nothing_is_refused(
        self, sessions: SessionStore, arguments: dict[str, Any]
    ) -> None:
        id_ = begin(sessions, 2)
        with pytest.raises(ArgumentError):
            step(sessions, 3, id_, **arguments)
        assert len(sessions.get(id_).steps) == 2

    @pytest.mark.requirement("web-researcher:sequential-branch")
    def test_a_branch_is_named_in_its_steps(self, sessions: SessionStore) -> None:
        id_ = begin(sessions, 2)
        progress = step(sessions, 3, id_, branch_from_step=1, branch_id="lamps")
        assert progress["steps"][2]["branch_id"] == "lamps"
        assert progress["last_steps"][2]["branch_from_step"] == 1

    @pytest.mark.requirement("web-researcher:sequential-gaps")
    def test_a_gap_is_kept_once_with_its_step(self, sessions: SessionStore) -> None:
        id_ = begin(sessions)
        step(sessions, 2, id_, knowledge_gap="who built them")
        progress = step(sessions, 3, id_, knowledge_gap="who built them")
        assert progress["gaps"] == [{"description": "who built them", "found_in_step": 2}]


class TestKeeping:
    @pytest.mark.requirement("web:sessions:life")
    @pytest.mark.requirement("web-researcher:sequential-idle")
    def test_a_session_ends_four_hours_after_its_last_use(
        self, sessions: SessionStore, memory: MemoryStore
    ) -> None:
        id_ = begin(sessions)
        memory.now = 4 * 3600 - 1
        sessions.get(id_)
        memory.now += 4 * 3600 - 1
        sessions.get(id_)
        memory.now += 4 * 3600
        with pytest.raises(SessionNotFoundError):
            sessions.get(id_)

    @pytest.mark.requirement("web-researcher:sequential-sessions")
    def test_a_principal_has_fifty_sessions_and_the_least_used_goes(
        self, sessions: SessionStore, memory: MemoryStore
    ) -> None:
        with acting_as(Principal("bo")):
            others = begin(sessions)
        ids = []
        for _ in range(50):
            memory.now += 1
            ids.append(begin(sessions))
        memory.now += 1
        sessions.get(ids[0])
        begin(sessions)
        sessions.get(ids[0])
        with pytest.raises(SessionNotFoundError):
            sessions.get(ids[1])
        with acting_as(Principal("bo")):
            sessions.get(others)

    @pytest.mark.requirement("web:sessions:own")
    def test_anothers_session_is_not_found(self, sessions: SessionStore) -> None:
        with acting_as(Principal("ada")):
            id_ = begin(sessions)
        with acting_as(Principal("bo")), pytest.raises(SessionNotFoundError):
            sessions.get(id_)

    def test_a_session_is_encrypted(self, sessions: SessionStore, memory: MemoryStore) -> None:
        begin(sessions)
        assert all(b"walls" not in value for value, _ in memory.entries.values())


class TestRecovering:
    @pytest.mark.requirement("web-researcher:session-last")
    def test_the_view_has_the_last_three_steps_and_a_line_for_each(
        self, sessions: SessionStore
    ) -> None:
        view = session_view(sessions.get(begin(sessions, 5)))
        assert [one["step_number"] for one in view["last_steps"]] == [3, 4, 5]
        assert view["step_index"][0]["one_liner"] == "step 1"
        assert view["step_count"] == 5
        assert "error_patterns" not in view

    @pytest.mark.parametrize(("times", "shown"), [(2, False), (3, True)])
    @pytest.mark.requirement("web-researcher:session-failures")
    def test_failures_are_shown_from_three_of_a_kind_on(
        self, sessions: SessionStore, times: int, shown: bool
    ) -> None:
        id_ = begin(sessions)
        recorder = SessionRecorder(sessions)
        error = SourceError("rate_limited", "wait", plugin="brave", tool="search")
        for number in range(times):
            url = f"https://example.org/{number}"
            recorder.record(id_, (), [(url, web_failure(error))], {"brave": False})
        view = session_view(sessions.get(id_))
        assert ("error_patterns" in view) is shown
        assert view["provider_stats"] == {"brave": {"attempts": times, "successes": 0}}
        if shown:
            [pattern] = repeated_failures(sessions.get(id_))
            assert (pattern["kind"], pattern["count"]) == ("rate_limited", 3)
            assert len(pattern["affected_urls"]) == 3

    def test_sources_are_kept_once_with_the_step_that_found_them(
        self, sessions: SessionStore
    ) -> None:
        id_ = begin(sessions, 2)
        recorder = SessionRecorder(sessions)
        found = [Source("https://example.org/a", "A\u202e"), Source("https://example.org/a", "B")]
        assert recorder.record(id_, found) is None
        assert session_view(sessions.get(id_))["sources"] == [
            {"url": "https://example.org/a", "title": "A", "relevance": "", "found_in_step": 2}
        ]

    def test_a_tool_never_fails_for_want_of_its_session(self, sessions: SessionStore) -> None:
        warning = SessionRecorder(sessions).record("nothing", [Source("https://example.org/")])
        assert warning is not None
        assert warning.startswith("Session not found")


class TestCoverage:
    def test_few_sources_of_one_host_are_described_and_lead_to_queries(
        self, sessions: SessionStore
    ) -> None:
        id_ = begin(sessions, knowledge_gap="who built them")
        found = [Source(f"https://example.org/{n}", "t") for n in range(3)]
        SessionRecorder(sessions).record(id_, found)
        session = sessions.get(id_)
        coverage = coverage_of(session)
        assert (coverage["source_count"], coverage["unique_domains"]) == (3, 1)
        assert coverage["dominant_domain"] == "example.org"
        queries = suggested_queries(session, coverage)
        assert queries[0] == "who built them"
        assert "How do walls help? -site:example.org" in queries
