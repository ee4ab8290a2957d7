"""Implements `carrel plugin lock`: shows changes of plugins and records their approval."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from carrel.errors import ArgumentError, CarrelError, LockError, StorageError
from carrel.text.printable import printable

from .command import AS_JSON, command
from .output import stdout_is_terminal, write_json, write_text
from .progress import Progress
from .report import FAILED, OK, report
from .session import Session

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.plugins.approval.proposal import Proposal


@command("lock", example="plugin lock preprints", options=(AS_JSON,))
@click.argument("names", metavar="[NAME]…", nargs=-1)
@click.option("--yes", is_flag=True, help="Approve without a prompt.")
@click.option("--remove", is_flag=True, help="Take the named plugins out of the lock instead.")
def lock_command(
    session: Session, names: tuple[str, ...], yes: bool, remove: bool, as_json: bool
) -> int:
    """Show how plugins differ from what was approved, and approve them.

    Without NAME: every plugin that comes from a registry, and every file that is in the lock. Each
    plugin is fetched, its signature verified, and the difference shown. Approved plugins are
    written to carrel.lock: on a terminal after a prompt, otherwise with --yes. The exit code is 1
    if something was not approved or could not be fetched.
    """
    config = session.config()
    if remove:
        return _remove(config, names, as_json=session.options.json_errors)
    from carrel.plugins.approval.lockfile import change_lock
    from carrel.plugins.approval.proposal import wanted_names

    proposals, failed = _propose(session, config, wanted_names(config, names))
    changed = [proposal for proposal in proposals if proposal.lines]
    plugins = [{"name": proposal.name, "changes": proposal.lines} for proposal in proposals]
    if as_json or not stdout_is_terminal():
        write_json({"lock": str(config.lock_path), "plugins": plugins})
    else:
        _show(proposals)
    if changed and not (yes or _agreed(changed)):
        words = ", ".join(proposal.name for proposal in changed)
        refusal = LockError(f"{words}: not approved; nothing was written. Approve with --yes")
        report(refusal, as_json=session.options.json_errors)
        return FAILED
    if changed:
        with _audited(config) as audit:
            change_lock(config.lock_path, {proposal.name: proposal.found for proposal in changed})
            for proposal in changed:
                audit("approval", **_approved(proposal))
    return FAILED if failed else OK


def _propose(session: Session, config: Config, names: list[str]) -> tuple[list[Proposal], bool]:
    from carrel.plugins.approval.proposal import propose

    proposals, failed = [], False
    for name in names:
        try:
            with Progress(f"fetching {name}") as progress:
                proposals.append(propose(config, name, progress.update))
        except CarrelError as error:
            report(error, as_json=session.options.json_errors)
            failed = True
    return proposals, failed


def _remove(config: Config, names: tuple[str, ...], *, as_json: bool) -> int:
    from carrel.plugins.approval.lockfile import change_lock, read_lock

    if not names:
        raise ArgumentError(["--remove needs the names of the plugins to take out"])
    missing = [name for name in names if name not in read_lock(config.lock_path)]
    if missing:
        report(LockError(f"{', '.join(missing)}: not in {config.lock_path}"), as_json=as_json)
        return FAILED
    with _audited(config) as audit:
        change_lock(config.lock_path, {}, frozenset(names))
        for name in names:
            audit("revocation", plugin=name, by=_person())
    return OK


@contextmanager
def _audited(config: Config) -> Iterator[Callable[..., None]]:
    """Yields what appends to the audit log, if there is one; it is opened before the change.

    Raises:
        ConfigError: it cannot be opened.
        StorageError: it cannot be written; the change is made.
    """
    if config.server.audit_log is None:
        yield lambda _event, **_facts: None
        return
    from carrel.server.operations.audit import AuditLog

    log = AuditLog(config.server.audit_log)
    try:
        yield log.write
    finally:
        log.close()
    if log.is_failing:
        raise StorageError(str(log.path), "the approval was made, but could not be recorded")


def _approved(proposal: Proposal) -> dict[str, Any]:
    """Returns what is recorded of an approval."""
    found = proposal.found
    return {
        "plugin": proposal.name,
        "by": _person(),
        "url": found.url,
        "digest": found.digest or found.wasm,
        "signer": found.signer,
        "hosts": list(found.hosts),
        "changes": list(proposal.lines),
    }


def _person() -> str:
    """Returns the name of the system's user."""
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "unknown"


def _show(proposals: list[Proposal]) -> None:
    lines: list[str] = []
    for proposal in proposals:
        state = (
            "new" if proposal.approved is None else "changed" if proposal.lines else "as approved"
        )
        lines += [f"{proposal.name}: {state}", *(f"  {line}" for line in proposal.lines)]
    write_text("".join(f"{printable(line, 4000)}\n" for line in lines or ["nothing to lock"]))


def _agreed(changed: list[Proposal]) -> bool:
    """Prompts for approval on a terminal; returns False without one."""
    streams: tuple[Any, ...] = (sys.stdin, sys.stdout)
    if not all(stream is not None and stream.isatty() for stream in streams):
        return False
    words = ", ".join(proposal.name for proposal in changed)
    return click.confirm(f"Approve {words}?", default=False)
