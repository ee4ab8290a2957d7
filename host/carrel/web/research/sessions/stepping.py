"""Records one step of a session."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from carrel.errors import ArgumentError
from carrel.text.printable import printable, printable_lines

from .session import LONGEST_LINE, LONGEST_TEXT, MAX_STEPS, ResearchSession, ResearchStep

if TYPE_CHECKING:
    from .store import SessionStore

_LOST = (
    "session_id: a step after the first needs the session_id that step 1 returned; look the "
    "session up by that id, or begin again with step 1"
)


def record_step(
    sessions: SessionStore, arguments: Mapping[str, Any]
) -> tuple[ResearchSession, str]:
    """Records a step, and returns its session and what the client should know.

    Step 1 without a session begins one. A later step without one is refused, so that a lost id
    never begins a second session beside the first.

    Args:
        sessions: where they are kept.
        arguments: of `research_step`.

    Raises:
        ArgumentError: a later step without a session, or a revision or branch of a step that is not
            there.
        SessionNotFoundError: there is no such session.
        CarrelError: the store cannot be used.
    """
    number, id_ = int(arguments["step_number"]), arguments.get("session_id")
    if not id_:
        if number != 1:
            raise ArgumentError([_LOST])
        _require_steps(ResearchSession("", "", "", 0.0), arguments)
        goal = arguments.get("research_goal") or arguments["search_step"]
        id_ = sessions.create(printable(goal, LONGEST_LINE)).id
    warnings: list[str] = []
    now = sessions.now()

    def change(session: ResearchSession) -> None:
        warnings.clear()
        _require_steps(session, arguments)
        if len(session.steps) >= MAX_STEPS:
            warnings.append(
                f"the session has {MAX_STEPS} steps, which is the most; this one is not recorded: "
                "begin a new session, with a summary of this one as its goal"
            )
            return
        if session.step(number) is not None:
            warnings.append(f"step {number} was recorded before; both are kept")
        session.steps.append(_step(arguments, number, now))
        _note(session, arguments, number, now)

    session = sessions.change(str(id_), change)
    return session, "; ".join(warnings)


def _require_steps(session: ResearchSession, arguments: Mapping[str, Any]) -> None:
    faults = []
    revises, branch = arguments.get("revises_step"), arguments.get("branch_from_step")
    if arguments.get("is_revision") and revises is None:
        faults.append("revises_step: a revision names the step that it revises")
    for name, number in (("revises_step", revises), ("branch_from_step", branch)):
        if number is not None and session.step(number) is None:
            count = len(session.steps)
            faults.append(f"{name}: step {number} is not in the session, which has {count} steps")
    if faults:
        raise ArgumentError(faults)


def _step(arguments: Mapping[str, Any], number: int, now: str) -> ResearchStep:
    return ResearchStep(
        number,
        printable_lines(arguments["search_step"])[:LONGEST_TEXT],
        now,
        reasoning=printable_lines(arguments.get("reasoning", ""))[:LONGEST_TEXT],
        confidence=arguments.get("confidence", ""),
        rejected=tuple(
            printable(approach, LONGEST_LINE)
            for approach in arguments.get("rejected_approaches", ())
        ),
        revises=arguments.get("revises_step"),
        branch=printable(arguments.get("branch_id", ""), 100),
        branched_from=arguments.get("branch_from_step"),
    )


def _note(session: ResearchSession, arguments: Mapping[str, Any], number: int, now: str) -> None:
    """Takes over what a step says of the whole session."""
    if arguments.get("research_goal"):
        session.goal = printable(arguments["research_goal"], LONGEST_LINE)
    if arguments.get("session_summary"):
        session.summary = printable_lines(arguments["session_summary"])[:LONGEST_TEXT]
    session.estimate = int(arguments.get("total_steps_estimate", session.estimate))
    session.estimate = max(session.estimate, len(session.steps))
    if arguments.get("knowledge_gap"):
        session.add_gap(printable(arguments["knowledge_gap"], LONGEST_LINE), number)
    session.completed = None if arguments["next_step_needed"] else now
