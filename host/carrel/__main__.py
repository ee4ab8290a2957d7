"""The command `carrel`, also `python -m carrel`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from .cli.session import Session


def main(arguments: Sequence[str] | None = None, session: Session | None = None) -> int:
    """Runs one command and returns its exit code: 0 ok, 1 failed, 2 misuse, 3 denied.

    A pipe whose reader went away ends with 141, an interrupt with 130, as a shell expects. `parse`
    ends the process itself.

    Args:
        arguments: the words after the command's name; the process's own when None.
        session: what to work with instead of the user's own host.
    """
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    try:
        if arguments[:1] == ["parse"]:
            _parse_and_exit(arguments, session)
        from .cli.app import run

        code = run(arguments, session)
    except KeyboardInterrupt:
        code = 130
    if code == 130:
        # An interrupt that arrives in code from a string (a dataclass is made by such) is noted by
        # CPython as one that nobody caught, and `python -m carrel` would end by the signal, not
        # with the code. The next code from a string takes the note back.
        exec("")  # noqa: S102 - nothing is run
    return code


def _parse_and_exit(arguments: Sequence[str], session: Session | None) -> NoReturn:
    """Parses as quickly as a process can, and ends it.

    Scripts run `parse` over thousands of files, and of a small document's time all but a few
    milliseconds are Python's own. Four things it does without: importing the command-line library
    when there is no option to understand (11 ms of 120), collecting garbage while modules are
    imported (7 ms), giving large blocks of memory back in between (a tenth of a document of 10 MB),
    and taking the interpreter down piece by piece (16 ms): by then everything that was opened is
    closed and flushed.
    """
    import gc
    import os

    from .runtime.memory import keep_freed

    gc.disable()
    keep_freed()
    if _is_plain(arguments):
        from .cli.parsing import parse
        from .cli.session import Session

        code = parse(session or Session(), arguments[1], arguments[2], arguments[3:])
    else:
        from .cli.app import run

        code = run(arguments, session)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):  # closed, full, or never there
            code = code or 1
    os._exit(code)


def _is_plain(arguments: Sequence[str]) -> bool:
    """Whether this is `parse PLUGIN FORMAT [FILE…]` without a single option."""
    return len(arguments) >= 3 and all(
        not argument.startswith("-") or argument == "-" for argument in arguments
    )


if __name__ == "__main__":
    sys.exit(main())
