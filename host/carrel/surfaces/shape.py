"""Defines what a surface's `shapes.py` consists of: pure functions for tools and resources."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from carrel.errors import CarrelError, PluginError, UnknownNameError
from carrel.plugins.calls.result import LinkOffer

Json = dict[str, Any]
#: The arguments of a client; never changed.
Arguments = Mapping[str, Any]

#: The JSON value of a plugin's resource → the one for clients.
ResourceShape = Callable[[Json], Json]


@dataclass(frozen=True, slots=True)
class Text:
    """A result whose text is not JSON.

    Attributes:
        text: the text content.
        data: the structured content.
    """

    text: str
    data: Json


@dataclass(frozen=True, slots=True)
class Blocks:
    """A result of texts only, without structured content.

    Attributes:
        texts: a content block each.
        data: the result, for programs in this process.
    """

    texts: tuple[str, ...]
    data: Json


def same_arguments(arguments: Arguments) -> Json:
    """Returns the arguments as they are."""
    return dict(arguments)


def same_result(_arguments: Arguments, result: Json) -> Json | Text | Blocks:
    """Returns the result as it is."""
    return result


def same_meta(meta: Mapping[str, Any], _result: Json) -> Mapping[str, Any]:
    """Returns the members as they are."""
    return meta


@dataclass(frozen=True, slots=True)
class Shape:
    """The functions of one tool; the default ones change nothing.

    Attributes:
        arguments: returns the arguments of Carrel's tool from those of the client, which satisfy
            the surface's input schema.
        result: returns the result for the client from its arguments and the result of Carrel's
            tool.
        failure: returns the result for a failed call, or for refused arguments; None reports
            failures as Carrel does.
        link: returns the summary sent in place of a large result, which the server may replace by
            a link; None for a result that is always inline.
        meta: returns the members of `_meta` from those of Carrel's tool and its result.
    """

    arguments: Callable[[Arguments], Json] = same_arguments
    result: Callable[[Arguments, Json], Json | Text | Blocks] = same_result
    failure: Callable[[Arguments, CarrelError], Json] | None = None
    link: Callable[[Arguments, Json], LinkOffer | None] | None = None
    meta: Callable[[Mapping[str, Any], Json], Mapping[str, Any]] = same_meta


class TargetMissingError(PluginError):
    """A tool of a surface cannot be called, because Carrel's tool is not offered."""

    code = "plugin_unavailable"

    def __init__(self, name: str, target: str, reason: UnknownNameError) -> None:
        super().__init__(f"{name} needs {target}: {reason.message}", tool=name)
        self._reason = reason

    @property
    def paths(self) -> tuple[str, ...]:
        """Paths in the reason."""
        return self._reason.paths

    def details(self) -> dict[str, Any]:
        """Adds what the reason has."""
        return self._reason.details()
