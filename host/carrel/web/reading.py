"""Reads a page of the public web: downloads it, reads it in the sandbox, caches it for an hour."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from carrel.documents import DocumentReader
from carrel.documents.recent import RecentDocuments
from carrel.errors import CarrelError, SourceError
from carrel.exchange import Call, Limits
from carrel.plugins.grants.public_web import PageRule, page_url
from carrel.tools.host_tool import host_limits

from .download import NAME, DownloadedPage, as_error, download_page, refused_status
from .retraction import RetractionNotices, RetractionStatus
from .sites.classify import PageClass, classify
from .sites.reading import SiteReader
from .sites.routes import find_route
from .walls import needs_browser, require_page

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.documents import ReadDocument
    from carrel.exchange import FileFetcher
    from carrel.plugins.plugin_set import PluginSet

#: Seconds for one page, unless the operator's `limits.wall_seconds` says otherwise: the pace of the
#: host, its `robots.txt`, and compiling the readers.
WALL_SECONDS: Final = 120.0
#: Seconds that a page which was read is returned again.
FRESH_SECONDS: Final = 3600.0
#: Changes when pages of an earlier version would have other members.
_VERSION: Final = 3

_CHARSET: Final = re.compile(r"charset\s*=\s*[\"']?([A-Za-z0-9._:-]{1,40})", re.IGNORECASE)
#: Charsets of a source's text; of others the bytes that are not UTF-8 are replaced.
_CHARSETS: Final = frozenset(
    str.split("""
    utf-8 utf-16 utf-16le utf-16be us-ascii iso-8859-1 iso-8859-2 iso-8859-5 iso-8859-7
    iso-8859-9 iso-8859-15 windows-1250 windows-1251 windows-1252 windows-1253 windows-1254
    windows-1256 koi8-r koi8-u shift_jis euc-jp iso-2022-jp gb2312 gbk gb18030 big5 euc-kr
