"""A citation graph of 100 papers from recorded answers of OpenAlex."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs, urlsplit

from bench.measure import Bar, Row, alternate
from bench.prose import FAMILY, GIVEN, abstract, pick, title
from bench.workbench import Workbench
from carrel.config import Config, FetchConfig, builtin
from carrel.features import FEATURES

if TYPE_CHECKING:
    from support.upstream import Reply, Seen

_ROOT: Final = 1
_NODES: Final = 100
_ARGUMENTS: Final = {
    "ref": f"10.5555/desk.{_ROOT}", "depth": 3, "max_nodes": _NODES, "per_paper": 20,
}  # fmt: skip
#: Works that each work cites, and that cite it.
_LINKS: Final = 60


def hundred_nodes(bench: Workbench) -> Sequence[Row]:
    """Builds a graph from a recording, so that no pace and no network is measured."""
    config = Config(
        cache_dir=bench.folder / "cache",
        data_dir=bench.folder / "data",
        plugins=(builtin("openalex"),),
        fetch=FetchConfig(cache_max_bytes=0),
    )
    folder = bench.folder / "graph"
    recorded = _recorded(bench, replace(config, record_dir=folder))
    assert recorded["total_visited"] == _NODES, recorded
    from carrel.tools import Toolbox

    replaying = replace(config, replay_dir=folder, runtime=config.runtime._replace(result_bytes=0))
    toolbox = Toolbox(replaying, features=FEATURES)
    try:

        def ours(kind: str) -> Callable[[], float]:
            return lambda: _time(
                lambda: toolbox.call_sync("paper_citation_graph", {**_ARGUMENTS, "format": kind})
            )

        drawn, built, plain = alternate(
            ours("html"), ours("json"), lambda: _time(lambda: _plain(folder)),
            rounds=bench.rounds(9, 2),
        )  # fmt: skip
    finally:
        toolbox.close()
    what = "paper_citation_graph of 100 papers from a recording"
    plainly = "json.loads of the same answers, links followed in a dict"
    return [
        Row("papers-graph", f"{what} : {plainly}", built, plain, Bar(8)),
        Row("papers-graph-page", f"{what}, as a page : {plainly}", drawn, plain, Bar(10)),
    ]


def _recorded(bench: Workbench, config: Config) -> dict[str, Any]:
    """Records the exchanges of a graph with an upstream on loopback, and returns the graph."""
    from carrel.fetch.client import FetchClient
    from carrel.fetch.settings import FetchSettings
    from carrel.plugins.plugin_set import PluginSet
    from carrel.tools import Toolbox
    from support.upstream import Upstream

    with Upstream("api.openalex.org") as upstream:
        upstream.on("*", _answer)
        client = FetchClient(
            FetchSettings(ca_bundle=upstream.write_authority(bench.folder)),
            resolver=upstream.names,
            dialer=upstream.dial,
        )
        toolbox = Toolbox(
            config, plugin_set=PluginSet(config, fetch_client=client), features=FEATURES
        )
        try:
            graph: dict[str, Any] = toolbox.call_sync("paper_citation_graph", _ARGUMENTS).data
            return graph
        finally:
            toolbox.close()


def _plain(folder: Path) -> dict[str, set[str]]:
    """Returns the links of a recording, read without a sandbox, a schema, and merging."""
    found: dict[str, set[str]] = {}
    for path in sorted(folder.rglob("*.body.json")):
        data = json.loads(path.read_bytes())
        for work in data.get("results", []):
            found.setdefault(work["id"], set()).add(work["doi"].lower())
    assert len(found) >= _NODES
    return found


def _answer(seen: Seen) -> Reply:
    """Answers as OpenAlex: one work, or the works that one cites or is cited by."""
    from support.upstream import Reply

    url = urlsplit(seen.path)
    query = parse_qs(url.query)
    filters = query.get("filter", [""])[0]
    name, _, value = filters.partition(":")
    if name in {"cites", "cited_by"}:
        number = int(value.removeprefix("W"))
        first = number * 100 + (0 if name == "cited_by" else 50_000_000)
        limit = int(query["per-page" if "per-page" in query else "per_page"][0])
        works = [_work(first + at) for at in range(min(limit, _LINKS))]
        body: Any = {"meta": {"count": _LINKS, "next_cursor": None}, "results": works}
    elif name:
        body = {"meta": {"count": 1, "next_cursor": None}, "results": [_work(_ROOT)]}
    else:
        body = _work(_ROOT)
    headers = (("content-type", "application/json"),)
    return Reply(headers=headers, body=json.dumps(body).encode())


def _work(number: int) -> dict[str, Any]:
    """Returns a work, the same one for a number everywhere."""
    chance = random.Random(number)
    words = abstract(chance).split()
    index: dict[str, list[int]] = {}
    for at, word in enumerate(words):
        index.setdefault(word, []).append(at)
    year = 1980 + int(chance.random() * 45)
    people = [f"{pick(chance, GIVEN)} {pick(chance, FAMILY)}" for _ in range(4)]
    return {
        "id": f"https://openalex.org/W{number}",
        "doi": f"https://doi.org/10.5555/desk.{number}",
        "title": title(chance),
        "publication_year": year,
        "publication_date": f"{year}-03-05",
        "ids": {"openalex": f"https://openalex.org/W{number}"},
        "type": "article",
        "language": "en",
        "authorships": [{"author": {"display_name": name}} for name in people],
        "abstract_inverted_index": index,
        "cited_by_count": int(chance.random() ** 4 * 5_000),
        "referenced_works_count": _LINKS,
    }


def _time(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start
