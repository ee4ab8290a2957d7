"""What all tests share: the corpus, a host on temporary folders, the components under test."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

from carrel.config import Config, PluginConfig

ROOT = Path(__file__).parents[1]
#: Real captured responses, kept beside the project and never in it.
CORPUS = ROOT.parent / "shared" / "corpus"


settings.register_profile("default", max_examples=60, derandomize=True, deadline=None)
settings.register_profile("thorough", max_examples=5_000, deadline=None)
settings.load_profile("default")


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of captured responses."""
    if not CORPUS.is_dir():
        pytest.skip("no captured responses beside the checkout (../shared/corpus)")
    return CORPUS


@pytest.fixture(scope="session")
def code_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder of precompiled code for the whole run: components are compiled once."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def config(code_folder: Path, tmp_path: Path) -> Config:
    """The built-in plugins, with folders of the test's own."""
    return Config(
        cache_dir=code_folder,
        data_dir=tmp_path / "data",
        plugins=(PluginConfig("arxiv", "builtin:arxiv", allowed_hosts=None),),
    )


@pytest.fixture(autouse=True)
def _no_configuration_of_the_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keeps the tester's own configuration and caches out of the tests."""
    for name in ("CARREL_CONFIG", "CARREL_CONTACT", "CARREL_RECORD_DIR", "CARREL_REPLAY_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg-config"))
