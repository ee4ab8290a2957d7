"""Fixtures: a well-behaved plugin and a hostile one in one host."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from carrel.config import Config, PluginConfig
from carrel.tools import Toolbox
from support.guests import Guest, guest
from support.manifests import manifest_text

from .behaviours import hostile_component


def well_behaved() -> Guest:
    return guest(result='{"n":1}', manifest=manifest_text(name="good"))


def busy() -> Guest:
    """Returns WAT that computes for some milliseconds and logs, as an honest plugin may."""
    return guest(
        """
        (loop $again
          (call $write (i32.const 1) (i32.const 1024) (i32.const 7))
          (local.set $i (i32.add (local.get $i) (i32.const 1)))
          (br_if $again (i32.lt_u (local.get $i) (i32.const 200))))
        (loop $again
          (local.set $i (i32.add (local.get $i) (i32.const 1)))
          (br_if $again (i32.lt_u (local.get $i) (i32.const 20000000))))
        """,
        result='{"n":1}',
        manifest=manifest_text(name="busy"),
        reporting=True,
    )


def plugin(folder: Path, name: str, one: Guest, **entry: object) -> PluginConfig:
    """Returns an entry for a component that is written to a file."""
    path = folder / f"{name}.wasm"
    path.write_bytes(one.wasm)
    return PluginConfig(name, path.as_uri(), **entry)  # type: ignore[arg-type]


class Formatted(logging.Handler):
    """Formats a line, as the server does when it logs it, and drops it."""

    def emit(self, record: logging.LogRecord) -> None:
        self.format(record)


@pytest.fixture(scope="session")
def neighbours(tmp_path_factory: pytest.TempPathFactory, code_folder: Path) -> Iterator[Toolbox]:
    """Yields a well-behaved plugin, an honest busy one, and a hostile one that has little CPU."""
    folder = tmp_path_factory.mktemp("neighbours")
    config = Config(
        cache_dir=code_folder,
        data_dir=folder,
        plugins=(
            plugin(folder, "good", well_behaved()),
            plugin(folder, "busy", busy()),
            plugin(folder, "hostile", hostile_component(), limits={"cpu_seconds": 0.4}),
        ),
    )
    toolbox = Toolbox(config)
    # Log lines cost as much as in a server; pytest would store thousands.
    logger, handler = logging.getLogger("carrel.plugin"), Formatted()
    logger.addHandler(handler)
    logger.propagate = False
    assert toolbox.call_sync("good_echo", {}).data == {"n": 1}
    yield toolbox
    toolbox.close()
    logger.propagate = True
    logger.removeHandler(handler)
