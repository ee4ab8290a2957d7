"""Checks what `carrel serve` needs, and reports every fault at once.

`find_start_faults` finds the faults that keep the server from starting: settings, surface, address
and identity. `check` adds those that a client would meet: plugins, grants, secrets, files, folders.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carrel.errors import CarrelError, ConfigError

from .session import Host, Session
from .surface import with_surface

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.plugins.state import PluginState
    from carrel.server.http import Address
    from carrel.server.identity.opening import TokenIdentity


@dataclass(frozen=True, slots=True)
class Start:
    """The checked settings of a server, and the faults that keep it from starting.

    Attributes:
        config: without the values that are wrong; None if the file cannot be read at all.
        address: to listen on; None on stdio, or if it is wrong.
        identity: who may use the server over HTTP; None without identity, or if it is wrong.
        faults: one sentence each, with its place.
        path: the configuration file; None without one.
        is_file_wrong: whether one of the faults is the file's.
    """

    config: Config | None
    address: Address | None
    identity: TokenIdentity | None
    faults: tuple[str, ...]
    path: str | None
    is_file_wrong: bool

    def require(self) -> Config:
        """Returns the configuration.

        Raises:
            ConfigError: with every fault.
        """
        if self.faults or self.config is None:
            raise ConfigError(self.faults, path=self.path if self.is_file_wrong else None)
        return self.config


def find_start_faults(session: Session, surface: str | None, http: str | None) -> Start:
    """Returns the configuration and the address, and what is wrong with them.

    Args:
        session: of the command.
        surface: the option `--surface`.
        http: the option `--http`.
    """
    examined = session.examine()
    faults = list(examined.faults)
    config = examined.config
    name = surface or (config.server.surface if config is not None else None)
    if config is not None:
        try:
            config = with_surface(config, name)
        except CarrelError as error:
            faults += _faults_of(error)
    address = None
    if http is not None:
        from carrel.server.http import parse_address

        try:
            address = parse_address(http)
        except ConfigError as error:
            faults += error.faults
    identity = None
    is_file_wrong = bool(examined.faults)
    if config is not None and http is not None:
        from .serve_identity import identity_of

        # What is wrong with an identity does not depend on an address that is wrong too.
        somewhere = address or parse_address("127.0.0.1:0")
        try:
            identity = identity_of(config, somewhere)
        except ConfigError as error:
            faults += _unless_known(error.faults, examined.faults)
            is_file_wrong = is_file_wrong or error.path is not None
    return Start(config, address, identity, tuple(faults), examined.path, is_file_wrong)


def _unless_known(faults: Sequence[str], known: Sequence[str]) -> list[str]:
    """Returns the faults of an identity, without those of settings with a known fault."""
    wrong = {fault.partition(":")[0] for fault in known if fault.startswith("identity.")}
    named = {fault.split("[")[0] for fault in wrong}
    return [
        fault
        for fault in faults
        if fault.partition(":")[0] not in named
        # Without its wrong settings an identity seems to be missing.
        and not (named and fault.startswith(("identity: ", "--http: serving ")))
    ]


def check(
    session: Session, surface: str | None, http: str | None, *, env: Mapping[str, str]
) -> dict[str, Any]:
    """Returns the report: `ok`, `faults` and `warnings`, a sentence for each.

    Loads every plugin, and compiles those that are not compiled yet. Opens the port for a moment.
    """
    from .doctor import folder_problems, plugin_problems, unknown_variables

    start = find_start_faults(session, surface, http)
    faults = [*start.faults, *unknown_variables(env)]
    warnings: list[str] = []
    report: dict[str, Any] = {"ok": False, "configuration": start.path}
    if start.address is not None:
        report["url"] = start.address.url(start.address.port)
        faults += _port_faults(start.address)
    config = start.config
    if config is not None:
        warnings += config.warnings
        faults += _file_faults(config)
        faults += _store_faults(config)
        faults += _operation_faults(config, start.address)
        if start.identity is not None:
            faults += start.identity.find_faults()
        try:
            with session.open(config) as host:
                health = host.health()
                states = list(host.plugins())
                faults += _tool_faults(host)
        except CarrelError as error:
            faults += _faults_of(error)
        else:
            faults += folder_problems(health.get("folders", {}))
            faults += plugin_problems(states)
            for state in states:
                grants, notes = _grants_and_secrets(config, state)
                faults += grants
                warnings += notes
            report["plugins"] = {state.name: _state_of(state) for state in states}
    faults = list(dict.fromkeys(faults))
    return {**report, "ok": not faults, "faults": faults, "warnings": warnings}


def _tool_faults(host: Host) -> list[str]:
    """Returns why the tools cannot be listed, without which a server is never ready."""
    try:
        host.tools()
    except CarrelError as error:
        return _faults_of(error)
    return []


def _state_of(state: PluginState) -> str:
    if not state.enabled:
        return "off"
    return "ready" if state.error is None else "failed"


def _faults_of(error: CarrelError) -> list[str]:
    return list(error.faults) if isinstance(error, ConfigError) else [error.message]


def _port_faults(address: Address) -> list[str]:
    """Returns why the address cannot be listened on."""
    from carrel.server.http.address import listen

    try:
        for socket in listen(address):
            socket.close()
    except ConfigError as error:
        return list(error.faults)
    return []


def _operation_faults(config: Config, address: Address | None) -> list[str]:
    """Returns why the audit log, the traces or the metrics cannot be used as configured."""
    from carrel.server.operations.audit import check_audit_log
    from carrel.server.operations.metrics_listener import parse_place
    from carrel.server.operations.traces import require_otel

    faults: list[str] = []
    try:
        if config.server.audit_log is not None:
            check_audit_log(config.server.audit_log)
    except ConfigError as error:
        faults += error.faults
    try:
        if config.server.traces is not None:
            require_otel()
    except ConfigError as error:
        faults += error.faults
    if address is not None:
        try:
            endpoint = parse_place(config.http.metrics)
        except ConfigError as error:
            return [*faults, *error.faults]
        if endpoint is not None:
            faults += _metrics_faults(endpoint, address)
    return faults


def _metrics_faults(endpoint: tuple[str, int], address: Address) -> list[str]:
    from carrel.server.http.address import Address, listen

    if endpoint[1] and endpoint == (address.host, address.port):
        return ["http.metrics: is the address of --http; expected another port, or same"]
    try:
        for socket in listen(Address(*endpoint), "http.metrics"):
            socket.close()
    except ConfigError as error:
        return list(error.faults)
    return []


def _store_faults(config: Config) -> list[str]:
    """Returns why the store cannot be used."""
    from carrel.state import examine_store

    problem = examine_store(config).get("problem")
    return [] if problem is None else [f"store: {problem}"]


def _file_faults(config: Config) -> list[str]:
    """Returns what is wrong with the files and folders that settings name."""
    faults = [
        f"documents.folders: {folder} is not a folder; create it, or remove it from the list"
        for folder in config.documents.folders
        if not folder.is_dir()
    ]
    if config.library.file is not None:
        faults += _library_faults(config)
    written = {
        "papers.folder": config.papers.folder,
        "papers.log_folder": config.papers.log_folder,
        "library.attachments": config.library.attachments,
        "record_dir": config.record_dir,
    }
    faults += [
        f"{name}: {folder} cannot be written to"
        for name, folder in written.items()
        if folder is not None and not _is_writable(folder)
    ]
    if config.replay_dir is not None and not config.replay_dir.is_dir():
        faults.append(f"replay_dir: {config.replay_dir} is not a folder")
    return faults


def _library_faults(config: Config) -> list[str]:
    from carrel.citations.styles import find_style
    from carrel.library.opening import open_library

    faults = []
    try:
        open_library(config).close()
    except CarrelError as error:
        faults.append(f"library: {error.message}")
    try:
        find_style(config.library.style, files=True)
    except CarrelError as error:
        faults.append(f"library.style: {error.message}")
    return faults


def _is_writable(folder: Path) -> bool:
    """Returns whether a folder can be written to, or created."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)


def _grants_and_secrets(config: Config, state: PluginState) -> tuple[list[str], list[str]]:
    """Returns faults and warnings about what a plugin is granted.

    A missing secret that a source requires is a fault only if the configuration names the
    plugin: sources that are on by default do without.
    """
    entry = config.plugin(state.name)
    if entry is None or state.manifest is None or not state.enabled:
        return [], []
    from carrel.plugins.grants.requirements import missing_requirement
    from carrel.plugins.grants.review import in_vain, review

    faults: list[str] = []
    warnings = [f"plugin {state.name}: {note}" for note in state.notes]
    try:
        warnings += [
            f"plugin {state.name}: {item.kind} {item.name} is not granted ({item.refused}); "
            f"to grant it: {item.grant}"
            for item in review(config, entry, state.manifest)
            if item.refused and item.grant
        ]
    except ConfigError as error:
        faults += error.faults
    warnings += [
        f"{grant} is granted, but not requested" for grant in in_vain(entry, state.manifest)
    ]
    if state.name not in config.unnamed:
        missing = missing_requirement(config, entry, state.manifest)
        if missing is not None:
            faults.append(f"plugin {state.name}: {missing}")
    return faults, warnings
