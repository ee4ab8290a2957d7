"""Runs a plugin's fixtures in the sandbox, without a network."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from carrel.errors import ArgumentError, CarrelError, NotRecordedError, UnknownNameError
from carrel.fetch.decode import UndecodableError
from carrel.fetch.policy.hosts import PUBLIC_WEB
from carrel.fetch.policy.manifest import read_policy
from carrel.fetch.recording import Recordings, Skipped
from carrel.plugins.manifests.agreement import require_agreement, require_documents
from carrel.plugins.manifests.manifest import Manifest, parse_manifest

from .cases import (
    CASE,
    EXCHANGES,
    EXPECTED,
    case_folders,
    only_exchanges,
    read_case,
    skipped_beside,
    write_json,
)
from .difference import difference
from .replay import replaying
from .run import run_case
from .sandbox import Sandbox, embedded_manifest

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.runtime.component import SandboxedComponent

#: Maximum number of recorded requests that an error names.
_SHOWN = 3

State = Literal["passed", "failed", "updated"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a case.

    Attributes:
        reason: why it failed; empty if it passed.
        diff: lines of the difference from the expected to the actual result.
        skipped: unused files of the case, with the reason.
    """

    name: str
    state: State
    reason: str = ""
    diff: Sequence[str] = ()
    skipped: Sequence[Skipped] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """The outcomes of all cases.

    Attributes:
        skipped: files and folders beside the cases, with the reason.
    """

    plugin: str
    digest: str
    outcomes: Sequence[Outcome] = field(default_factory=tuple)
    seconds: float = 0.0
    skipped: Sequence[Skipped] = ()

    def count(self, state: State) -> int:
        """Returns the number of cases with this outcome."""
        return sum(outcome.state == state for outcome in self.outcomes)


def check_plugin(
    wasm: bytes,
    name: str,
    fixtures: Path,
    config: Config,
    *,
    update: bool = False,
    only: Sequence[str] = (),
    usual_format: str | None = None,
    on_case: Callable[[str], None] = lambda _: None,
) -> Report:
    """Runs a plugin's fixtures.

    Args:
        wasm: the component.
        name: its name until its manifest is read.
        fixtures: the folder of cases.
        config: for its folders and limits.
        update: write the results to `expected.json`.
        only: names of the cases to run; all when empty.
        usual_format: the format of documents whose case names none.
        on_case: called with each case before it runs.

    Raises:
        ArgumentError: there are no cases, or none of those names.
        LoadError: a host would refuse the plugin.
    """
    started = time.monotonic()
    folders, recordings = _apart(_chosen(case_folders(fixtures), only))
    with Sandbox(config) as sandbox:
        component = sandbox.load(wasm, name)
        manifest = lint(component, wasm, name)
        outcomes = []
        for folder in folders:
            on_case(folder.name)
            outcomes.append(
                _check(folder, sandbox, component, manifest, usual_format, update=update)
            )
    seconds = time.monotonic() - started
    beside = [*skipped_beside(fixtures), *recordings]
    return Report(manifest.name, component.digest, outcomes, seconds, beside)


def lint(component: SandboxedComponent, wasm: bytes, name: str) -> Manifest:
    """Returns the manifest after all checks that a host makes.

    Raises:
        LoadError: names every fault.
    """
    require_agreement(component, wasm)
    manifest = parse_manifest(embedded_manifest(wasm) or component.describe(), name)
    require_documents(manifest, exported=component.reads_bytes)
    return manifest


def _check(
    folder: Path,
    sandbox: Sandbox,
    component: SandboxedComponent,
    manifest: Manifest,
    usual_format: str | None,
    *,
    update: bool,
) -> Outcome:
    name = folder.name
    hosts = [rule["host"] for rule in manifest.raw.get("hosts", ())]
    granted = [*hosts, PUBLIC_WEB] if manifest.public_web else None
    policy, _ = read_policy(manifest.raw, granted=granted, provided={})
    skipped: tuple[Skipped, ...] = ()
    recordings = None
    try:
        case = read_case(folder, manifest, usual_format)
        skipped = tuple(case.skipped)
        if case.tool is not None and case.exchanges is not None:
            recordings = Recordings(case.exchanges)
            inside = [(f"{EXCHANGES}/{file.name}", file.reason) for file in recordings.skipped]
            skipped += tuple(Skipped(*pair) for pair in inside)
        fetcher = replaying(policy, recordings, folder / EXCHANGES)
        found = run_case(case, sandbox.plugin(component, manifest, fetcher, case.settings))
    except (CarrelError, UndecodableError) as error:
        return Outcome(name, "failed", _reason(error, folder, recordings), skipped=skipped)
    if case.expected is None and not update:
        reason = f"there is no {EXPECTED}; --update writes it"
        return Outcome(name, "failed", reason, difference({}, found), skipped)
    diff = difference(case.expected or {}, found)
    if case.expected is not None and not diff:
        return Outcome(name, "passed", skipped=skipped)
    if update:
        write_json(folder / EXPECTED, found)
        return Outcome(name, "updated", diff=diff, skipped=skipped)
    return Outcome(name, "failed", "the result differs from expected.json", diff, skipped)


def _reason(error: Exception, folder: Path, recordings: Recordings | None) -> str:
    if isinstance(error, NotRecordedError):
        recorded = (
            [f"{request.method} {request.url}" for request in recordings.requests]
            if recordings
            else []
        )
        more = f" and {len(recorded) - _SHOWN} more" if len(recorded) > _SHOWN else ""
        listing = f"recorded are {', '.join(recorded[:_SHOWN])}{more}; " if recorded else ""
        return (
            f"no exchange of {error.method} {error.url} is recorded; {listing}"
            f"'carrel record TOOL … --fixture {folder}' records it"
        )
    if isinstance(error, UndecodableError):
        return f"the document cannot be decoded: {error}"
    return str(error)


def _apart(folders: Sequence[Path]) -> tuple[list[Path], list[Skipped]]:
    """Returns the cases, and the folders of exchanges among them.

    Raises:
        ArgumentError: there is no case.
    """
    skipped = [
        Skipped(folder.name, f"recorded exchanges without a {CASE}; --replay answers from them")
        for folder in folders
        if only_exchanges(folder)
    ]
    names = {entry.name for entry in skipped}
    cases = [folder for folder in folders if folder.name not in names]
    if not cases:
        reasons = "; ".join(f"{entry.name}: {entry.reason}" for entry in skipped)
        raise ArgumentError([f"holds no case: {reasons}"])
    return cases, skipped


def _chosen(folders: Sequence[Path], only: Sequence[str]) -> Sequence[Path]:
    names = [folder.name for folder in folders]
    for name in only:
        if name not in names:
            raise UnknownNameError("fixture", name, known=names)
    return [folder for folder in folders if folder.name in only] if only else folders