""")
)


class PageKey(NamedTuple):
    """The cache key of a page: everything that changes what is kept of it."""

    version: int
    url: str
    raw: bool
    plain: bool


@dataclass(frozen=True, slots=True)
class ReadPage:
    """A page that was read.

    Attributes:
        url: the address after redirects.
        media_type: the header `Content-Type`.
        text: the whole text: rendered, or the page's source if `document` is None.
        document: what the reader returned; None for the source.
        day: on which it was downloaded.
        source: what kind of source it is.
        forum: how a post was received, as the plugin for its site says.
        retraction: what became of the work whose DOI it declares.
        in_browser: whether it is what its scripts wrote in the operator's browser.
        read_at: when, on the monotonic clock.
    """

    url: str
    media_type: str
    text: str
    document: ReadDocument | None
    day: date
    source: PageClass
    forum: Mapping[str, Any] | None = None
    retraction: RetractionStatus = field(default_factory=RetractionStatus)
    in_browser: bool = False
    read_at: float = field(default_factory=time.monotonic)

    @property
    def doi(self) -> str | None:
        """The DOI that a page of a journal declares; that of another page may be of any work."""
        if self.document is None or self.source.type != "peer_reviewed":
            return None
        return self.document.identifiers.get("doi")

    @property
    def age(self) -> float:
        """Seconds since it was downloaded."""
        return time.monotonic() - self.read_at


class WebReader:
    """Reads pages under the operator's grant `web.hosts`. Thread-safe.

    The pages that were read last are kept in memory for an hour; one that could not be read is not
    kept. Calls for the same page at the same time download it once.

    Args:
        plugins: of the configuration, with the readers.
        config: the operator's.
    """

    def __init__(self, plugins: PluginSet, config: Config) -> None:
        self._plugins = plugins
        self._config = config
        self._documents = DocumentReader(plugins, config)
        self._sites = SiteReader(plugins, config, self._documents)
        self._notices = RetractionNotices(plugins, config)
        self._recent: RecentDocuments[PageKey, ReadPage] = RecentDocuments()
        self._lock = threading.Lock()
        self._fetcher: FileFetcher | None = None
        self._reading: dict[PageKey, tuple[threading.Lock, int]] = {}

    @property
    def limits(self) -> Limits:
        """The limits of one reading."""
        return host_limits(self._config, WALL_SECONDS)

    def read(
        self, url: str, call: Call, *, raw: bool = False, plain: bool = False
    ) -> tuple[ReadPage, bool]:
        """Reads a page; returns it, and whether it was cached.

        Args:
            url: http or https; http is requested over https.
            call: of the reading.
            raw: the page's source as it came, in place of its text.
            plain: plain text in place of Markdown.

        Raises:
            SourceError: the page cannot be had, or is not a page's content; see `walls`.
            CarrelError: a reader failed or exceeded a limit.
        """
        checked = page_url(url)
        if not isinstance(checked, str):
            raise as_error(checked)
        key = PageKey(_VERSION, checked, raw, plain and not raw)
        with self._locked(key, call):
            recent = None if call.refresh else self._recent.get(key)
            if recent is not None and recent.age < FRESH_SECONDS:
                return recent, True
            page = self._read(key, call)
            self._recent.put(key, page)
            return page, False

    def _read(self, key: PageKey, call: Call) -> ReadPage:
        fetcher = self._get_fetcher()
        site = None if key.raw else self._site_page(key, call)
        if site is not None:
            return site
        page = download_page(fetcher, key.url, self._documents.max_bytes, call)
        today = datetime.now(tz=UTC).date()
        if key.raw:
            if page.status >= 400:
                raise refused_status(page.url, page.status)
            source = classify(page.url, {})
            return ReadPage(page.url, page.media_type, _source_text(page), None, today, source)
        call.explain("reading")
        try:
            read = self._documents.read(
                page.data, call, plain=key.plain, media_type=page.media_type, visible_only=True
            )
        except CarrelError:
            if page.status >= 400:
                raise refused_status(page.url, page.status) from None
            raise
        in_browser = self._config.web.browser and needs_browser(read)
        if in_browser:
            from .browser.reading import read_in_browser

            page = read_in_browser(fetcher, page, call)
            read = self._documents.read(
                page.data, call, plain=key.plain, media_type=page.media_type, visible_only=True
            )
        require_page(read, page)
        source = classify(page.url, read.document)
        found = ReadPage(
            page.url, page.media_type, read.text, read, today, source, in_browser=in_browser
        )
        return self._with_notices(found, call)

    def _site_page(self, key: PageKey, call: Call) -> ReadPage | None:
        """Reads a page through the plugin for its site; returns None if the page itself is read."""
        route = find_route(key.url)
        if route is None or not self._sites.can_read(route):
            return None
        refusal = self._rule().refusal(key.url)
        if refusal is not None:
            raise as_error(refusal)
        read = self._sites.read(route, call, plain=key.plain)
        if read is None:
            return None
        document = read.document
        if document.quality == "none":
            raise SourceError(
                "invalid_document", f"{key.url}: nothing to read", plugin="", tool=NAME
            )
        source = classify(key.url, document.document, is_scholarly=read.is_scholarly)
        today = datetime.now(tz=UTC).date()
        page = ReadPage(key.url, "", document.text, document, today, source, read.forum)
        return self._with_notices(page, call)

    def _with_notices(self, page: ReadPage, call: Call) -> ReadPage:
        """Adds what became of the work whose DOI a page of a journal declares."""
        if page.doi is None:
            return page
        call.explain("asking Crossref for retractions")
        return replace(page, retraction=self._notices.find(page.doi, call))

    def _get_fetcher(self) -> FileFetcher:
        if self._config.web.hosts is None:
            raise SourceError(
                "denied",
                'refused: no page may be read; to allow it: web.hosts = "public-web"',
                plugin="",
                tool=NAME,
                extra={
                    "denial_context": {
                        "reason": "host_not_granted",
                        "grant": 'web.hosts = "public-web"',
                    }
                },
            )
        with self._lock:
            if self._fetcher is None:
                self._fetcher = self._plugins.downloader(self._rule())
            return self._fetcher

    def _rule(self) -> PageRule:
        return PageRule(self._config, by_person=self._config.by_person)

    @contextmanager
    def _locked(self, key: PageKey, call: Call) -> Iterator[None]:
        """Lets one call at a time read a page; the others then find it in the cache."""
        with self._lock:
            lock, users = self._reading.get(key, (threading.Lock(), 0))
            self._reading[key] = lock, users + 1
        try:
            while not lock.acquire(timeout=0.1):
                call.check()
            try:
                yield
            finally:
                lock.release()
        finally:
            with self._lock:
                lock, users = self._reading[key]
                self._reading[key] = lock, users - 1
                if users == 1:
                    del self._reading[key]


def _source_text(page: DownloadedPage) -> str:
    """Returns a page's source as text, by the charset of the header, else as UTF-8."""
    stated = _CHARSET.search(page.media_type)
    charset = stated[1].lower() if stated is not None else "utf-8"
    return page.data.decode(charset if charset in _CHARSETS else "utf-8", "replace")
