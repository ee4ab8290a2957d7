"""Implements `carrel parse`."""

from __future__ import annotations

import gc
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from carrel.errors import (
    ArgumentError,
    CarrelError,
    ConfigError,
    LoadError,
    SourceError,
    UnknownNameError,
)
from carrel.text.utf8 import Utf8

from .document import STDIN, document_text, read_document
from .output import stdout_is_terminal, write_json_text
from .report import FAILED, OK, guarded, report
from .session import Host, Session

#: Errors of the command and not of one document; every further document would have them too.
_OF_THE_COMMAND = (UnknownNameError, ConfigError, LoadError)


def parse(
    session: Session,
    plugin: str,
    document_format: str,
    files: Sequence[str],
    *,
    options: str | None = None,
    as_json: bool = False,
) -> int:
    """Parses each of `files`, stdin when there are none, and returns the exit code.

    For one document writes its result; in a pipe that is the component's JSON text, with hidden
    characters escaped. For several writes one line of JSON each, in order, `{"file", "result"}` or
    `{"file", "error"}`; continues after an error, and then returns 1.
    """

    def work() -> int:
        job = _Job(plugin, document_format, _options(options))
        return _parse(session, job, files or (STDIN,), as_json=as_json)

    return guarded(work, debug=session.options.debug, as_json=session.options.json_errors)


def _options(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    try:
        options = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ArgumentError([f"--options is not JSON: {error}"]) from None
    if not isinstance(options, dict):
        raise ArgumentError(['--options takes a JSON object, such as {"pages": "3-7"}'])
    return options


@dataclass(frozen=True, slots=True)
class _Job:
    """The parser that reads each document, and its options."""

    plugin: str
    document_format: str
    options: Mapping[str, Any] | None

    def parse(self, host: Host, name: str, cap: int) -> memoryview:
        """The result of the document in a file."""
        about = {"plugin": self.plugin, "document_format": self.document_format}
        data = read_document(name, cap=cap, **about)
        if self.options or host.takes_bytes(self.plugin, self.document_format):
            return _with_progress(host, self, data)
        return _with_progress(host, self, document_text(data, name, **about))


def _parse(session: Session, job: _Job, files: Sequence[str], *, as_json: bool) -> int:
    readable = not as_json and stdout_is_terminal()
    config = session.config()
    cap = config.limits_for(job.plugin).response_bytes
    with session.open(config) as host:
        if len(files) == 1:
            try:
                text = job.parse(host, files[0], cap)
            except _OF_THE_COMMAND:
                raise
            except CarrelError as error:
                report(error, as_json=session.options.json_errors)
                return FAILED
            _show(text, readable=readable)
            return OK

        gc.enable()  # disabled in `__main__`; many documents create much garbage
        code = OK
        for name in files:
            try:
                text = job.parse(host, name, cap)
            except _OF_THE_COMMAND:
                raise
            except CarrelError as error:
                code = FAILED
                if readable:
                    report(error, as_json=session.options.json_errors)
                else:
                    write_json_text(f'{{"file":{json.dumps(name)},"error":{_error(error)}}}')
                continue
            if readable:
                _show(text, readable=True, heading=name)
            else:
                head = f'{{"file":{json.dumps(name)},"result":'.encode()
                write_json_text(head, _one_line(bytes(text)), b"}")
        return code


def _with_progress(host: Host, job: _Job, document: bytes | Utf8) -> memoryview:
    from .progress import Progress

    plugin, document_format = job.plugin, job.document_format
    try:
        with Progress(f"parsing as {plugin} {document_format}"):
            return host.parse_view(plugin, document_format, document, job.options)
    except SourceError as error:
        if error.error_code == "invalid_arguments":
            _refuse_unknown_format(host, plugin, document_format)
        raise


def _refuse_unknown_format(host: Host, plugin: str, document_format: str) -> None:
    """Raises if the format is not one of the plugin's, with the nearest name; the plugin's own
    error has none.
    """
    for state in host.plugins():
        if state.name == plugin and state.manifest is not None:
            known = [declared.name for declared in state.manifest.formats]
            if document_format not in known:
                raise UnknownNameError(f"format of {plugin}", document_format, known=known)


def _show(text: memoryview, *, readable: bool, heading: str | None = None) -> None:
    if not readable:
        write_json_text(text)
        return
    from .results import show_result

    show_result(json.loads(bytes(text)), heading=heading)


def _one_line(text: bytes) -> bytes:
    """Returns a JSON text on one line: outside strings, line breaks are only white space."""
    if b"\n" in text or b"\r" in text:
        return text.replace(b"\r", b" ").replace(b"\n", b" ")
    return text


def _error(error: CarrelError) -> str:
    return json.dumps(error.to_dict(), ensure_ascii=False, separators=(",", ":"), default=str)
