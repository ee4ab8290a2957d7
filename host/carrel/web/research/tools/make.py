"""Makes the tools of research for a configuration."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from carrel.citations import CitationEngine
from carrel.papers.opening import open_store
from carrel.papers.reading import PaperReader
from carrel.web.research.academic import AcademicSearch
from carrel.web.research.citing.verifying import CitationVerifier
from carrel.web.research.recording import SessionRecorder
from carrel.web.research.sessions import SessionStore

from .citing import audit_tool, format_tool, verify_tool
from .searching import academic_tool, together_tool
from .stepping import export_tool, session_tool, step_tool

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.plugins.plugin_set import PluginSet
    from carrel.tools.host_tool import HostTool
    from carrel.web.research.pages import Pages
    from carrel.web.research.searching import WebSearch


def make_research_tools(
    plugins: PluginSet,
    config: Config,
    sessions: SessionStore,
    *,
    search: WebSearch | None,
    pages: Pages | None,
) -> list[HostTool]:
    """Returns the tools; `web_search_and_read` only where both search and pages are granted.

    Args:
        plugins: of the configuration.
        config: the operator's.
        sessions: where sessions are kept; the tools close it.
        search: searches the web; None without providers.
        pages: reads pages; None where no page may be read.
    """
    reader = ReaderOnce(plugins, config)
    recorder = SessionRecorder(sessions)
    academic = AcademicSearch(plugins, config, search, reader)
    verifier = CitationVerifier(plugins, config, pages, reader)
    tools: list[HostTool] = []
    if search is not None and pages is not None:
        tools.append(together_tool(search, pages, recorder, config))
    return [
        *tools,
        academic_tool(academic, recorder, config),
        step_tool(sessions, recorder, search, config),
        session_tool(sessions, config),
        export_tool(sessions, pages, config),
        verify_tool(verifier, config),
        audit_tool(verifier, sessions, config),
        format_tool(CitationEngine(plugins), sessions, config),
    ]


class ReaderOnce:
    """Makes the reader of papers when it is first needed. Thread-safe."""

    def __init__(self, plugins: PluginSet, config: Config) -> None:
        self._plugins = plugins
        self._config = config
        self._lock = threading.Lock()
        self._reader: PaperReader | None = None

    def __call__(self) -> PaperReader:
        """Returns the reader."""
        with self._lock:
            if self._reader is None:
                self._reader = PaperReader(
                    self._plugins, self._config, lambda: open_store(self._config)
                )
            return self._reader
