"""Reads small XML elements under limits, and escapes text for XML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NoReturn
from xml.parsers import expat

from .limits import MAX_DEPTH

#: Characters that XML 1.0 cannot hold.
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
#: Elements of the largest record.
_MAX_ELEMENTS: Final = 100_000
_ESCAPES: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\r": "&#13;"}
_SPECIAL = re.compile('[&<>"\r]')


class XmlFault(Exception):
    """An element that is not well-formed or exceeds a limit."""


@dataclass(slots=True)
class XmlElement:
    """An element: its children are elements and texts, in their order."""

    name: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list[XmlElement | str] = field(default_factory=list)

    def elements(self, *path: str) -> Iterator[XmlElement]:
        """Yields the elements at a path below this one."""
        for child in self.children:
            if isinstance(child, XmlElement) and child.name == path[0]:
                if len(path) > 1:
                    yield from child.elements(*path[1:])
                else:
                    yield child

    def text(self) -> str:
        """Returns the text of the element and those in it."""
        return "".join(child if isinstance(child, str) else child.text() for child in self.children)


def read_element(source: str) -> XmlElement:
    """Returns an element that is alone in a text.

    A document type is refused, so there are no entities but XML's own; expat loads nothing.

    Raises:
        XmlFault: it is not well-formed, nested too deeply, or has too many elements.
    """
    root = XmlElement("")
    stack = [root]
    count = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        if len(stack) > MAX_DEPTH or count > _MAX_ELEMENTS:
            raise XmlFault("it has too many elements, or they are nested too deeply")
        element = XmlElement(name.lower(), attributes)
        stack[-1].children.append(element)
        stack.append(element)

    def text(data: str) -> None:
        stack[-1].children.append(data)

    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    parser.StartElementHandler = start
    parser.EndElementHandler = lambda _: stack.pop()
    parser.CharacterDataHandler = text
    parser.StartDoctypeDeclHandler = _refuse
    try:
        parser.Parse(_ILLEGAL.sub(" ", source).encode("utf-8"), True)
    except expat.ExpatError as error:
        raise XmlFault(f"it is not well-formed XML: {expat.ErrorString(error.code)}") from None
    return next(
        root.elements(*[child.name for child in root.children if isinstance(child, XmlElement)])
    )


def _refuse(*_: object) -> NoReturn:
    raise XmlFault("it has a document type, which is not read")


def xml_escaped(text: str) -> str:
    """Returns a text as the content of an element or attribute."""
    return _SPECIAL.sub(lambda found: _ESCAPES[found[0]], _ILLEGAL.sub(" ", text))
