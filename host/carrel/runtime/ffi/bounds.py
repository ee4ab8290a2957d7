"""Limits how much is read of a guest's values, and defines the errors."""

from __future__ import annotations

from typing import Literal

#: Types of a host function's parameters and result besides those of `fetch`.
Plain = Literal["string", "enum", "u32", "u64"]
PlainResult = Literal["string", "u32", "u64"]

#: Maximum bytes and items that are read of a guest's requests. The rest is neither copied nor
#: decoded, because the GIL is held. The fetch layer's limits are far lower, so it refuses a value
#: that was cut.
MAX_URL_BYTES = 2**16
MAX_HEADERS = 64
MAX_HEADER_BYTES = 2**13
MAX_BODY_BYTES = 2**23
#: Bytes that are read of a log line, of a progress message and of a setting's name.
MAX_WORDS = 4096


class MismatchError(Exception):
    """A guest passed or returned a value of another type than the contract's."""


class OutputError(Exception):
    """A guest returned more text than its limit allows."""
