"""Declares commands: the common options, an example, and the handling of errors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from .report import guarded
from .session import Session

_File = click.Path(path_type=Path)

CONFIG = click.Option(
    ["--config"],
    type=_File,
    metavar="FILE",
    help="Read this configuration file instead of the default one.",
)
RECORD = click.Option(
    ["--record"], type=_File, metavar="DIR", help="Write every exchange with an upstream to DIR."
)
REPLAY = click.Option(
    ["--replay"],
    type=_File,
    metavar="DIR",
    help="Replay recordings in DIR instead of querying upstreams.",
)
REFRESH = click.Option(["--refresh"], is_flag=True, help="Bypass the cache.")
DEBUG = click.Option(
    ["--debug"], is_flag=True, help="Show the log, and the traceback of a failure."
)
JSON_ERRORS = click.Option(
    ["--json-errors"], is_flag=True, help="Write errors to stderr as one line of JSON."
)
LIBRARY = click.Option(
    ["--library"],
    type=_File,
    metavar="FILE",
    help="Use this library in place of the configured one.",
)
AS_JSON = click.Option(
    ["--json", "as_json"], is_flag=True, help="Print JSON on a terminal too, as in a pipe."
)

SHARED = (CONFIG, DEBUG, JSON_ERRORS)
EXCHANGE = (RECORD, REPLAY, REFRESH)

Work = Callable[..., int]

#: The key of click's `Context.meta` that records `--help` after a tool's name.
HELP_OF = "carrel.help_of"


class _WithExample(click.Command):
    """Help that ends with an example.

    Attributes:
        example: the words after `carrel`.
    """

    example: str = ""

    def get_short_help_str(self, limit: int = 45) -> str:  # noqa: ARG002 - click's seam
        """Returns the help's first sentence without truncation; in a list it may take two lines."""
        return super().get_short_help_str(limit=1000)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the example without wrapping, and the epilog."""
        with formatter.section("Example"):
            formatter.write(f"  carrel {self.example}\n")
        super().format_epilog(ctx, formatter)


class ExampleCommand(_WithExample):
    """A command with an example."""


class ToolCommand(ExampleCommand):
    """A command whose first word is a tool: `--help` after one shows that tool."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Records the tool for which help is requested; otherwise parses the words as usual."""
        words = args[: args.index("--")] if "--" in args else args
        if any(word in ctx.help_option_names for word in words):
            parsed, _, _ = self.make_parser(ctx).parse_args(list(args))
            if isinstance(parsed.get("tool"), str):
                ctx.meta[HELP_OF] = parsed["tool"]
                args = [word for word in args if word not in ctx.help_option_names]
        return super().parse_args(ctx, args)


class ExampleGroup(_WithExample, click.Group):
    """A group of commands with an example."""


def command(
    name: str,
    *,
    example: str,
    options: tuple[click.Option, ...] = (),
    kind: type[ExampleCommand] = ExampleCommand,
) -> Callable[[Work], ExampleCommand]:
    """Turns a function that takes a `Session` and returns an exit code into a command.

    Its other parameters are declared with click's decorators below this one; its docstring is the
    help.
    """

    def declare(work: Work) -> ExampleCommand:
        def invoke(**params: Any) -> int:
            shared = {
                key: params.pop(key, None)
                for key in (
                    "config",
                    "library",
                    "record",
                    "replay",
                    "refresh",
                    "debug",
                    "json_errors",
                )
            }
            session: Session = click.get_current_context().obj.with_options(**shared)
            return guarded(
                lambda: work(session, **params),
                debug=session.options.debug,
                as_json=session.options.json_errors,
            )

        invoke.__doc__ = work.__doc__
        # click collects the decorators' parameters on the function, last one first.
        own: list[click.Parameter] = list(reversed(getattr(work, "__click_params__", [])))
        made = kind(name, callback=invoke, params=[*own, *options, *SHARED], help=work.__doc__)
        made.example = example
        return made

    return declare
