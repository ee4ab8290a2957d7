"""Fixtures of all tests: the corpus, configurations in temporary folders, compiled code."""

from __future__ import annotations

import gc
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from carrel.config import Config, PluginConfig
from support.compiled_code import make_folder, share_code

pytest_plugins = ["support.parts"]

ROOT = Path(__file__).parents[1]
#: Captured responses, outside the repository.
CORPUS = ROOT.parent / "shared" / "corpus"


_BEFORE: pytest.StashKey[dict[int, Callable[..., Any] | int | None]] = pytest.StashKey()
_REMOVE: pytest.StashKey[Callable[[], None]] = pytest.StashKey()


def pytest_configure(config: pytest.Config) -> None:
    """Makes the folder of compiled components, and sets the signal dispositions of the test process
    to those under a terminal.

    A shell without job control, `nohup` and some service managers start a process with signals
    ignored, and whatever it starts inherits that: a test that interrupts would then wait for ever.
    A signal with a handler is at its default in a started program, so this serves both. SIGHUP is
    left as it is: under `nohup` a test run outlives its terminal, and no test needs the default.
    """
    defaults: dict[str, Callable[..., Any] | int] = {
        "SIGINT": signal.default_int_handler,
        "SIGTERM": signal.SIG_DFL,
    }
    if hasattr(signal, "SIGCHLD"):
        defaults |= dict.fromkeys(("SIGCHLD", "SIGALRM", "SIGUSR1", "SIGUSR2"), signal.SIG_DFL)
    config.stash[_REMOVE] = make_folder()
    before = config.stash.setdefault(_BEFORE, {})
    for name, wanted in defaults.items():
        number = getattr(signal, name)
        if signal.getsignal(number) is signal.SIG_IGN:
            before[number] = signal.signal(number, wanted)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Removes that folder, and restores the dispositions that the process was started with."""
    config.stash.get(_REMOVE, lambda: None)()
    for number, handler in config.stash.get(_BEFORE, {}).items():
        signal.signal(number, handler)


def pytest_collection_finish() -> None:
    """Hides the collected tests from the garbage collector.

    With them the process has half a million objects. A full collection takes 0.3 s, longer than the
    latencies that some tests measure.
    """
    gc.collect()
    gc.freeze()


settings.register_profile("default", max_examples=60, derandomize=True, deadline=None)
settings.register_profile("thorough", max_examples=5_000, deadline=None)
settings.load_profile("default")


@pytest.fixture(scope="session")
def corpus() -> Path:
    """Returns the folder of captured responses."""
    if not CORPUS.is_dir():
        pytest.skip("no captured responses beside the checkout (../shared/corpus)")
    return CORPUS


@pytest.fixture(scope="session")
def code_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a cache folder of this process, with the compiled components of the whole run."""
    folder = tmp_path_factory.mktemp("cache")
    share_code(folder)
    return folder


@pytest.fixture
def config(code_folder: Path, tmp_path: Path) -> Config:
    """Returns a configuration of the built-in plugins with a separate folder."""
    return Config(
        cache_dir=code_folder,
        data_dir=tmp_path / "data",
        plugins=(PluginConfig("arxiv", "builtin:arxiv", allowed_hosts=None),),
    )


@pytest.fixture(autouse=True)
def _no_configuration_of_the_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Hides the tester's own configuration and caches from the tests."""
    for name in (
        "CARREL_CONFIG",
        "CARREL_CONTACT",
        "CARREL_LIBRARY",
        "CARREL_RECORD_DIR",
        "CARREL_REPLAY_DIR",
        "CARREL_STORE",
        "CARREL_STORE_PASSWORD",
        "CARREL_STORE_PASSWORD_FILE",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg-config"))
