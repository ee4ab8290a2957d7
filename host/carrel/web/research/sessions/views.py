"""Makes what the tools answer about a session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from carrel.web.answers import TRUST

from .patterns import repeated_failures

if TYPE_CHECKING:
    from .session import ResearchSession, ResearchStep

#: An answer has all steps up to this number; of more steps it has only the last.
FULL_STEPS: Final = 8
LAST_STEPS: Final = 3
#: Sources that an answer has; the export has all.
_SOURCES: Final = 50


def step_view(session: ResearchSession, step: ResearchStep) -> dict[str, Any]:
    """Returns a step without unknown members; `superseded_by` is the last step that revises it."""
    view: dict[str, Any] = {
        "step_number": step.number,
        "description": step.description,
        "reasoning": step.reasoning,
        "confidence": step.confidence,
        "rejected_approaches": list(step.rejected),
        "is_revision": step.revises is not None,
        "revises_step": step.revises,
        "superseded_by": session.superseded_by(step),
        "branch_id": step.branch,
        "branch_from_step": step.branched_from,
        "timestamp": step.at,
    }
    needed = {"step_number", "description", "timestamp"}
    return {name: value for name, value in view.items() if value or name in needed}


def step_lines(session: ResearchSession) -> list[dict[str, Any]]:
    """Returns one line for each step."""
    lines = []
    for step, later in zip(session.steps, session.superseded(), strict=True):
        line: dict[str, Any] = {
            "step_number": step.number,
            "one_liner": step.line,
            "branch_id": step.branch,
            "confidence": step.confidence,
        }
        if later is not None:
            line["superseded_by"] = later
        lines.append(line)
    return lines


def progress_view(
    session: ResearchSession, number: int, *, mode: str, warning: str = ""
) -> dict[str, Any]:
    """Returns what `research_step` answers.

    Args:
        session: with the step.
        number: of the step, as the client gave it.
        mode: `full` or `summary`; else by the number of steps.
        warning: what the client should know.
    """
    if mode not in {"full", "summary"}:
        mode = "full" if len(session.steps) <= FULL_STEPS else "summary"
    view: dict[str, Any] = {
        "session_id": session.id,
        "response_mode": mode,
        "research_goal": session.goal,
        "current_step": number,
        "total_steps_estimate": session.estimate,
        "is_complete": session.completed is not None,
        "started_at": session.started,
    }
    if session.completed is not None:
        view["completed_at"] = session.completed
    if warning:
        view["warning"] = warning
    if mode == "full":
        view["steps"] = step_lines(session)
    else:
        view |= {"summary": summary_of(session), "step_index": step_lines(session)}
    return {**view, **_details(session), "trust": TRUST}


def session_view(session: ResearchSession) -> dict[str, Any]:
    """Returns what `research_session` answers without a step."""
    view: dict[str, Any] = {
        "session_id": session.id,
        "response_mode": "summary",
        "research_goal": session.goal,
        "step_count": len(session.steps),
        "summary": summary_of(session),
        "started_at": session.started,
        "step_index": step_lines(session),
        **_details(session),
    }
    patterns = repeated_failures(session)
    if patterns:
        view["error_patterns"] = patterns
    if session.providers:
        view["provider_stats"] = {
            name: {"attempts": attempts, "successes": successes}
            for name, (attempts, successes) in sorted(session.providers.items())
        }
    return {**view, "trust": TRUST}


def summary_of(session: ResearchSession) -> str:
    """Returns the client's own summary, else a count of what there is."""
    if session.summary:
        return session.summary
    steps, sources, gaps = len(session.steps), len(session.sources), len(session.gaps)
    return f"{session.goal}: {steps} steps, {sources} sources, {gaps} open questions"


def _details(session: ResearchSession) -> dict[str, Any]:
    details: dict[str, Any] = {
        "last_steps": [step_view(session, step) for step in session.steps[-LAST_STEPS:]]
    }
    if session.gaps:
        details["gaps"] = [
            {"description": gap.description, "found_in_step": gap.found_in} for gap in session.gaps
        ]
    if session.sources:
        details["sources"] = [
            {
                "url": source.url,
                "title": source.title,
                "relevance": source.relevance,
                "found_in_step": source.found_in,
            }
            for source in session.sources[-_SOURCES:]
        ]
    return details
