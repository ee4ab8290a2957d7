"""Writes a session as a report in Markdown, or as JSON.

The same session is the same text, but for the time of the export: no clock, no random id and no
order of a set takes part.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlsplit

from carrel.text.printable import printable, printable_lines
from carrel.web.answers import TRUST

from .sessions.views import step_view, summary_of

if TYPE_CHECKING:
    from .pages import LinkState
    from .sessions import ResearchSession, ResearchStep

FORMATS: Final = ("markdown", "json")
#: Characters with which a text would be more than text in Markdown.
_MARKS: Final = re.compile(r"([\\`*_{}\[\]<>#|~])")


def export_session(
    session: ResearchSession,
    format_: str,
    *,
    exported_at: str,
    principal: str,
    links: Mapping[str, LinkState] | None = None,
) -> dict[str, Any]:
    """Returns the report of a session with its facts.

    Args:
        session: with its steps and sources.
        format_: one of `FORMATS`.
        exported_at: now, in RFC 3339.
        principal: whose session it is.
        links: address → whether it leads to something; None if that was not asked.
    """
    document: str | dict[str, Any]
    if format_ == "json":
        document = _structured(session, links)
    else:
        document = _markdown(session, exported_at, principal, links)
    return {
        "session_id": session.id,
        "format": format_,
        "research_goal": session.goal,
        "step_count": len(session.steps),
        "source_count": len(session.sources),
        "started_at": session.started,
        "exported_at": exported_at,
        "tenant_id": principal,
        "document": document,
        "trust": TRUST,
    }


def _structured(session: ResearchSession, links: Mapping[str, LinkState] | None) -> dict[str, Any]:
    document: dict[str, Any] = {
        "session_id": session.id,
        "research_goal": session.goal,
        "started_at": session.started,
        "summary": summary_of(session),
        "steps": [step_view(session, step) for step in session.steps],
        "gaps": [
            {"description": gap.description, "found_in_step": gap.found_in} for gap in session.gaps
        ],
        "sources": [
            {
                "url": source.url,
                "title": source.title,
                "found_in_step": source.found_in,
                **_link(links, source.url),
            }
            for source in session.sources
        ],
    }
    if session.completed is not None:
        document["completed_at"] = session.completed
    return document


def _link(links: Mapping[str, LinkState] | None, url: str) -> dict[str, Any]:
    state = (links or {}).get(url)
    if state is None:
        return {}
    members: dict[str, Any] = {"link_live": state.live} if state.live is not None else {}
    if state.status is not None:
        members["http_status"] = state.status
    return members or {"link_unverified": printable(state.reason, 200)}


def _markdown(
    session: ResearchSession,
    exported_at: str,
    principal: str,
    links: Mapping[str, LinkState] | None,
) -> str:
    lines = [
        f"# {_plain(session.goal)}",
        "",
        f"- Session: {session.id}",
        f"- Started: {session.started}",
    ]
    if session.completed is not None:
        lines.append(f"- Completed: {session.completed}")
    lines += [f"- Steps: {len(session.steps)}", f"- Sources: {len(session.sources)}", ""]
    if session.summary:
        lines += ["## Summary", "", _quoted(session.summary), ""]
    lines += ["## Steps", ""]
    for step in session.steps:
        lines += _step(session, step)
    if session.gaps:
        lines += ["## Open questions", ""]
        lines += [f"- {_plain(gap.description)} (step {gap.found_in})" for gap in session.gaps]
        lines.append("")
    lines += ["## Sources", ""]
    for number, source in enumerate(session.sources, 1):
        lines.append(f"{number}. {_source(source.title, source.url)}{_state(links, source.url)}")
    if not session.sources:
        lines.append("None.")
    lines += ["", "---", "", f"Exported {exported_at} for {_plain(principal)}. {_NOTE}", ""]
    return "\n".join(lines)


_NOTE: Final = "Titles and addresses of sources are other people's words."


def _step(session: ResearchSession, step: ResearchStep) -> list[str]:
    labels = []
    if step.revises is not None:
        labels.append(f"revises step {step.revises}")
    later = session.superseded_by(step)
    if later is not None:
        labels.append(f"superseded by step {later}")
    if step.branch:
        where = f" from step {step.branched_from}" if step.branched_from is not None else ""
        labels.append(f"branch {_plain(step.branch)}{where}")
    mark = f" ({'; '.join(labels)})" if labels else ""
    lines = [f"### Step {step.number}{mark}", "", _quoted(step.description), ""]
    if step.reasoning:
        lines += [f"Reasoning: {_quoted(step.reasoning)}", ""]
    if step.confidence:
        lines += [f"Confidence: {step.confidence}", ""]
    if step.rejected:
        lines += ["Rejected:", "", *(f"- {_plain(approach)}" for approach in step.rejected), ""]
    return [*lines, f"Recorded: {step.at}", ""]


def _source(title: str, url: str) -> str:
    """Returns a source with the host that its link leads to, for a person to judge."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        return f"{_plain(title or 'untitled')} ({_plain(url)})"
    target = quote(url, safe=":/?#@!$&'*+,;=%~-._")
    return f"[{_plain(title or url)}]({target}) ({_plain(parts.hostname)})"


def _state(links: Mapping[str, LinkState] | None, url: str) -> str:
    if links is None:
        return ""
    state = links.get(url)
    if state is None or state.live is None:
        return " — not verified"
    status = f", status {state.status}" if state.status is not None else ""
    return f" — {'live' if state.live else 'dead'}{status}"


def _plain(text: str) -> str:
    """Returns a text in one line in which nothing is Markdown."""
    return _MARKS.sub(r"\\\1", " ".join(printable(text, 2000).split()))


def _quoted(text: str) -> str:
    """Returns a text of several lines in which no line begins a block."""
    lines = (_MARKS.sub(r"\\\1", line.strip()) for line in printable_lines(text).splitlines())
    return "\n".join(re.sub(r"^([-+=]|[0-9]+[.)])", r"\\\1", line) for line in lines)
