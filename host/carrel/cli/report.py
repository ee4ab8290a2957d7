"""Reports errors on stderr, with place and remedy, and maps them to exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from carrel.errors import CarrelError, ConfigError, InternalError, StorageError
from carrel.text.printable import printable, printable_lines

OK, FAILED, MISUSE, DENIED = 0, 1, 2, 3
INTERRUPTED = 130  # as a shell reports SIGINT
PIPE_CLOSED = 141  # as a shell reports SIGPIPE

_MISUSE = frozenset({"invalid_arguments", "unknown_tool", "config"})


def exit_code(error: CarrelError) -> int:
    """Returns 2 for wrong usage, 3 for a refusal by policy, else 1."""
    if error.error_code in _MISUSE:
        return MISUSE
    return DENIED if error.error_code == "denied" else FAILED


def describe(error: CarrelError) -> str:
    """Returns the text of an error report."""
    lines = []
    if isinstance(error, ConfigError) and len(error.faults) > 1:
        where = f"{error.path}: " if error.path else ""
        lines.append(f"carrel: {where}{len(error.faults)} faults in the configuration")
        lines += [f"  {fault}" for fault in error.faults]
    else:
        first, *more = error.message.splitlines() or [""]
        lines += [f"carrel: {first}", *(f"  {line}" for line in more)]
    details = error.details()
    where = _describe_position(details.get("position"))
    if where and where not in error.message:
        lines.append(f"  where: {where}")
    denial = details.get("denial_context")
    if isinstance(denial, dict):
        reason = denial.get("reason")
        lines += [f"  reason: {reason}"] if reason else []
    from .remedy import remedy

    what_to_do = remedy(error)
    if what_to_do:
        lines.append(f"  what to do: {what_to_do}")
    if error.error_code == "internal":
        lines.append("  the details: run the command again with --debug")
    return "\n".join(printable(line, 4000).rstrip() for line in lines)


def _describe_position(position: object) -> str:
    if isinstance(position, dict):
        return ", ".join(f"{key} {value}" for key, value in position.items() if value != "")
    return "" if position is None else str(position)


def report(error: CarrelError, *, as_json: bool = False) -> None:
    """Writes `error` to stderr: as text, or as one line of JSON, `{"error": {…}}`."""
    if as_json:
        import json

        text = json.dumps({"error": error.to_dict()}, ensure_ascii=True, default=str)
    else:
        text = describe(error)
    complain(text)


def complain(text: str) -> None:
    """Writes lines to stderr without hidden characters; ignores a closed stderr."""
    try:
        sys.stderr.write(printable_lines(text) + "\n")
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        pass  # stderr is gone


def guarded(work: Callable[[], int], *, debug: bool = False, as_json: bool = False) -> int:
    """Runs a command and converts exceptions to a message and an exit code.

    Shows a traceback only with --debug.
    """
    try:
        return work()
    except BrokenPipeError:
        _forget_stdout()
        return PIPE_CLOSED
    except KeyboardInterrupt:
        return INTERRUPTED
    except CarrelError as error:
        if debug:
            _show_traceback()
        report(error, as_json=as_json)
        return exit_code(error)
    except OSError as error:
        if debug:
            _show_traceback()
        _forget_stdout()  # with a full disk, Python's flush at exit would fail again
        name = str(error.filename) if error.filename else "output"
        report(StorageError(name, error.strerror or str(error)), as_json=as_json)
        return FAILED
    except Exception as error:  # noqa: BLE001 - the last line before the user
        if _is_abort(error):
            complain("")  # ends the line of the prompt
            return INTERRUPTED
        _report_bug(error, debug=debug, as_json=as_json)
        return FAILED


def _report_bug(error: Exception, *, debug: bool, as_json: bool) -> None:
    """Reports an exception that no layer expects."""
    if debug:
        _show_traceback()
    elif as_json:
        report(InternalError(), as_json=True)
    else:
        complain(
            f"carrel: internal error: {type(error).__name__}\n"
            "  what to do: run the command again with --debug and report what it shows"
        )


def _is_abort(error: Exception) -> bool:
    """Returns whether a prompt was answered by Ctrl-C or the end of the input.

    Without click there is no prompt; it is not imported here, because `parse` does without it.
    """
    click = sys.modules.get("click")
    return click is not None and isinstance(error, click.Abort)


def _show_traceback() -> None:
    import traceback

    complain(traceback.format_exc().rstrip())


def _forget_stdout() -> None:
    """Redirects stdout to the null device, so that Python's flush at exit cannot fail."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    except (OSError, ValueError, AttributeError):
        pass
