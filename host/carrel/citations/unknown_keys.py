"""Defines the error of a key that no work has: near keys, and how to list all of them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from carrel.errors import CarrelError
from carrel.text.printable import printable

from .items import nearest_keys

#: Keys of a file that the advice shows; of a library it names the command that lists them.
_SHOWN: Final = 10


class UnknownKeyError(CarrelError):
    """No work has the key.

    Attributes:
        key: that was given.
        near: keys that resemble it, the nearest first.

    Args:
        key: see above.
        known: the keys of all works.
        where: the place of the citation in a manuscript, for the message; may be empty.
        items_file: the file that has the works; None for the library.
        library: path of the library.
    """

    code = "not_found"

    def __init__(
        self,
        key: str,
        known: Collection[str],
        *,
        where: str = "",
        items_file: str | None = None,
        library: str = "",
    ) -> None:
        self.key = key
        self.near = nearest_keys(key, known)
        self._known = known
        self._items_file = items_file
        self._library = library
        near = printable(", ".join(self.near), 200)
        hint = f"; did you mean {near}?" if near else ""
        super().__init__(f"{where}no work has the key {printable(key, 100)}{hint}")

    @property
    def advice(self) -> str:
        """How to see the keys there are, or how to add a work where there is none."""
        if self._items_file is None:
            if not self._known:
                return (
                    f"{printable(self._library, 300)} has no works: add one with carrel library "
                    "add, or give works with --items FILE"
                )
            return (
                "carrel library list shows the keys, and carrel library search WORDS finds one; "
                "carrel library add adds a work"
            )
        shown = printable(self._items_file, 300)
        if not self._known:
            return f"{shown} has no works; name another file with --items"
        keys = printable(", ".join(sorted(self._known)[:_SHOWN]), 400)
        more = len(self._known) - _SHOWN
        return f"the keys of {shown} are {keys}" + (f" and {more} more" if more > 0 else "")

    @property
    def paths(self) -> tuple[str, ...]:
        """The library, which the advice may name."""
        return (self._library,) if self._library else ()

    def details(self) -> dict[str, Any]:
        """Adds the near keys."""
        return {"near": list(self.near)} if self.near else {}
