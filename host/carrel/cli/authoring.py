"""Implements `carrel plugin new`, `build` and `test`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from carrel.errors import ArgumentError, UnknownNameError

from .command import AS_JSON, command
from .output import stdout_is_terminal, write_json, write_text
from .progress import Progress
from .report import FAILED, OK, complain
from .session import Session

if TYPE_CHECKING:
    from carrel.authoring.build import Built
    from carrel.authoring.check import Outcome, Report
    from carrel.config import Config
    from carrel.fetch.recording import Skipped

_PATH = click.Path(path_type=Path)


@command("new", example="plugin new my_source", options=(AS_JSON,))
@click.argument("name")
@click.option(
    "--into", type=_PATH, metavar="DIR", help="The project's folder; ./NAME when not given."
)
@click.option(
    "--language",
    type=click.Choice(["rust"]),
    default="rust",
    show_default=True,
    help="The language of the project.",
)
@click.option(
    "--bytes",
    "reads_bytes",
    is_flag=True,
    help="A binary format, such as PDF, instead of a tool and a text format.",
)
@click.option(
    "--public-web",
    is_flag=True,
    help="A tool that reads pages of any public host, instead of one host.",
)
def new_command(
    session: Session,  # noqa: ARG001 - every command takes it
    name: str,
    into: Path | None,
    language: str,
    *,
    reads_bytes: bool,
    public_web: bool,
    as_json: bool,
) -> int:
    """Create a plugin project that builds and passes its fixtures.

    NAME is the plugin's: lower-case letters, digits and single underscores between them, a letter
    first, at most 40. The folder must not exist yet. The project holds a tool, a document format,
    fixtures, and Carrel's guest kit; with --bytes, a format that reads files as they are; with
    --public-web, a manifest that asks for the public web.
    """
    from carrel.authoring.new import new_project

    folder = into or Path(name)
    files = new_project(name, folder, language, reads_bytes=reads_bytes, public_web=public_web)
    if as_json or not stdout_is_terminal():
        write_json({"name": name, "folder": str(folder.absolute()), "files": files})
        return OK
    write_text(
        f"{folder} holds the plugin {name}. Next:\n"
        f"  carrel plugin build {folder}\n"
        f"  carrel plugin test {folder}\n"
    )
    return OK


@command("build", example="plugin build my_source", options=(AS_JSON,))
@click.argument("folder", metavar="[DIR]", type=_PATH, default=Path())
@click.option(
    "--output",
    type=_PATH,
    metavar="FILE",
    help="The file to write; DIR/dist/NAME.wasm if not given.",
)
def build_command(session: Session, folder: Path, output: Path | None, as_json: bool) -> int:
    """Build a plugin's component from Rust, Python or JavaScript.

    DIR is the project, this folder when not given: a Cargo package, a Python project
    (componentize-py) or a JavaScript package (jco). The manifest is embedded in the component, so
    that listing its tools runs no code. The output of the build tools goes to stderr.
    """
    from carrel.authoring.build import build_plugin

    built = build_plugin(folder, session.config(), _say, output=output)
    if as_json or not stdout_is_terminal():
        write_json(_built(built))
    else:
        write_text(
            f"{built.path}\n  sha256:{built.digest}\n"
            f"  {built.size:,} bytes, {built.seconds:.1f} s\n"
        )
    return OK


@command("test", example="plugin test my_source", options=(AS_JSON,))
@click.argument("plugin", metavar="[DIR | FILE | NAME]", default=".")
@click.option(
    "--fixtures", type=_PATH, metavar="DIR", help="The cases; the project's own when not given."
)
@click.option(
    "--case", "only", multiple=True, metavar="CASE", help="Run this case only; may be repeated."
)
@click.option(
    "--format",
    "usual_format",
    metavar="FORMAT",
    help="The format of documents whose case names none.",
)
@click.option("--update", is_flag=True, help="Write the results to expected.json.")
@click.option("--build", "build_first", is_flag=True, help="Build the project first.")
def test_command(  # noqa: PLR0917 - click hands all of them by name
    session: Session,
    plugin: str,
    fixtures: Path | None,
    only: tuple[str, ...],
    usual_format: str | None,
    update: bool,
    build_first: bool,
    as_json: bool,
) -> int:
    """Run a plugin's fixtures through the sandbox, without a network.

    DIR is a project that was built, this folder when not given; FILE a component and NAME a
    configured plugin, both with --fixtures. Documents are parsed, tools are called, works looked up
    and resources read with recorded exchanges, and the results are compared with expected.json. The
    exit code is 1 when a case fails.
    """
    from carrel.authoring.check import check_plugin

    config = session.config()
    wasm, name, cases = _subject(plugin, fixtures, config, build_first=build_first)
    with Progress("fixtures") as progress:
        report = check_plugin(
            wasm,
            name,
            cases,
            config,
            update=update,
            only=only,
            usual_format=usual_format,
            on_case=lambda case: progress.update(0, None, case),
        )
    if as_json or not stdout_is_terminal():
        for outcome in report.outcomes:
            if outcome.state == "failed":
                complain("\n".join(_lines(outcome)))
        for line in _skipped_lines(report):
            complain(line)
        write_json(_to_json(report))
    else:
        for line in _skipped_lines(report):
            complain(line)
        lines = [line for outcome in report.outcomes for line in _lines(outcome)]
        write_text("\n".join([*lines, _summary(report)]) + "\n")
    return FAILED if report.count("failed") else OK


def _subject(
    plugin: str, fixtures: Path | None, config: Config, *, build_first: bool
) -> tuple[bytes, str, Path]:
    """Returns the component to test, its name, and its cases."""
    from carrel.authoring.project import find_project

    path = Path(plugin)
    if path.is_dir():
        if build_first:
            from carrel.authoring.build import build_plugin

            component = build_plugin(path, config, _say).path
        project = find_project(path)
        component = project.component()
        if project.is_stale(component):
            complain(
                f"carrel: sources of {project.folder.name} are younger than its component; "
                "--build builds it first"
            )
        return component.read_bytes(), component.stem, fixtures or project.fixtures
    if build_first:
        raise ArgumentError([f"{plugin}: only a project's folder can be built"])
    if fixtures is None and (path.is_file() or config.plugin(plugin) is not None):
        raise ArgumentError([f"{plugin}: name its cases with --fixtures DIR"])
    assert fixtures is not None or not path.is_file()
    if path.is_file():
        return path.read_bytes(), path.stem, fixtures or Path()
    entry = config.plugin(plugin)
    if entry is None:
        if path.suffix or len(path.parts) > 1:
            raise ArgumentError([f"{plugin}: there is no such file or folder"])
        known = [configured.name for configured in config.plugins]
        raise UnknownNameError("plugin", plugin, known=known)
    from carrel.plugins.approval.pinning import local_bytes

    return local_bytes(config, entry), entry.name, fixtures or Path()


def _say(message: str) -> None:
    complain(f"carrel: {message}")


def _built(built: Built) -> dict[str, Any]:
    return {
        "name": built.manifest.name,
        "version": built.manifest.version,
        "language": built.language,
        "path": str(built.path),
        "digest": f"sha256:{built.digest}",
        "bytes": built.size,
        "seconds": round(built.seconds, 3),
    }


def _lines(outcome: Outcome) -> list[str]:
    from carrel.text.printable import printable

    reason = f": {printable(outcome.reason, 2000)}" if outcome.reason else ""
    return [
        f"{outcome.state:7}  {outcome.name}{reason}",
        *(f"    {printable(line, 400)}" for line in outcome.diff),
    ]


def _skipped_lines(report: Report) -> list[str]:
    """Returns one line for each file that was not read."""
    from carrel.text.printable import printable

    skipped = [("", file) for file in report.skipped]
    skipped += [
        (f"{outcome.name}/", file) for outcome in report.outcomes for file in outcome.skipped
    ]
    return [
        printable(f"skipped  {prefix}{file.name}: {file.reason}", 400) for prefix, file in skipped
    ]


def _summary(report: Report) -> str:
    counts = [f"{count} {state}" for state in ("passed", "updated", "failed")
              if (count := report.count(state))]  # fmt: skip
    return f"{report.plugin}: {', '.join(counts)} in {report.seconds:.2f} s"


def _to_json(report: Report) -> dict[str, Any]:
    return {
        "plugin": report.plugin,
        "digest": f"sha256:{report.digest}",
        "passed": report.count("passed"),
        "updated": report.count("updated"),
        "failed": report.count("failed"),
        "seconds": round(report.seconds, 3),
        "cases": [
            {"case": outcome.name, "state": outcome.state}
            | ({"reason": outcome.reason} if outcome.reason else {})
            | ({"diff": list(outcome.diff)} if outcome.diff else {})
            | ({"skipped": _skipped_json(outcome.skipped)} if outcome.skipped else {})
            for outcome in report.outcomes
        ],
    } | ({"skipped": _skipped_json(report.skipped)} if report.skipped else {})


def _skipped_json(skipped: Sequence[Skipped]) -> list[dict[str, str]]:
    return [{"file": file.name, "reason": file.reason} for file in skipped]
