"""Adds what tools find, and where they fail, to the session that a call names."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from carrel.errors import CarrelError
from carrel.papers.errors import PaperError
from carrel.text.printable import printable
from carrel.tools.host_tool import HostAnswer, HostTool
from carrel.web.answers import WebFailure, web_failure

from .sessions import SessionNotFoundError, SessionStore
from .sessions.session import Failed, Source

if TYPE_CHECKING:
    from carrel.exchange import Call
    from carrel.plugins.manifests.tool_spec import ToolSpec

_log = logging.getLogger(__name__)

#: The argument that names a session.
SESSION: Final[dict[str, Any]] = {
    "description": "Of research_step; what is found is added to it.",
    "type": "string",
    "minLength": 1,
    "maxLength": 100,
}


class SessionRecorder:
    """Adds to sessions. A session that is not there never fails a tool.

    Args:
        sessions: where they are kept.
    """

    def __init__(self, sessions: SessionStore) -> None:
        self._sessions = sessions

    def record(
        self,
        session_id: str | None,
        sources: Iterable[Source] = (),
        failures: Iterable[tuple[str, WebFailure]] = (),
        providers: Mapping[str, bool] | None = None,
    ) -> str | None:
        """Adds to a session; returns what went wrong, None if nothing did.

        Args:
            session_id: of the session; None adds nothing.
            sources: that were found; the step is that which was recorded last.
            failures: address → its failure; an empty address for none.
            providers: name → whether it answered.
        """
        if not session_id:
            return None
        found, failed = list(sources), list(failures)
        now = self._sessions.now()

        def change(session: Any) -> None:
            number = session.last_number
            session.add_sources(
                Source(
                    printable(source.url, 2000),
                    printable(source.title, 300),
                    number,
                    source.relevance,
                    source.kind,
                )
                for source in found
                if source.url
            )
            session.add_failures(
                Failed(failure.kind, now, printable(url, 2000)) for url, failure in failed
            )
            for name, success in (providers or {}).items():
                session.count_provider(printable(name, 60), success=success)

        try:
            self._sessions.change(session_id, change)
        except SessionNotFoundError as error:
            return error.message
        except CarrelError as error:
            _log.warning("a session was not changed: %s", error.message)
            return "the session could not be changed; the log of the server has the reason"
        return None


#: The arguments and the result of a tool → the sources that it found.
SourcesOf = Callable[[Mapping[str, Any], Mapping[str, Any]], Iterable[Source]]


class RecordedTool(HostTool):
    """A tool that also takes `session_id`, and adds what it finds to that session.

    Args:
        tool: that does the work; it does not know of sessions.
        recorder: adds to sessions.
        sources_of: returns what a result found.
        provider: the name under which its failures are counted; None counts none.
    """

    def __init__(
        self,
        tool: HostTool,
        recorder: SessionRecorder,
        sources_of: SourcesOf,
        provider: str | None = None,
    ) -> None:
        self._tool = tool
        self._recorder = recorder
        self._sources_of = sources_of
        self._provider = provider
        super().__init__(_with_session(tool.spec), tool._limits)  # noqa: SLF001 - of the same class

    def argument_faults(self, arguments: Mapping[str, Any]) -> list[str]:
        """Returns the faults that the tool finds, and those of `session_id`."""
        session_id = arguments.get("session_id", "-")
        if not isinstance(session_id, str) or not 1 <= len(session_id) <= SESSION["maxLength"]:
            return super().argument_faults(arguments)
        return self._tool.argument_faults(_without_session(arguments))

    def answer(self, arguments: Mapping[str, Any], call: Call) -> dict[str, Any] | HostAnswer:
        """Calls the tool, and records what came of it."""
        session_id = arguments.get("session_id")
        forwarded = _without_session(arguments)
        address = str(forwarded.get("url", ""))
        counted = {} if self._provider is None else {self._provider: False}
        try:
            result = self._tool.answer(forwarded, call)
        except CarrelError as error:
            if not call.cancelled:
                self._recorder.record(session_id, (), [(address, web_failure(error))], counted)
            raise
        data = result.data if isinstance(result, HostAnswer) else result
        if session_id and data.get("ok") is False:
            failed = PaperError(data["error"]["code"], data["error"]["message"])
            self._recorder.record(session_id, (), [(address, web_failure(failed))], counted)
        elif session_id:
            found = self._sources_of(forwarded, data)
            self._recorder.record(session_id, found, (), dict.fromkeys(counted, True))
        return result

    def close(self) -> None:
        """Closes the tool."""
        self._tool.close()


def _without_session(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if name != "session_id"}


def _with_session(spec: ToolSpec) -> ToolSpec:
    from dataclasses import replace

    schema = dict(spec.input_schema)
    schema["properties"] = {**schema.get("properties", {}), "session_id": SESSION}
    return replace(spec, input_schema=schema)
