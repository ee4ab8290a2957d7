"""Defines the command group `carrel`; each command's module is imported when it is used."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

from carrel._lazy import import_name
from carrel.errors import ArgumentError
from carrel.features import FEATURES
from carrel.tools.feature import Feature

from .command import CONFIG, DEBUG, EXCHANGE, JSON_ERRORS, ExampleGroup
from .report import INTERRUPTED, complain, report
from .session import Session

#: The command that the help begins with; those of the features follow.
_FIRST = {"call": "carrel.cli.call:call"}

#: The commands behind those.
_OTHERS = {
    "parse": "carrel.cli.parse:parse_command",
    "tools": "carrel.cli.tools:tools",
    "read-resource": "carrel.cli.resource:read_resource",
    "serve": "carrel.cli.serve:serve",
    "record": "carrel.cli.call:record",
    "plugin": "carrel.cli.plugin:plugin",
    "doctor": "carrel.cli.doctor:doctor",
    "completions": "carrel.cli.completions:completions",
}


class _Commands(ExampleGroup):
    """A group that imports a command when it is named.

    Args:
        commands: name → the command as `MODULE:NAME`, in the order of the help.
        options: of `click.Group`.
    """

    def __init__(self, commands: Mapping[str, str], **options: Any) -> None:
        super().__init__(**options)
        self._commands = commands

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's seam
        """The names, in the order of the help."""
        return list(self._commands)

    def get_command(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's seam
        cmd_name: str,
    ) -> click.Command | None:
        """The command, imported now."""
        if cmd_name not in self._commands:
            return None
        found: click.Command = import_name(self._commands[cmd_name])
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the words name, or an error with the nearest name."""
        if args and args[0] not in self._commands and not args[0].startswith("-"):
            raise click.exceptions.NoSuchCommand(
                args[0], possibilities=list(self._commands), ctx=ctx
            )
        return super().resolve_command(ctx, args)


def _show_version(ctx: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from importlib.metadata import version

        click.echo(f"carrel {version('carrel')}")
        ctx.exit()


_VERSION = click.Option(
    ["--version"], is_flag=True, is_eager=True, expose_value=False, callback=_show_version,
    help="Show the version and exit.",
)  # fmt: skip

_HELP = "Scholarly sources as tools, each parsed in its own WebAssembly sandbox."

_EPILOG = """Exit codes: 0 ok, 1 failed, 2 misuse, 3 denied, 130 interrupted, 141 the reader of the
output is gone.

Results go to stdout, as JSON when it is not a terminal; errors go to stderr."""


@click.pass_context
def _take_options(ctx: click.Context, /, **options: object) -> None:
    ctx.obj = ctx.obj.with_options(**options)


def make_app(features: Sequence[Feature]) -> ExampleGroup:
    """Returns the group `carrel` with its own commands and those of `features`."""
    commands = dict(_FIRST)
    for feature in features:
        commands.update(feature.commands)
    commands.update(_OTHERS)
    made = _Commands(
        commands,
        name="carrel",
        callback=_take_options,
        params=[_VERSION, CONFIG, *EXCHANGE, DEBUG, JSON_ERRORS],
        help=_HELP,
        epilog=_EPILOG,
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    made.example = "call arxiv_query search_query=ti:electron max_results=3"
    return made


app = make_app(FEATURES)


def run(arguments: Sequence[str], session: Session | None = None, group: click.Group = app) -> int:
    """Runs the command of `group` that `arguments` name and returns its exit code."""
    try:
        code = group.main(
            list(arguments),
            prog_name="carrel",
            standalone_mode=False,
            windows_expand_args=False,
            obj=session or Session(),
        )
    except click.Abort:
        return INTERRUPTED
    except click.exceptions.NoArgsIsHelpError as error:
        error.show(sys.stderr)
        return error.exit_code
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        path = context.command_path if context else "carrel"
        if "--json-errors" in arguments:  # unparsed words: the option was not applied
            report(ArgumentError([f"{error.format_message()} See '{path} --help'"]), as_json=True)
        else:
            complain(f"carrel: {error.format_message()}\n  what to do: see '{path} --help'")
        return error.exit_code
    return code if isinstance(code, int) else 0
