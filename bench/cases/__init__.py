"""The cases, in the order of the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from bench.measure import Row
from bench.workbench import Workbench

from . import (
    batches,
    calls,
    citations,
    graphs,
    http,
    libraries,
    memory,
    offices,
    pages,
    papers,
    parsing,
    pdfs,
    processes,
    readers,
    scaling,
    sources,
    startup,
    strangers,
    webpages,
)

#: A case measures one row, or several related ones.
Case = Callable[[Workbench], Sequence[Row]]

CASES: Mapping[str, Case] = {
    "parse": parsing.against_python,
    "native": parsing.against_native,
    "sources": sources.against_python,
    "sources-native": sources.against_native,
    "call": calls.one_at_a_time,
    "in-flight": calls.all_at_once,
    "http-call": http.no_op_calls,
    "start": startup.to_first_answers,
    "process": processes.against_importing_wasmtime,
    "threads": parsing.at_once,
    "memory": memory.growth,
    "scaling": scaling.against_size,
    "sources-scaling": sources.against_size,
    "pages": pages.extraction,
    "web-kept": webpages.kept,
    "web-ten": webpages.ten,
    "web-large": webpages.large,
    "web-memory": webpages.memory,
    "pdfs": pdfs.texts,
    "papers": papers.local_search,
    "papers-graph": graphs.hundred_nodes,
    "papers-batch": batches.hundred_papers,
    "library": libraries.reference_library,
    "cite": citations.in_apa,
    "offices": offices.pieces,
    "readers": readers.first_use,
    "bytes": readers.crossing,
    "modules": strangers.modules,
    "registry": strangers.from_a_registry,
}
