"""Recorded exchanges as files that people can read, compare and edit.

    001-GET-export-arxiv-org-api-query-1c9a04be.json     the request and how it ended
    001-GET-export-arxiv-org-api-query-1c9a04be.xml      the body as the plugin got it, UTF-8
    002-GET-arxiv-org-pdf-2401-12345-77e1bb02.pdf        a file that was downloaded, as it came

The JSON names the method, the URL as the plugin asked, its own headers and body, and either
`response` (status, url, headers, and the name of the file with the body) or `failure` (kind, url,
message, and what belongs to the kind). The host's identity and secrets are in neither: they were
attached behind this seam.

Every `*.json` file that is an exchange is read, whatever its name: files may be written by hand.
The number that `keep` gives a file keeps the files in the order they were first made. What an
exchange answers is decided by its method, normalised URL (the order of the query kept), headers and
body. Every other file is listed in `Recordings.skipped`, unless it is the body of an exchange.
"""

from __future__ import annotations

import glob
import hashlib
import json
import logging
import re
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from carrel.errors import StorageError
from carrel.exchange import Failure, FailureKind, Outcome, Request, Response
from carrel.files.atomic_write import write_atomically

from .url import UrlFault, parse_url

FORMAT = 1

logger = logging.getLogger(__name__)

_NUMBERED = re.compile(r"(\d{3,})-.*\.json")
_EXTENSIONS = (("json", ".json"), ("html", ".html"), ("xml", ".xml"))


