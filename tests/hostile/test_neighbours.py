"""Tests that thirteen hostile plugins do not affect others' results, latencies or memory.

By default a short sample runs, with a bound that a busy machine does not exceed and stalled fetches
did exceed; `CARREL_TEST_NEIGHBOURS=60` runs it for a minute against the promise.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
import trustme

from carrel.cli.serve import SWITCH_SECONDS
from carrel.config import Config, PluginConfig, RuntimeConfig, builtin
from carrel.errors import CarrelError
from carrel.fetch import FetchClient, FetchSettings
from carrel.plugins.plugin_set import PluginSet
from carrel.tools import Toolbox
from support.guests import Guest, guest
from support.manifests import manifest_text
from support.upstream import PUBLIC

from .latency import P99, percentile, watch

pytestmark = pytest.mark.alone

_ASKED = os.environ.get("CARREL_TEST_NEIGHBOURS")
SECONDS = float(_ASKED or 4)
#: p99 in seconds that always passes: the promise, or the bound of a sample.
NEVER_TOO_MUCH = P99 if _ASKED else 0.5
#: The maximum ratio of others' p99 to their p99 alone, and the number of measurements that must all
#: exceed it: a fault of the host shows in each, the load of other processes does not.
FACTOR = 3.0
ATTEMPTS = 4
#: Seconds between two calls of the measured plugins.
EVERY = 0.02
#: Thirteen neighbours with 256 MiB of answers each would be 3 GiB.
MOST_MEMORY = 1536 * 2**20

_SERVER = Path(__file__).parent / "hostile_server.py"
_URLS = 8192

#: What each hostile plugin's upstream does, and how many requests its guest makes at once.
NEIGHBOURS = {
    "chunks": 4, "informational": 4, "members": 4, "bomb": 2, "records": 4, "headers": 4,
    "leftovers": 1, "busy": 1, "broken": 4, "large": 2, "flood": 4, "unfinished": 32, "names": 32,
}  # fmt: skip


def fetching(name: str, paths: Sequence[str], **host: object) -> Guest:
    """Returns a guest that requests all paths at once and returns the first response's body."""
    urls = [f"https://{path}" for path in paths]
    data, at = [], _URLS
    # A request is method, url, headers, body and cache mode: 32 bytes, pointers at 4, 12 and 20.
    entries = at + sum(map(len, urls)) + 64
    entries -= entries % 8
    for number, url in enumerate(urls):
        data.append(f'(data (i32.const {at}) "{url}")')
        words = [0, at, len(url), 8, 0, 8, 0, 0]
        packed = b"".join(word.to_bytes(4, "little") for word in words)
        escaped = "".join(f"\\{byte:02x}" for byte in packed)
        data.append(f'(data (i32.const {entries + 32 * number}) "{escaped}")')
        at += len(url)
    assert entries + 32 * len(urls) < 32768, "the requests reach into the manifest"
    body = f"""
      (local $at i32)
      (local.set $at (call $get_all (i32.const {entries}) (i32.const {len(urls)})))
      ;; An answer: whether it failed, then status, url, headers, body at 8.
      (if (i32.load8_u (local.get $at)) (then unreachable))
      (i32.store8 (i32.const 0) (i32.const 0))
      (i32.store (i32.const 4) (i32.load (i32.add (local.get $at) (i32.const 28))))
      (i32.store (i32.const 8) (i32.load (i32.add (local.get $at) (i32.const 32))))
      (return (i32.const 0))
    """
    hosts = [{"host": _declared(paths), "methods": ["GET"], **host}]
    return guest(
        body,
        manifest=manifest_text(name=name, hosts=hosts),
        data=" ".join(data),
        fetching=True,
    )


def _declared(paths: Sequence[str]) -> str:
    hosts = {path.partition("/")[0] for path in paths}
    if len(hosts) == 1:
        return hosts.pop()
    return "*." + hosts.pop().partition(".")[2]


