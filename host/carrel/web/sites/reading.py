"""Reads an address through the plugin for its site: a discussion, a video, a work."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from carrel.errors import CarrelError, SourceError
from carrel.lookup import Lookup
from carrel.papers.errors import PaperError
from carrel.papers.reading import PaperReader
from carrel.plugins.concurrent_calls import Question, ask_all
from carrel.text.json_text import decode_object

from .works import record_document

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.documents import DocumentReader, ReadDocument
    from carrel.exchange import Call
    from carrel.papers.store import PaperStore
    from carrel.plugins.plugin_set import PluginSet

    from .routes import Route

#: What errors name as the tool.
NAME: Final = "web_read"
#: The share of the time left that the text of a paper may take, before its record is read.
_TEXT_SHARE: Final = 0.7


class SitePage(NamedTuple):
    """A page that a site's plugin read.

    Attributes:
        document: rendered.
        forum: how a post was received, as the plugin says; None for others.
        is_scholarly: whether it is a published work or its record.
    """

    document: ReadDocument
    forum: Mapping[str, Any] | None = None
    is_scholarly: bool = False


class SiteReader:
    """Reads addresses that have a route. Thread-safe.

    Args:
        plugins: of the configuration.
        config: the operator's.
        documents: renders what was read.
    """

    def __init__(self, plugins: PluginSet, config: Config, documents: DocumentReader) -> None:
        self._plugins = plugins
        self._config = config
        self._documents = documents
        self._lookup = Lookup(plugins, config)
        self._papers = PaperReader(plugins, config, self._opened_store)

    def can_read(self, route: Route) -> bool:
        """Whether the plugin of a route is on; if not, the page itself is read."""
        entry = self._config.plugin(route.plugin)
        return entry is not None and entry.enabled

    def read(self, route: Route, call: Call, *, plain: bool) -> SitePage | None:
        """Reads an address; returns None if no source knows the work and its page is to be read.

        Args:
            route: of the address.
            call: of the reading.
            plain: plain text in place of Markdown.

        Raises:
            CarrelError: the plugin reported a failure, or could not be called.
        """
        readers: dict[str, Callable[[Route, Call, bool], SitePage | None]] = {
            "plugin": self._discussion,
            "paper": self._paper,
            "record": self._record,
        }
        return readers[route.reader](route, call, plain)

    def _discussion(self, route: Route, call: Call, plain: bool) -> SitePage:
        """Reads the document that a plugin's tool returns."""
        question = Question(route.plugin, route.tool, dict(route.arguments))
        [answer] = ask_all(self._plugins, [question], call)
        if isinstance(answer, CarrelError):
            raise answer
        result = decode_object(answer, plugin=route.plugin, tool=route.tool)
        document = self._documents.render(
            result.get("document"), call, name=route.name, plugin=route.plugin, plain=plain
        )
        forum = result.get("forum")
        return SitePage(document, forum if isinstance(forum, dict) else None)

    def _paper(self, route: Route, call: Call, plain: bool) -> SitePage | None:
        """Reads the text of a paper, else its record."""
        try:
            with call.part(call.remaining * _TEXT_SHARE) as part:
                read = self._papers.read(route.reference, part, plain=plain)
        except PaperError:
            call.check()
            return self._record(route, call, plain)
        return SitePage(read.document, is_scholarly=True)

    def _record(self, route: Route, call: Call, plain: bool) -> SitePage | None:
        """Reads the record of a work; of a DOI that Crossref does not have, of any source."""
        for sources in ([route.plugin], None):
            if sources is None and route.plugin != "crossref":
                break
            result = self._lookup.run([route.reference], call, sources=sources)
            [item] = result.items
            if item.work is not None:
                merged = result.works[item.work]
                document = self._documents.render(
                    record_document(merged.work, route.name),
                    call,
                    name="record",
                    plugin=route.plugin,
                    plain=plain,
                )
                return SitePage(document, is_scholarly=route.name != "arxiv")
            problem = next((step.problem for step in item.steps if step.problem is not None), None)
            if sources is not None and problem is not None and problem.code != "not_found":
                raise SourceError(
                    problem.code,
                    problem.message,
                    plugin=route.plugin,
                    tool=NAME,
                    extra=(
                        {"retry_after_seconds": problem.retry_after_seconds}
                        if problem.retry_after_seconds is not None
                        else None
                    ),
                )
        if route.plugin == "crossref":
            return None
        raise SourceError(
            "not_found",
            f"{route.plugin} has no work {route.reference}",
            plugin=route.plugin,
            tool=NAME,
        )

    def _opened_store(self) -> PaperStore:
        from carrel.papers.opening import open_store

        return open_store(self._config)
