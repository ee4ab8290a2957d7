"""Defines what a surface's `shapes.py` consists of: pure functions for tools and resources."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from carrel.errors import CarrelError

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


def same_arguments(arguments: Arguments) -> Json:
    """Returns the arguments as they are."""
    return dict(arguments)


def same_result(_arguments: Arguments, result: Json) -> Json | Text:
    """Returns the result as it is."""
    return result


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
    """

    arguments: Callable[[Arguments], Json] = same_arguments
    result: Callable[[Arguments, Json], Json | Text] = same_result
    failure: Callable[[Arguments, CarrelError], Json] | None = None