@dataclass
class HostileSetup:
    """The plugins under test.

    Attributes:
        toolbox: calls them.
        good: the result of the well-behaved plugin; `feed`: of the built-in plugin.
    """

    toolbox: Toolbox
    good: str = ""
    feed: str = ""

    async def ask_good(self) -> None:
        answer = (await self.toolbox.call("good_echo", {})).text
        self.good = self.good or answer
        assert answer == self.good

    async def ask_arxiv(self) -> None:
        asked = {"id_list": "2301.00001", "verify_source_url": False}
        answer = (await self.toolbox.call("arxiv_query", asked)).text
        self.feed = self.feed or answer
        assert answer == self.feed

    async def attack(self, name: str, until: Callable[[], bool]) -> int:
        """Calls a hostile plugin repeatedly; returns the number of calls."""
        calls = 0
        while not until():
            try:
                await self.toolbox.call(f"{name}_echo", {})
            except CarrelError:
                await asyncio.sleep(0.005)
            calls += 1
        return calls


@pytest.fixture(scope="module")
def ports(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, int, int]]:
    """Yields the authority's file and the ports of the good and the hostile server."""
    folder = tmp_path_factory.mktemp("servers")
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(folder / "authority.pem"))
    names = ["export.arxiv.org", "*.example.org", "*.names.example.org"]
    issued = authority.issue_cert(*names)
    issued.private_key_and_cert_chain_pem.write_to_path(str(folder / "server.pem"))
    servers = [
        subprocess.Popen(
            [sys.executable, str(_SERVER), str(folder / "server.pem")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for _ in range(2)
    ]
    # An attacker's server runs on another machine: here it gets only idle CPU time.
    if hasattr(os, "SCHED_IDLE"):
        os.sched_setscheduler(servers[1].pid, os.SCHED_IDLE, os.sched_param(0))
    else:
        psutil.Process(servers[1].pid).nice(10)
    found = []
    for server in servers:
        assert server.stdout is not None
        found.append(int(server.stdout.readline()))
    yield folder / "authority.pem", found[0], found[1]
    for server in servers:
        server.kill()
        server.communicate()


@pytest.fixture(scope="module")
def hostile_setup(
    ports: tuple[Path, int, int], tmp_path_factory: pytest.TempPathFactory, code_folder: Path
) -> Iterator[HostileSetup]:
    authority, good_port, hostile_port = ports
    folder = tmp_path_factory.mktemp("street")
    entries = [builtin("arxiv")]

    def add(name: str, one: Guest, host: str) -> None:
        path = folder / f"{name}.wasm"
        path.write_bytes(one.wasm)
        limits = {"wall_seconds": 10, "cpu_seconds": 2}
        entries.append(PluginConfig(name, path.as_uri(), allowed_hosts=(host,), limits=limits))

    add("good", fetching("good", ["good.example.org/good"]), "good.example.org")
    squatting = {"pace": {"interval_ms": 0, "burst": 1000, "upstream": "export.arxiv.org"}}
    for name, count in NEIGHBOURS.items():
        hosts = [f"{name}.example.org"] * count
        if name == "names":
            hosts = [f"n{number}.names.example.org" for number in range(count)]
        paths = [f"{host}/{name}?{number}" for number, host in enumerate(hosts)]
        kept = 3600 if name == "flood" else 0
        one = fetching(name, paths, concurrency=64, cache_seconds=kept, **squatting)
        add(name, one, _declared(paths))

    async def resolve(host: str) -> Sequence[str]:
        return ["151.101.3.42"] if host in {"good.example.org", "export.arxiv.org"} else [PUBLIC]

    def dial(address: str, _port: int) -> tuple[str, int]:
        return "127.0.0.1", hostile_port if address == PUBLIC else good_port

    config = Config(
        cache_dir=code_folder,
        data_dir=folder,
        plugins=tuple(entries),
        # No result comes from the result cache, because guests' calls are measured.
        runtime=RuntimeConfig(result_bytes=0),
    )
    client = FetchClient(
        FetchSettings(
            cache_path=folder / "answers.sqlite",
            pace_path=folder / "pace.sqlite",
            ca_bundle=authority,
            # An open circuit would end the measurement.
            breaker_failures=1_000_000,
        ),
        resolver=resolve,
        dialer=dial,
    )
    plugin_set = PluginSet(config, fetch_client=client)
    toolbox = Toolbox(config, plugin_set=plugin_set)
    for entry in entries:
        plugin_set.plugin(entry.name)  # compiled before the measurement
    # Objects of the test runner are not measured.
    gc.collect()
    gc.freeze()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_SECONDS)
    yield HostileSetup(toolbox)
    sys.setswitchinterval(interval)
    gc.unfreeze()
    toolbox.close()
    client.close()


@dataclass(frozen=True)
class Figures:
    """p99 of the two measured plugins, alone and beside the others, and the memory used."""

    alone: tuple[float, float]
    beside: tuple[float, float]
    calls: int
    attacks: int
    memory: int

    @property
    def held(self) -> bool:
        """Returns whether the promise was kept."""
        pairs = zip(self.alone, self.beside, strict=True)
        return all(beside <= max(NEVER_TOO_MUCH, FACTOR * alone) for alone, beside in pairs)

    def __str__(self) -> str:
        rows = [
            f"{name}: p99 {beside * 1000:.1f} ms, alone {alone * 1000:.1f} ms, "
            f"{beside / alone:.2f} times"
            for name, alone, beside in zip(
                ("fetching", "cached"), self.alone, self.beside, strict=True
            )
        ]
        return (
            f"{'; '.join(rows)}; {self.calls} calls, {self.attacks} attacks, "
            f"{self.memory // 2**20} MiB at most"
        )


async def measure(hostile_setup: HostileSetup, names: Sequence[str], seconds: float) -> Figures:
    """Returns the figures of one run beside the hostile plugins of these names."""
    process = psutil.Process()
    most = 0

    async def both(seconds: float) -> tuple[list[float], list[float]]:
        nonlocal most
        end = time.monotonic() + seconds

        def over() -> bool:
            nonlocal most
            most = max(most, process.memory_info().rss)
            return time.monotonic() > end

        good, arxiv = await asyncio.gather(
            watch(hostile_setup.ask_good, over, every=EVERY),
            watch(hostile_setup.ask_arxiv, over, every=EVERY),
        )
        return good, arxiv

    alone = [percentile(one, 0.99) for one in await both(seconds / 2)]
    ended = asyncio.Event()
    attacks = [asyncio.create_task(hostile_setup.attack(name, ended.is_set)) for name in names]
    await asyncio.sleep(0.5)
    good, arxiv = await both(seconds)
    ended.set()
    made = sum(await asyncio.gather(*attacks))
    beside = [percentile(one, 0.99) for one in (good, arxiv)]
    return Figures((alone[0], alone[1]), (beside[0], beside[1]), len(good) + len(arxiv), made, most)


async def require_held(hostile_setup: HostileSetup, names: Sequence[str]) -> None:
    await hostile_setup.ask_good()
    await hostile_setup.ask_arxiv()
    assert json.loads(hostile_setup.good) == {"n": 1}
    tried = []
    for _ in range(ATTEMPTS):
        tried.append(await measure(hostile_setup, names, SECONDS))
        if tried[-1].held:
            break
    figures = "\n".join(map(str, tried))
    print(figures)  # noqa: T201 - the figures
    assert max(one.memory for one in tried) < MOST_MEMORY, figures
    assert tried[-1].held, figures


@pytest.mark.long("flood")
@pytest.mark.requirement("sandbox:apart:neighbours")
@pytest.mark.requirement("serve:alive:neighbours")
def test_thirteen_hostile_plugins_do_not_affect_others(hostile_setup: HostileSetup) -> None:
    asyncio.run(require_held(hostile_setup, list(NEIGHBOURS)))


@pytest.mark.long("flood")
@pytest.mark.requirement("serve:alive:costly-answers")
@pytest.mark.parametrize("name", ["chunks", "informational", "members", "records"])
def test_four_expensive_responses_at_once_delay_no_other_plugin(
    hostile_setup: HostileSetup, name: str
) -> None:
    assert NEIGHBOURS[name] == 4
    asyncio.run(require_held(hostile_setup, [name]))