def exchange_key(request: Request) -> str:
    """Hashes what decides whether a recorded exchange answers a request."""
    target = parse_url(request.url)
    url = request.url if isinstance(target, UrlFault) else target.url
    body = request.body if request.method == "POST" else ""
    headers = sorted((name.lower(), value) for name, value in request.headers)
    text = json.dumps([request.method, url, headers, body])
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file in a folder of exchanges that answers no request.

    Attributes:
        name: of the file.
        reason: why, for a person.
    """

    name: str
    reason: str

    def __str__(self) -> str:
        """One line for a person."""
        return f"{self.name} was skipped: {self.reason}"


class Recordings:
    """The exchanges of one folder. Thread-safe.

    Attributes:
        skipped: the files that answer no request, by name. Hidden files and Markdown are for
            people and left out.

    Raises:
        StorageError: the folder cannot be read, or holds an exchange that is damaged.
    """

    def __init__(self, directory: Path, *, create: bool = False) -> None:
        self.directory = directory
        self._lock = threading.Lock()
        self._names: dict[str, str] = {}
        self._bodies: dict[str, str] = {}
        self._requests: dict[str, Request] = {}
        self._last = 0
        try:
            if create:
                directory.mkdir(parents=True, exist_ok=True)
            paths = sorted(directory.iterdir())
            folders = {path.name for path in paths if path.is_dir()}
        except OSError as fault:
            raise StorageError(str(directory), _reason(fault)) from fault
        reasons: dict[str, str] = {}
        for name in (path.name for path in paths):
            if not is_for_people(name):
                reasons |= {name: "it is a folder"} if name in folders else self._read(name)
        bodies = set(self._bodies.values())
        self.skipped = tuple(
            Skipped(name, reason) for name, reason in reasons.items() if name not in bodies
        )
        for skipped in self.skipped:
            logger.warning("%s: %s", directory, skipped)

    def __len__(self) -> int:
        return len(self._names)

    @property
    def requests(self) -> tuple[Request, ...]:
        """The recorded requests, in the order of their files."""
        with self._lock:
            names = sorted(self._names.values())
            return tuple(self._requests[name] for name in names)

    def failures(self) -> list[tuple[Request, Failure]]:
        """The exchanges that ended without an answer.

        Raises:
            StorageError: a file is damaged.
        """
        outcomes = [(request, self.find(request)) for request in self.requests]
        return [(request, outcome) for request, outcome in outcomes if isinstance(outcome, Failure)]

    def _read(self, name: str) -> dict[str, str]:
        """Reads a file; returns the files that answer no request because of it: name → reason.

        Raises:
            StorageError: it says that it is one, or its name does, and it is damaged.
        """
        path = self.directory / name
        if path.suffix.lower() != ".json":
            return {name: "it is neither a .json file nor the body of an exchange"}
        if name.lower().endswith(".body.json"):
            return {name: "no exchange names it as its body"}
        numbered = _NUMBERED.fullmatch(name)
        try:
            exchange = self._load(name)
        except StorageError:
            if numbered:
                raise
            return {name: _why_no_exchange(path)}
        request = _read_request(exchange, path)
        key = exchange_key(request)
        before = self._names.get(key)
        self._names[key] = name
        self._requests[name] = request
        response = exchange.get("response", {})
        for member in ("body", "file"):
            if isinstance(response, dict) and member in response:
                self._bodies[name] = str(response[member])
        if numbered:
            self._last = max(self._last, int(numbered[1]))
        return {} if before is None else {before: f"{name} answers the same request"}

    def find(self, request: Request) -> Outcome | None:
        """Returns the recorded outcome of a request; None when it was not recorded.

        Raises:
            StorageError: the files are damaged.
        """
        with self._lock:
            name = self._names.get(exchange_key(request))
        return None if name is None else self._read_outcome(self._load(name), self.directory / name)

    def find_file(self, request: Request) -> Path | None:
        """Returns the path of the body of a recorded download; None when there is none.

        Raises:
            StorageError: the files are damaged.
        """
        with self._lock:
            name = self._names.get(exchange_key(request))
        if name is None:
            return None
        found = self._load(name).get("response", {})
        for member in ("file", "body"):
            if member in found:
                return self.directory / _plain_name(str(found[member]), self.directory / name)
        return None

    def keep(self, request: Request, outcome: Outcome, file: bytes | None = None) -> None:
        """Writes an exchange; replaces one of the same request.

        Args:
            request: as it was made.
            outcome: how it ended.
            file: what was downloaded; None for other requests.

        Raises:
            StorageError: the folder cannot be written.
        """
        key = exchange_key(request)
        with self._lock:
            name = self._names.get(key)
            if name is None:
                self._last += 1
                name = f"{self._last:03d}-{request.method}-{_slug(request)}-{key[:8]}.json"
            stem = name.removesuffix(".json")
            exchange: dict[str, Any] = {"format": FORMAT, "request": _request_dict(request)}
            body_name, body = None, b""
            if isinstance(outcome, Response):
                exchange["response"] = {
                    "status": outcome.status,
                    "url": outcome.url,
                    "headers": [list(header) for header in outcome.headers],
                    "size": outcome.size,
                }
                if file is not None:
                    body, member, ending = file, "file", _file_extension(outcome)
                else:
                    body, member, ending = outcome.body.encode(), "body", _extension(outcome)
                if body:
                    body_name = self._body_name(stem, body, ending)
                    exchange["response"][member] = body_name
            else:
                exchange["failure"] = _failure_dict(outcome)
            try:
                # The body first, so that every exchange has its body.
                if body_name is not None:
                    _write(self.directory / body_name, body)
                text = json.dumps(exchange, indent=2, ensure_ascii=False) + "\n"
                _write(self.directory / name, text.encode())
                self._bodies.pop(name, None)
                if body_name is not None:
                    self._bodies[name] = body_name
                self._names[key] = name
                self._requests[name] = request
                used = {*self._names.values(), *self._bodies.values()}
                for old in self.directory.glob(f"{glob.escape(stem)}.*"):
                    if old.name not in used:
                        old.unlink()
            except OSError as fault:
                raise StorageError(str(self.directory / name), _reason(fault)) from fault

    def _body_name(self, stem: str, body: bytes, ending: str) -> str:
        """Returns a name that no other body has: an exchange that names one may still be read.

        A process that is killed between the two files would leave one exchange with another's body.
        """
        plain = stem + ending
        try:
            taken = (self.directory / plain).read_bytes() != body
        except FileNotFoundError:
            taken = False
        except OSError as fault:
            raise StorageError(str(self.directory / plain), _reason(fault)) from fault
        if not taken:
            return plain
        return f"{stem}.{hashlib.sha256(body).hexdigest()[:8]}{ending}"

    def _load(self, name: str) -> dict[str, Any]:
        path = self.directory / name
        try:
            exchange = json.loads(path.read_bytes())
        except OSError as fault:
            raise StorageError(str(path), _reason(fault)) from fault
        except (ValueError, RecursionError) as fault:
            raise StorageError(str(path), "not a recorded exchange: invalid JSON") from fault
        if not isinstance(exchange, dict) or exchange.get("format") != FORMAT:
            raise StorageError(str(path), f"not a recorded exchange of format {FORMAT}")
        return exchange

    def _read_outcome(self, exchange: dict[str, Any], path: Path) -> Outcome:
        try:
            if "failure" in exchange:
                return _read_failure(exchange["failure"])
            found = exchange["response"]
            body = ""
            if "body" in found:
                name = _plain_name(str(found["body"]), path)
                body = (path.parent / name).read_bytes().decode()
            headers = tuple((str(name), str(value)) for name, value in found.get("headers", ()))
            return Response(
                int(found["status"]),
                str(found.get("url", exchange["request"]["url"])),
                headers,
                body,
                int(found.get("size", len(body.encode()))),
            )
        except OSError as fault:
            raise StorageError(f"{path}, its body", _reason(fault)) from fault
        except KeyError as fault:
            raise StorageError(str(path), f"not a recorded exchange: no member {fault}") from fault
        except (AttributeError, TypeError, ValueError) as fault:
            raise StorageError(str(path), f"not a recorded exchange: {fault}") from fault


def _plain_name(name: str, path: Path) -> str:
    if Path(name).name != name:
        raise StorageError(str(path), "its body is in another folder")
    return name


def is_for_people(name: str) -> bool:
    """Whether a file among exchanges or fixtures is a note, which no program reads."""
    return name.startswith(".") or name.lower().endswith(".md")


def _why_no_exchange(path: Path) -> str:
    """Returns why a JSON file is no exchange of this format."""
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as fault:
        return f"it is not JSON: {fault}"
    if isinstance(value, dict) and "format" in value:
        return f'its "format" is not {FORMAT}'
    if isinstance(value, dict) and "request" in value:
        return f'an exchange begins with "format": {FORMAT}'
    return 'it is not an exchange: it has no "format" and no "request"'


def _read_failure(found: dict[str, Any]) -> Failure:
    unknown = sorted(set(found) - {*Failure._fields})
    if unknown:
        raise ValueError(f"failure has unknown members: {', '.join(unknown)}")
    return Failure(**{**found, "kind": FailureKind(found["kind"])})


def _read_request(exchange: dict[str, Any], path: Path) -> Request:
    try:
        found = exchange["request"]
        return Request(
            method=found["method"],
            url=found["url"],
            headers=tuple((str(name), str(value)) for name, value in found.get("headers", ())),
            body=found.get("body", ""),
        )
    except KeyError as fault:
        raise StorageError(str(path), f"not a recorded exchange: no member {fault}") from fault
    except (AttributeError, TypeError, ValueError) as fault:
        raise StorageError(str(path), f"not a recorded exchange: {fault}") from fault


def _request_dict(request: Request) -> dict[str, Any]:
    shown: dict[str, Any] = {"method": request.method, "url": request.url}
    if request.headers:
        shown["headers"] = [list(header) for header in request.headers]
    if request.body:
        shown["body"] = request.body
    return shown


def _failure_dict(failure: Failure) -> dict[str, Any]:
    defaults = {"reason": "", "grant": "", "seconds": 0.0, "number": 0}
    shown = failure._asdict() | {"kind": failure.kind.value}
    return {key: value for key, value in shown.items() if value != defaults.get(key)}


def _slug(request: Request) -> str:
    text = request.url.partition("://")[2] or request.url
    slug = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    return slug[:40].rstrip("-") or "url"


def _file_extension(response: Response) -> str:
    return ".pdf" if _media_type(response) == "application/pdf" else ".bin"


def _media_type(response: Response) -> str:
    return dict(response.headers).get("content-type", "").partition(";")[0].strip().lower()


def _extension(response: Response) -> str:
    kind = _media_type(response)
    extension = next((extension for word, extension in _EXTENSIONS if word in kind), ".txt")
    return ".body.json" if extension == ".json" else extension


def _write(path: Path, data: bytes) -> None:
    # For people to read and share, and made anew when it is lost: the umask's mode, no flush.
    write_atomically(path, data, mode=None, flush=False)


def _reason(fault: OSError) -> str:
    return fault.strerror or type(fault).__name__
