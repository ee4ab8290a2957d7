"""Declares the options that choose a part of a text that a command reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

FORMATS = ("markdown", "text")


def part_options(
    least: int, most: int | None = None, *, section: str = "this heading or number"
) -> Callable[[Decorated], Decorated]:
    """Returns a decorator for `--section`, `--from` (as `start`) and `--max-chars`.

    Args:
        least: the smallest value of `--max-chars`.
        most: the largest value of `--max-chars`; None for any.
        section: what names a section.
    """
    options = (
        click.option("--section", metavar="HEADING", help=f"Only the section below {section}."),
        click.option(
            "--from",
            "start",
            metavar="N",
            type=click.IntRange(min=0),
            help="Begin at this character, as the end of a cut text says.",
        ),
        click.option(
            "--max-chars",
            metavar="N",
            type=click.IntRange(least, most),
            help="At most so many characters, to the end of a paragraph.",
        ),
    )

    def declare(work: Decorated) -> Decorated:
        for option in reversed(options):
            work = option(work)
        return work

    return declare


def format_option(
    formats: Sequence[str] = FORMATS, help_text: str = "markdown is the default."
) -> Callable[[Decorated], Decorated]:
    """Returns a decorator for `--format` (as `text_format`); the default is the first."""
    return click.option(
        "--format", "text_format", type=click.Choice(formats), default=formats[0], help=help_text
    )
