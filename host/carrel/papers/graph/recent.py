"""Keeps the graphs that were built last, because who cites whom changes slowly."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from .citation_graph import CitationGraph
    from .request import GraphRequest

#: Seconds that a graph is returned again, and graphs that are kept.
FRESH_SECONDS: Final = 24 * 3600.0
_MAX_GRAPHS: Final = 32
#: Reasons after which another call may find more.
_PASSING: Final = frozenset({"deadline", "source_failed"})


class RecentGraphs:
    """Graphs by their requests. Thread-safe.

    Args:
        clock: returns seconds that only grow.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._graphs: OrderedDict[GraphRequest, tuple[float, CitationGraph]] = OrderedDict()

    def get(self, request: GraphRequest) -> CitationGraph | None:
        """Returns the graph of a request, if it was built in the last day."""
        with self._lock:
            entry = self._graphs.get(request)
            if entry is None:
                return None
            built, graph = entry
            if self._clock() - built >= FRESH_SECONDS:
                del self._graphs[request]
                return None
            self._graphs.move_to_end(request)
            return graph

    def put(self, request: GraphRequest, graph: CitationGraph) -> None:
        """Adds a graph, unless the time was up or a source failed while it was built."""
        if _PASSING & set(graph.reasons):
            return
        with self._lock:
            self._graphs[request] = self._clock(), graph
            self._graphs.move_to_end(request)
            while len(self._graphs) > _MAX_GRAPHS:
                self._graphs.popitem(last=False)
