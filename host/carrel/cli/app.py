"""Defines the command group `carrel`; each command's module is imported when it is used."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

import click

from carrel.errors import ArgumentError

from .command import CONFIG, DEBUG, EXCHANGE, JSON_ERRORS, ExampleGroup
from .report import INTERRUPTED, complain, report
from .session import Session

#: command → the module and the attribute it is in
_COMMANDS = {
    "call": ("call", "call"),
    "lookup": ("lookup", "lookup"),
    "parse": ("parse", "parse_command"),
    "tools": ("tools", "tools"),
    "read-resource": ("resource", "read_resource"),
    "serve": ("serve", "serve"),
    "record": ("call", "record"),
    "plugin": ("plugin", "plugin"),
    "doctor": ("doctor", "doctor"),
}


class _Commands(ExampleGroup):
    """A group that imports a command's module when the command is named."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's seam
        """Returns the names, in the order of the help."""
        return list(_COMMANDS)

    def get_command(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's seam
        cmd_name: str,
    ) -> click.Command | None:
        """Imports and returns the command."""
        if cmd_name not in _COMMANDS:
            return None
        module, attribute = _COMMANDS[cmd_name]
        found: click.Command = getattr(import_module(f".{module}", __package__), attribute)
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Returns the command that the words name, or an error with the nearest name."""
        if args and args[0] not in _COMMANDS and not args[0].startswith("-"):
            raise click.exceptions.NoSuchCommand(args[0], possibilities=list(_COMMANDS), ctx=ctx)
        return super().resolve_command(ctx, args)


def _show_version(ctx: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
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
def _take_options(ctx: click.Context, /, **given: object) -> None:
    ctx.obj = ctx.obj.with_options(**given)


app = _Commands(
    "carrel",
    callback=_take_options,
    params=[_VERSION, CONFIG, *EXCHANGE, DEBUG, JSON_ERRORS],
    help=_HELP,
    epilog=_EPILOG,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.example = "call arxiv_query search_query=ti:electron max_results=3"


def run(arguments: Sequence[str], session: Session | None = None) -> int:
    """Runs the command that `arguments` name and returns its exit code."""
    try:
        code = app.main(
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
