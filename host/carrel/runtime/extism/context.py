"""The host's state of one call of a module."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


def _no_secret(_service: str, _user: str) -> str | None:
    return None


def _nobody(_what: str) -> None:
    return None


@dataclass(slots=True)
class ModuleContext:
    """The host's state of one call of a module, and its callbacks.

    Attributes:
        secret: the value of a keyring entry; None when it is not granted or not there.
        changed: called with the name of a changed list: `tools`, `prompts` or `resources`.
        updated: called with the URI of a changed document; not checked.
        status: of the last answer; 0 when there was none.
        headers: of the last answer.
    """

    secret: Callable[[str, str], str | None] = _no_secret
    changed: Callable[[str], None] = _nobody
    updated: Callable[[str], None] = _nobody
    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
