"""Downloads one copy of a paper, under the policy of its kind."""

from __future__ import annotations

import threading
from functools import lru_cache
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from carrel.errors import CarrelError
from carrel.exchange import FILE_STATUSES, Call, Failure, Outcome
from carrel.papers.envelope import as_paper_error
from carrel.papers.store.incoming import wrong_magic

from .denial import failed_download, refused_status
from .host_lists import KEYS, ListKey, hosts_of, rule_of
from .pdf_sink import PdfSink
from .wrong_page import describe_page

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.exchange import FileFetcher, ProgressHandler
    from carrel.papers.store.incoming import IncomingFile
    from carrel.plugins.plugin_set import PluginSet

    from .candidates import Candidate
    from .mining import MiningAccess

_ACCEPT: Final = "application/pdf, */*;q=0.1"


class CopyDownloader:
    """Downloads copies over a configuration's fetch layer. Thread-safe.

    Copies that a plugin names as full text are downloaded with that plugin's grants, others under
    the list of hosts of their kind, those of a publisher's interface for mining with its key.
    """

    def __init__(self, plugins: PluginSet, config: Config) -> None:
        self._plugins = plugins
        self._config = config
        self._lock = threading.Lock()
        self._downloader = lru_cache(maxsize=8)(self._new_downloader)

    def receive(self, candidate: Candidate, file: IncomingFile, call: Call) -> None:
        """Downloads a copy into a file.

        Args:
            candidate: the copy.
            file: of the store; what it holds of the same address is resumed.
            call: its deadline, its cancellation and its progress.

        Raises:
            PaperError: there is no PDF at the address, or policy refuses it.
            Cancelled: the call was cancelled.
        """
        for _ in range(2):  # once more where the rest that was requested is not there
            with call.part(call.remaining, _progress_of(candidate, call)) as own:
                sink = PdfSink(file, candidate.url, own)
                try:
                    outcome = self._download(candidate, sink, own)
                except CarrelError as error:
                    raise as_paper_error(error) from error
                finally:
                    sink.close()
            call.check()
            if isinstance(outcome, Failure) or outcome.status != 416 or not file.size:
                break
            file.begin()  # the server has another file now, or never had more
        self._require_pdf(candidate, sink, outcome, own)

    def _require_pdf(
        self, candidate: Candidate, sink: PdfSink, outcome: Outcome, call: Call
    ) -> None:
        if call.fatal is not None:
            raise as_paper_error(call.fatal)
        if sink.error is not None:
            raise sink.error
        if sink.refused_page or (sink.page and not isinstance(outcome, Failure)):
            data, kind = bytes(sink.page), sink.content_type
            raise wrong_magic(data[:16], describe_page(self._plugins, data, kind, call))
        if isinstance(outcome, Failure):
            hosts, kind = self._hosts(candidate), _shown_kind(candidate)
            raise failed_download(outcome, kind=kind, hosts=hosts, call=call)
        if outcome.status not in FILE_STATUSES:
            raise refused_status(outcome)

    def _hosts(self, candidate: Candidate) -> tuple[str, ...]:
        if candidate.mining is not None:
            return candidate.mining.interface.hosts
        return hosts_of(_list_key(candidate), self._config)

    def _download(self, candidate: Candidate, sink: PdfSink, call: Call) -> Outcome:
        if candidate.plugin is not None:
            plugin = self._plugins.plugin(candidate.plugin)
            return plugin.download(candidate.url, sink, call, accept=_ACCEPT)
        with self._lock:
            downloader = self._downloader(candidate.mining, _list_key(candidate))
        return downloader.download(candidate.url, sink, call, accept=_ACCEPT)

    def _new_downloader(self, mining: MiningAccess | None, key: ListKey) -> FileFetcher:
        if mining is not None:
            interface = mining.interface
            return self._plugins.downloader(rule_of(interface.key, interface.hosts, mining.key))
        return self._plugins.downloader(rule_of(key, hosts_of(key, self._config)))


def _progress_of(candidate: Candidate, call: Call) -> ProgressHandler:
    """Returns a handler that names the host of a copy in front of its progress."""
    host = urlsplit(candidate.url).hostname or "the copy's host"

    def report_progress(done: float, total: float | None, words: str) -> None:
        if call.on_progress is not None:
            call.on_progress(done, total, f"{host}: {words}")

    return report_progress


def _list_key(candidate: Candidate) -> ListKey:
    if candidate.kind in KEYS:
        return candidate.kind
    return "oa-repository" if candidate.stated == "repository" else "oa-publisher"


def _shown_kind(candidate: Candidate) -> str:
    return candidate.mining.interface.key if candidate.mining else _list_key(candidate)
