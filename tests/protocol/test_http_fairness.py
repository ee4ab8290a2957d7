"""Tests what the calls of others are delayed by while one principal floods a server.

A real server with identity, plugins and an upstream over TLS. Three principals call a tool at fixed
times, first alone and then beside the flood; the ratio of both 99th percentiles is bounded.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.guests import guest
from support.http_load import SECRET, running, token
from support.manifests import manifest, manifest_text
from support.operated_server import HOST, OperatedServer, an_upstream
from support.upstream import Reply

pytestmark = [pytest.mark.alone, pytest.mark.long("flood")]

#: The aim: the ratio of the others' p99 with a flood to that without.
AIM = 2.0
#: A p99 in seconds that no user notices, whatever it was without the flood.
UNNOTICED = 0.1
#: The load of other processes does not show in each of several measurements; a fault does.
ATTEMPTS = 3
SECONDS = 7.0
WARMING = 2.5

#: The tool `spin` computes; `tick` does nothing; `open` fetches the URL and returns the response;
#: `late` fetches it, then computes.
_BODY = """
  (local $n i32)
  (if (i32.eq (i32.load8_u (local.get $tool)) (i32.const 116)) (then (return (call $ok))))
  (if (i32.eq (i32.load8_u (local.get $tool)) (i32.const 115)) (then
    (loop $more
      (local.set $n (i32.add (local.get $n) (i32.const 1)))
      (br_if $more (i32.lt_u (local.get $n) (i32.const 150000000))))
    (return (call $ok))))
  (drop (call $get (i32.add (local.get $text) (i32.const 8))
    (i32.sub (local.get $text_length) (i32.const 10))))
  (if (i32.eq (i32.load8_u (local.get $tool)) (i32.const 108)) (then
    (loop $more
      (local.set $n (i32.add (local.get $n) (i32.const 1)))
      (br_if $more (i32.lt_u (local.get $n) (i32.const 150000000))))
    (return (call $ok))))
  (if (i32.load8_u (i32.const 64)) (then unreachable))
  (i32.store8 (i32.const 0) (i32.const 0))
  (i32.store (i32.const 4) (i32.load (i32.const 92)))
  (i32.store (i32.const 8) (i32.load (i32.const 96)))
  (return (i32.const 0))
"""


def load_plugin(folder: Path, plugin: str = "load") -> str:
    """Writes a plugin with the tools above; returns the address of its file."""
    schema = {"type": "object", "properties": {"url": {"type": "string"}}, "required": ["url"]}
    tools = [
        manifest()["tools"][0]
        | {
            "name": name,
            "title": name,
            "input_schema": schema,
            "output_schema": {"type": "object"},
        }
        for name in ("open", "spin", "tick", "late")
    ]
    hosts = [{"host": HOST, "methods": ["GET"], "concurrency": 16}]
    text = manifest_text(name=plugin, tools=tools, hosts=hosts)
    path = folder / f"{plugin}.wasm"
    path.write_bytes(guest(_BODY, manifest=text, result='{"n":1}', fetching=True).wasm)
    return path.as_uri()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, code_folder: Path) -> Iterator[OperatedServer]:
    folder = tmp_path_factory.mktemp("flood")
    plugins = {
        name: {"url": load_plugin(folder, name), "runtime_config": {"allowed_hosts": [HOST]}}
        for name in ("load", "another")
    }
    with an_upstream() as upstream:
        upstream.on("/quick", Reply(body=b'{"n":1}'))
        upstream.on("/slow", Reply(body=b'{"n":1} ', drip=0.25))
        upstream.on("/big", Reply(body=b'{"n":1,"x":"%b"}' % (b"x" * 2_000_000)))
        with OperatedServer(
            folder,
            upstream,
            code_folder,
            plugins=plugins,
            env={"MCP_AUTH_SECRET_KEY": SECRET},
            server={"log_level": "warning"},
        ) as server:
            yield server.ready()


def p99(seen: list[Any], start: float, end: float) -> float:
    """Returns the 99th percentile of the calls that were due in a time."""
    found = sorted(took for due, took, _ in seen if start <= due < end)
    assert len(found) > 100, len(found)
    return float(found[int(0.99 * len(found))])


class Figures:
    """p99 without and with the flood, and the outcomes of both."""

    def __init__(self, server: OperatedServer, kind: str) -> None:
        others = [token(name, server.url) for name in ("bob", "carol", "dave")]
        url = f"https://{HOST}"
        tool = "load_open" if kind in FETCHING else "load_tick"
        wanted: dict[str, Any] = {"port": server.port, "tokens": others, "tool": tool}
        span: dict[str, Any] = {
            "seconds": WARMING + 2 * SECONDS + 0.5,
            "every": 0.08,
            "url": f"{url}/quick",
        }
        quiet = running("stalls", seconds=span["seconds"])
        with running("watch", **wanted, **span) as watched, quiet as stalled:
            time.sleep(WARMING)  # the first calls make connections, threads and instances
            start = time.monotonic()
            time.sleep(SECONDS)
            begun = time.monotonic()
            alice = token("alice", server.url)
            flood: dict[str, Any] = {"kind": kind, "port": server.port, "token": alice, "url": url}
            with running("flood", nice=10, seconds=SECONDS + 1, **flood) as flooded:
                seen, late = watched(), stalled()
                self.outcomes = flooded()
        self.alone = p99(seen, start, begun)
        self.beside = p99(seen, begun + 0.5, begun + SECONDS)
        #: What a process that has nothing to do with the server loses during the flood.
        self.machine = p99(late, begun + 0.5, begun + SECONDS)
        self.failed = sum(not good for _, _, good in seen)
        self.calls = len(seen)

    @property
    def held(self) -> bool:
        """Whether no user notices the flood, or the aim is met beyond the machine's own delays."""
        return self.beside <= max(UNNOTICED, AIM * max(self.alone, self.machine))

    def __str__(self) -> str:
        return (
            f"p99 {self.alone * 1000:.1f} ms alone, {self.beside * 1000:.1f} ms beside, "
            f"{self.beside / self.alone:.2f} times; the machine's own delays "
            f"{self.machine * 1000:.1f} ms; {self.failed} of {self.calls} failed; "
            f"the flood got {self.outcomes}"
        )


#: What is measured by default: a kind takes up to a minute. CARREL_FLOODS=all is all.
SAMPLE = ("cheap", "parses")
KINDS = [
    kind
    for kind in (
        "cheap",
        "refused",
        "parses",
        "plugins",
        "late",
        "slow",
        "bodies",
        "results",
        "sessions",
    )
    if kind in SAMPLE or os.environ.get("CARREL_FLOODS") == "all"
]
#: Kinds beside which the others call a tool that fetches.
FETCHING = {"slow", "results"}


@pytest.mark.parametrize("kind", KINDS)
def test_a_flood_of_one_principal_is_not_noticed_by_others(
    server: OperatedServer, kind: str
) -> None:
    tried = []
    for _ in range(ATTEMPTS):
        figures = Figures(server, kind)
        print(f"{kind}: {figures}")  # noqa: T201 - the figures of the report
        tried.append(str(figures))
        assert figures.failed == 0, tried
        if figures.held:
            return
        time.sleep(5)
    raise AssertionError(f"{kind}: {tried}")
