"""The commands for earlier contents of the library: backups, restore."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from carrel.cli.command import AS_JSON, LIBRARY, command
from carrel.cli.output import write_json, write_text
from carrel.cli.report import OK
from carrel.library.errors import LibraryError
from carrel.library.opening import library_file

from .options import is_plain, library_config, library_exit

if TYPE_CHECKING:
    from carrel.cli.session import Session


@command("backups", example="library backups", options=(AS_JSON, LIBRARY))
def backups_command(session: Session, as_json: bool) -> int:
    """List the earlier contents of the library that are kept, the latest first.

    JSON output: {"library", "backups": [{"name", "time", "bytes", "path"}]}.
    """

    def work() -> int:
        config = library_config(session)
        found = [_to_json(path) for path in library_file(config).backups.all()]
        if is_plain(as_json):
            write_json({"library": str(config.library.file), "backups": found})
            return OK
        from carrel.cli.render import table

        rows = [(backup["name"], backup["time"], f"{backup['bytes']:,}") for backup in found]
        table(("backup", "replaced at", "bytes"), rows)
        return OK

    return library_exit(session, work)


@command("restore", example="library restore 20240501T120000.000000Z.json", options=(LIBRARY,))
@click.argument("name", metavar="BACKUP")
def restore_command(session: Session, name: str) -> int:
    """Write a backup in place of the library; the present content becomes a backup itself.

    BACKUP is a name that backups lists, or latest.
    """

    def work() -> int:
        config = library_config(session)
        file = library_file(config)
        found = file.backups.all()
        chosen = found[:1] if name == "latest" else [path for path in found if path.name == name]
        if not chosen:
            raise LibraryError(
                "NOT_FOUND",
                f"there is no backup {name!r} of {config.library.file}",
                advice="carrel library backups lists them",
            )
        try:
            data = chosen[0].read_bytes()
        except OSError as error:
            raise LibraryError(
                "READ_ERROR", f"{chosen[0]}: cannot be read: {error.strerror or error}"
            ) from None
        with file.lock():
            while file.replace(file.read(), data) is None:
                pass  # another program changed the file meanwhile; its content is kept too
        write_text(f"{config.library.file} is now what it was in {chosen[0].name}\n")
        return OK

    return library_exit(session, work)


def _to_json(path: Path) -> dict[str, Any]:
    stat = path.stat()
    moment = datetime.strptime(path.name.split(".")[0], "%Y%m%dT%H%M%S").replace(tzinfo=UTC)
    return {
        "name": path.name,
        "time": f"{moment:%Y-%m-%d %H:%M:%S}Z",
        "bytes": stat.st_size,
        "path": str(path),
    }
