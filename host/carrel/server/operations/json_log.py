"""Formats log records as one JSON object a line.

`time`, `level`, `logger` and `message` are always there; `principal`, `session`, `request_id`,
`method`, `tool` and `trace_id` in lines of a request, `principal` also in that of a refused one;
`exception` with the traceback; `fetch` with the facts of a request to an upstream.
"""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from typing import Any, Final

from carrel.text.printable import escaped_json

from .redaction import LogRedactor
from .request_facts import described

#: Characters of a message, and of a traceback.
_LONGEST: Final = 10_000


class JsonFormatter(logging.Formatter):
    """Writes records as JSON; control and hidden characters are escaped.

    Args:
        redact: removes secrets from every text.
    """

    def __init__(self, redact: LogRedactor) -> None:
        super().__init__()
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        """Returns the line, without its end."""
        at = datetime.fromtimestamp(record.created, UTC)
        line: dict[str, Any] = {
            "time": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": self._text(record.getMessage()),
            **{key: self._redact(value) for key, value in described().items()},
        }
        principal = getattr(record, "principal", None)
        if isinstance(principal, str):
            line["principal"] = self._text(principal)
        fetch = getattr(record, "fetch", None)
        if isinstance(fetch, dict):
            line["fetch"] = {
                key: self._text(value) if isinstance(value, str) else value
                for key, value in fetch.items()
            }
        if record.exc_info:
            line["exception"] = self._text(self.formatException(record.exc_info))
        text = json.dumps(line, ensure_ascii=False, separators=(",", ":"), default=str)
        return escaped_json(text.encode("utf-8", "replace")).decode()

    def _text(self, text: str) -> str:
        text = self._redact(text)
        return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
