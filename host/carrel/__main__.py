"""Runs the command `carrel`, also as `python -m carrel`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from .cli.session import Session


def main(arguments: Sequence[str] | None = None, session: Session | None = None) -> int:
    """Runs one command and returns its exit code: 0 ok, 1 failed, 2 misuse, 3 denied.

    Returns 141 for a closed pipe and 130 for an interrupt, as shells expect. `parse` and `read` end
    the process themselves.

    Args:
        arguments: the words after the command's name; those of the process when None.
        session: used instead of the user's configuration, for tests.
    """
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    try:
        if arguments[:1] in (["parse"], ["read"]):
            _read_and_exit(arguments, session)
        from .cli.app import run

        code = run(arguments, session)
    except KeyboardInterrupt:
        code = 130
    if code == 130:
        # CPython marks an interrupt that arrives in code from a string (such as the code of a
        # dataclass) as uncaught, and `python -m carrel` would then end by the signal instead of the
        # exit code. Running other code from a string clears the mark.
        exec("")  # noqa: S102 - nothing is run
    return code


def _read_and_exit(arguments: Sequence[str], session: Session | None) -> NoReturn:
    """Reads documents with minimal start-up time and ends the process.

    Scripts run `parse` and `read` over thousands of files, and for a small document most of the
    time is Python's start-up. This function saves time by not importing the command-line library
    for a `parse` without options (11 ms of 120), not collecting garbage during imports (7 ms), not
    returning large memory blocks to the system (a tenth of the time for 10 MB), and not tearing
    down the interpreter (16 ms): all files are closed and flushed already.
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
        except (OSError, ValueError, AttributeError):  # closed, full, or missing
            code = code or 1
    os._exit(code)


def _is_plain(arguments: Sequence[str]) -> bool:
    """Returns whether this is `parse PLUGIN FORMAT [FILE…]` without options."""
    return (
        arguments[0] == "parse"
        and len(arguments) >= 3
        and all(not argument.startswith("-") or argument == "-" for argument in arguments)
    )


if __name__ == "__main__":
    sys.exit(main())
