"""Records a call as a fixture: its arguments, its exchanges and its result.

The call is recorded in a hidden folder beside the fixture, which replaces the fixture when it is
complete. So a failed call writes nothing, and a fixture that is recorded again is unchanged until
then.
"""

from __future__ import annotations

import dataclasses
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carrel.config import PluginConfig
from carrel.errors import ArgumentError, SourceError
from carrel.fetch.recording import Recordings
from carrel.plugins.grants.secrets import provided_secrets
from carrel.plugins.manifests.manifest import RESERVED_TOOLS, parse_manifest
from carrel.plugins.plugin_set import PluginSet
from carrel.plugins.state import PluginState

from .cases import CASE, EXCHANGES, EXPECTED, write_json
from .project import find_project, read_json
from .reserved import reserved_tools
from .run import call_plugin, error_members
from .sandbox import embedded_manifest

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.exchange import ProgressHandler
    from carrel.plugins.calls.result import Result


@dataclass(frozen=True, slots=True)
class Capture:
    """A fixture that is being recorded.

    Attributes:
        folder: of the fixture.
        work: the hidden folder for its files.
        settings: the plugin's settings in the fixture that is replaced.
    """

    folder: Path
    work: Path
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def exchanges(self) -> Path:
        """The folder of the recorded exchanges."""
        return self.work / EXCHANGES

    def failed_exchanges(self) -> list[str]:
        """Returns one line for each exchange without a response."""
        if not self.exchanges.is_dir():
            return []
        failures = Recordings(self.exchanges).failures()
        return [
            f"{request.method} {request.url}: {failure.message}" for request, failure in failures
        ]

    def finish(
        self, tool: str, arguments: Mapping[str, Any], outcome: Mapping[str, Any] | SourceError
    ) -> None:
        """Writes the fixture's files next to the exchanges, and renames the folder.

        Args:
            tool: its name in the manifest, without namespace, or a reserved one.
            arguments: the call's arguments.
            outcome: the result, or the error that the plugin reported.
        """
        case = {"tool": tool, "arguments": dict(arguments)}
        write_json(self.work / CASE, case | ({"settings": self.settings} if self.settings else {}))
        found = {"error": error_members(outcome)} if isinstance(outcome, SourceError) else outcome
        write_json(self.work / EXPECTED, found)
        if not self.folder.exists():
            self.work.rename(self.folder)
            return
        for path in self.folder.iterdir():
            if path.name not in {CASE, EXPECTED, EXCHANGES}:  # files of the author, such as notes
                copy = shutil.copytree if path.is_dir() else shutil.copy2
                copy(path, self.work / path.name)
        old = self.work.with_name("old")
        self.folder.rename(old)
        try:
            self.work.rename(self.folder)
        except BaseException:
            old.rename(self.folder)
            raise


@contextmanager
def capturing(folder: Path, *, replace: bool) -> Iterator[Capture]:
    """Yields a new capture; removes its files unless it is finished.

    Args:
        folder: of the fixture.
        replace: whether it may replace a fixture of a call.

    Raises:
        ArgumentError: the folder exists and must not be replaced.
    """
    folder = folder.absolute()
    settings = _replaceable(folder, replace=replace)
    is_new = not folder.parent.exists()
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as name:
            work = Path(name) / "case"
            work.mkdir()
            yield Capture(folder, work, settings)
    finally:
        if is_new and not any(folder.parent.iterdir()):
            folder.parent.rmdir()


def _replaceable(folder: Path, *, replace: bool) -> Mapping[str, Any]:
    """Returns the settings of the fixture to replace; empty without one.

    Raises:
        ArgumentError: the folder exists and must not be replaced.
    """
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return {}
    if not (folder / CASE).is_file() or any(folder.glob("document.*")):
        raise ArgumentError(
            [f"{folder}: exists already and is not a fixture of a call; choose another name"]
        )
    if not replace:
        raise ArgumentError([f"{folder}: exists already; --replace records it again"])
    settings = read_json(folder / CASE).get("settings", {})
    if not isinstance(settings, dict):
        raise ArgumentError([f"{folder / CASE}: settings is not an object"])
    return settings


def recording_config(config: Config, capture: Capture) -> Config:
    """Returns the configuration for recording a fixture, with its folder of exchanges.

    A fixture inside a project is recorded with the project's component, which is granted the hosts
    of its manifest, because the author is its operator here.

    Args:
        config: the author's configuration.
        capture: the fixture that is recorded.

    Raises:
        ArgumentError: the project has not been built.
        LoadError: a host would refuse the component.
    """
    config = dataclasses.replace(config, record_dir=capture.exchanges)
    try:
        project = find_project(capture.folder.parent.parent)
    except ArgumentError:
        return config
    path = project.component()
    text = embedded_manifest(path.read_bytes())
    if text is None:
        raise ArgumentError([f"{path}: carries no manifest; 'carrel plugin build' embeds it"])
    manifest = parse_manifest(text, path.stem)
    hosts = tuple(rule.host for rule in manifest.hosts)
    entry = PluginConfig(
        manifest.name, path.absolute().as_uri(), allowed_hosts=hosts, settings=capture.settings
    )
    return dataclasses.replace(config, plugins=(entry,))


def find_reserved(states: Sequence[PluginState], name: str) -> tuple[PluginState, str] | None:
    """Returns the plugin and the reserved tool of a name; None if it is a tool or unknown.

    Args:
        states: of the configured plugins.
        name: with the plugin's namespace as prefix; without it if only one plugin has the tool.

    Raises:
        ArgumentError: several plugins or none have the reserved tool.
    """
    offered = {
        f"{state.manifest.namespace}_{tool}": (state, tool)
        for state in states
        if state.manifest is not None
        for tool in reserved_tools(state.manifest)
    }
    if name not in RESERVED_TOOLS:
        return offered.get(name)
    named = [full for full, (_, tool) in offered.items() if tool == name]
    if not named:
        raise ArgumentError([f"{name}: no plugin's manifest offers it"])
    if len(named) > 1:
        raise ArgumentError([f"{name}: several plugins offer it; name one: {', '.join(named)}"])
    return offered[named[0]]


def secrets_passed(config: Config, state: PluginState) -> list[str]:
    """Returns the names of set secrets that the host passes to a plugin's `resource`."""
    entry = config.plugin(state.name)
    assert entry is not None, "a state belongs to an entry"
    assert state.manifest is not None, "it offers something"
    provided = provided_secrets(config, entry, state.manifest)
    return sorted(name for name, value in provided.items() if value)


def call_reserved(
    config: Config,
    plugin: str,
    tool: str,
    arguments: Mapping[str, Any],
    on_progress: ProgressHandler | None = None,
) -> Result:
    """Calls a reserved tool of a plugin, as the host does.

    Raises:
        ArgumentError: a host would never send these arguments.
        CarrelError: the call failed.
    """
    with closing(PluginSet(config)) as plugin_set:
        return call_plugin(plugin_set.plugin(plugin), tool, arguments, on_progress)
