"""A batch of 100 papers from recorded answers of Crossref, Unpaywall and a publisher."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from bench.measure import Bar, Row, alternate
from bench.workbench import Workbench
from carrel.config import Config, FetchConfig, PapersConfig, builtin
from carrel.features import FEATURES

_PAPERS: Final = 100
_BYTES: Final = 1_000_000


def hundred_papers(bench: Workbench) -> Sequence[Row]:
    """Fetches 100 papers of 1 MB each into an empty store, without a network and its pace."""
    from carrel.tools import Toolbox

    config = Config(
        cache_dir=bench.folder / "cache",
        data_dir=bench.folder / "batch-data",
        plugins=(builtin("crossref"), builtin("unpaywall")),
        fetch=FetchConfig(cache_max_bytes=0, contact="reader@example.org"),
    )
    folder = bench.folder / "batch"
    refs = _recorded(bench, replace(config, record_dir=folder))
    numbers = itertools.count()

    def ours() -> float:
        papers = PapersConfig(folder=bench.folder / f"batch-store-{next(numbers)}")
        replaying = replace(config, replay_dir=folder, papers=papers)
        toolbox = Toolbox(replaying, features=FEATURES)
        try:
            return _time(lambda: _fetch(toolbox, refs))
        finally:
            toolbox.close()

    def plain() -> float:
        target = bench.folder / f"batch-plain-{next(numbers)}"
        target.mkdir()
        return _time(lambda: _plain(folder, target))

    measured, counterpart = alternate(ours, plain, rounds=bench.rounds(5, 1))
    what = "paper_batch_fetch of 100 papers of 1 MB from a recording"
    plainly = "the same files read, hashed, written and flushed, and json.loads of the answers"
    return [Row("papers-batch", f"{what} : {plainly}", measured, counterpart, Bar(8))]


def _fetch(toolbox: Any, refs: Sequence[str]) -> None:
    result = toolbox.call_sync("paper_batch_fetch", {"refs": list(refs)}).data
    assert result["summary"]["ok"] == _PAPERS, result["summary"]


def _plain(folder: Path, target: Path) -> None:
    """Copies the recorded files as any program must that hashes and keeps them."""
    for path in folder.iterdir():
        if path.suffix == ".pdf":
            data = path.read_bytes()
            hashlib.sha256(data).hexdigest()
            with (target / path.name).open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        elif path.suffix == ".json":
            json.loads(path.read_bytes())


def _recorded(bench: Workbench, config: Config) -> list[str]:
    """Records a batch with upstreams on loopback, and returns its references."""
    from carrel.fetch.client import FetchClient
    from carrel.fetch.settings import FetchSettings
    from carrel.plugins.plugin_set import PluginSet
    from carrel.tools import Toolbox
    from support.paper_world import HOSTS, PDF, PaperWorld, pdf_reply
    from support.upstream import SkippingClock, Upstream

    world = PaperWorld()
    body = PDF + b"x" * (_BYTES - len(PDF))
    refs = [
        world.add(f"10.5555/p{n}", (f"https://journals.plos.org/{n}.pdf", pdf_reply(body)))
        for n in range(_PAPERS)
    ]
    store = PapersConfig(folder=bench.folder / "batch-first")
    with Upstream(*HOSTS) as upstream:
        upstream.on("*", world)
        client = FetchClient(
            FetchSettings(ca_bundle=upstream.write_authority(bench.folder)),
            resolver=upstream.names,
            dialer=upstream.dial,
            clock=SkippingClock(),
        )
        config = replace(config, papers=store)
        toolbox = Toolbox(
            config, plugin_set=PluginSet(config, fetch_client=client), features=FEATURES
        )
        try:
            _fetch(toolbox, refs)
        finally:
            toolbox.close()
    return refs


def _time(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start
