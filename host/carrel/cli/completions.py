"""Implements `carrel completions`."""

from __future__ import annotations

from typing import Final

import click

from .command import command
from .output import write_text
from .report import OK
from .session import Session

SHELLS: Final = ("bash", "zsh", "fish")
#: The variable by which the script of a shell asks `carrel` for completions; click's convention.
VARIABLE: Final = "_CARREL_COMPLETE"


@command("completions", example="completions bash")
@click.argument("shell", type=click.Choice(SHELLS))
def completions(session: Session, shell: str) -> int:  # noqa: ARG001 - the configuration is unused
    """Print the script that makes a shell complete carrel's commands and options.

    SHELL is bash (4.4 or newer), zsh or fish. The script calls carrel at each completion, so it
    stays right when carrel is upgraded. In ~/.bashrc: eval "$(carrel completions bash)"
    """
    from click.shell_completion import get_completion_class

    from .app import app

    kind = get_completion_class(shell)
    assert kind is not None
    write_text(kind(app, {}, "carrel", VARIABLE).source())
    return OK
