"""Recorded exchanges as files a person can read, compare and edit.

    001-GET-export-arxiv-org-api-query-1c9a04be.json     the request and how it ended
    001-GET-export-arxiv-org-api-query-1c9a04be.xml      the body as the plugin got it, UTF-8

The JSON names the method, the URL as the plugin asked, its own headers and body, and either
`response` (status, url, headers, body's file) or `failure` (kind, url, message, and what belongs to
the kind). The host's identity and secrets are in neither: they were attached behind this seam.

The number only keeps the files in the order they were first made. What an exchange answers is
decided by its method, normalised URL (the order of the query kept), headers and body.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
import threading
from pathlib import Path
from typing import Any

from carrel.errors import StorageError
from carrel.exchange import Failure, FailureKind, Outcome, Request, Response
from carrel.wholefile import write_whole

from .url import UrlFault, parse_url

FORMAT = 1

_NUMBERED = re.compile(r"(\d{3,})-.*\.json")
_EXTENSIONS = (("json", ".json"), ("html", ".html"), ("xml", ".xml"))


def exchange_key(request: Request) -> str:
    """What decides whether a recorded exchange answers a request, as a hash."""
    target = parse_url(request.url)
    url = request.url if isinstance(target, UrlFault) else target.url
    body = request.body if request.method == "POST" else ""
    headers = sorted((name.lower(), value) for name, value in request.headers)
    text = json.dumps([request.method, url, headers, body])
    return hashlib.sha256(text.encode()).hexdigest()


class Recordings:
    """The exchanges of one folder. Thread-safe.

    Raises:
        StorageError: the folder cannot be read, or holds a file that is no recording.
    """

    def __init__(self, directory: Path, *, create: bool = False) -> None:
        self.directory = directory
        self._lock = threading.Lock()
        self._names: dict[str, str] = {}
        self._last = 0
        try:
            if create:
                directory.mkdir(parents=True, exist_ok=True)
            names = sorted(path.name for path in directory.iterdir())
        except OSError as fault:
            raise StorageError(str(directory), _reason(fault)) from fault
        for name in names:
            numbered = _NUMBERED.fullmatch(name)
            # A body may be JSON too; exchanges are told apart by naming their format.
            if numbered and not name.endswith(".body.json"):
                exchange = self._load(name)
                self._names[exchange_key(_read_request(exchange, directory / name))] = name
                self._last = max(self._last, int(numbered[1]))

    def __len__(self) -> int:
        return len(self._names)

    def find(self, request: Request) -> Outcome | None:
        """What the request was answered with; None when it was not recorded.

        Raises:
            StorageError: the files are damaged.
        """
        with self._lock:
            name = self._names.get(exchange_key(request))
        return None if name is None else self._read_outcome(self._load(name), self.directory / name)

    def keep(self, request: Request, outcome: Outcome) -> None:
        """Writes an exchange; one of the same request is replaced.

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
            body_name = None
            if isinstance(outcome, Response):
                exchange["response"] = {
                    "status": outcome.status,
                    "url": outcome.url,
                    "headers": [list(header) for header in outcome.headers],
                    "size": outcome.size,
                }
                if outcome.body:
                    body_name = self._body_name(stem, outcome)
                    exchange["response"]["body"] = body_name
            else:
                exchange["failure"] = _failure_dict(outcome)
            try:
                # The body first: an exchange that is there is whole.
                if body_name is not None and isinstance(outcome, Response):
                    _write(self.directory / body_name, outcome.body.encode())
                text = json.dumps(exchange, indent=2, ensure_ascii=False) + "\n"
                _write(self.directory / name, text.encode())
                for old in self.directory.glob(f"{stem}.*"):
                    if old.name not in {name, body_name}:
                        old.unlink()
            except OSError as fault:
                raise StorageError(str(self.directory / name), _reason(fault)) from fault
            self._names[key] = name

    def _body_name(self, stem: str, response: Response) -> str:
        """A name under which no other body stands: the exchange that names one may still be read.

        A process that is killed between the two files would leave one exchange with another's body.
        """
        plain = stem + _extension(response)
        try:
            taken = (self.directory / plain).read_bytes() != response.body.encode()
        except FileNotFoundError:
            taken = False
        except OSError as fault:
            raise StorageError(str(self.directory / plain), _reason(fault)) from fault
        if not taken:
            return plain
        digest = hashlib.sha256(response.body.encode()).hexdigest()[:8]
        return f"{stem}.{digest}{_extension(response)}"

    def _load(self, name: str) -> dict[str, Any]:
        path = self.directory / name
        try:
            exchange = json.loads(path.read_bytes())
        except OSError as fault:
            raise StorageError(str(path), _reason(fault)) from fault
        except ValueError as fault:
            raise StorageError(str(path), "not a recorded exchange: invalid JSON") from fault
        if not isinstance(exchange, dict) or exchange.get("format") != FORMAT:
            raise StorageError(str(path), f"not a recorded exchange of format {FORMAT}")
        return exchange

    def _read_outcome(self, exchange: dict[str, Any], path: Path) -> Outcome:
        try:
            if "failure" in exchange:
                failure = dict(exchange["failure"])
                return Failure(kind=FailureKind(failure.pop("kind")), **failure)
            found = exchange["response"]
            body = ""
            if "body" in found:
                name = str(found["body"])
                if Path(name).name != name:
                    raise StorageError(str(path), "its body is in another folder")
                body = (path.parent / name).read_bytes().decode()
            headers = tuple((str(name), str(value)) for name, value in found["headers"])
            return Response(
                int(found["status"]), str(found["url"]), headers, body,
                int(found.get("size", len(body.encode()))),
            )  # fmt: skip
        except OSError as fault:
            raise StorageError(str(path), _reason(fault)) from fault
        except (KeyError, TypeError, ValueError) as fault:
            raise StorageError(str(path), f"not a recorded exchange: {fault}") from fault


def _read_request(exchange: dict[str, Any], path: Path) -> Request:
    try:
        found = exchange["request"]
        return Request(
            method=found["method"],
            url=found["url"],
            headers=tuple((str(name), str(value)) for name, value in found.get("headers", ())),
            body=found.get("body", ""),
        )
    except (KeyError, TypeError, ValueError) as fault:
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
    shown = dataclasses.asdict(failure) | {"kind": failure.kind.value}
    return {key: value for key, value in shown.items() if value != defaults.get(key)}


def _slug(request: Request) -> str:
    text = request.url.partition("://")[2] or request.url
    slug = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    return slug[:40].rstrip("-") or "url"


def _extension(response: Response) -> str:
    kind = dict(response.headers).get("content-type", "").partition(";")[0].lower()
    extension = next((extension for word, extension in _EXTENSIONS if word in kind), ".txt")
    return ".body.json" if extension == ".json" else extension


def _write(path: Path, data: bytes) -> None:
    # For people to read and share, and made anew when it is lost: the umask's mode, no flush.
    write_whole(path, data, mode=None, flush=False)


def _reason(fault: OSError) -> str:
    return fault.strerror or type(fault).__name__
