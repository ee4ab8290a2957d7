"""Counts the definitions of a component's binary, for sections that are appended to it.

Indices of the binary format count earlier definitions, so an appended definition that refers to
others needs their counts. The input is not trusted: wasmtime validates the resulting component.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from .leb128 import read_leb128
from .sections import sections

#: Sections of the component model's binary format.
_CORE_MODULE, _CORE_INSTANCE, _INSTANCE, _ALIAS, _TYPE = 1, 2, 5, 6, 7
_CANON, _IMPORT, _EXPORT = 8, 10, 11
#: Core sorts are distinguished from the others by a bit that no sort has.
CORE = 0x100
CORE_FUNC, CORE_MODULE, CORE_INSTANCE = CORE | 0x00, CORE | 0x11, CORE | 0x12
FUNC, VALUE, TYPE, COMPONENT, INSTANCE = 0x01, 0x02, 0x03, 0x04, 0x05

#: Options of `canon lift` and `canon lower`: those without and those with an index.
UTF8, MEMORY, REALLOC, POST_RETURN = 0x00, 0x03, 0x04, 0x05
_PLAIN_OPTIONS = frozenset({0x00, 0x01, 0x02, 0x06})
_INDEXED_OPTIONS = frozenset({MEMORY, REALLOC, POST_RETURN, 0x07})


class UnreadableError(Exception):
    """A definition is malformed, or newer than this reader."""


@dataclass(frozen=True, slots=True)
class Lift:
    """A function made of a core function.

    Attributes:
        core_func: index of the core function.
        options: each option's number, with its index or None.
    """

    core_func: int
    options: dict[int, int | None]


@dataclass(slots=True)
class Definitions:
    """A component's definitions.

    Attributes:
        counts: how many of each sort there are; the next one's index.
        lifts: functions that are lifted here, by their index.
        instances: what instances are made of, by their index: names, sorts and indices.
        exports: sorts and indices of the exports, by name.
    """

    counts: Counter[int] = field(default_factory=Counter)
    lifts: dict[int, Lift] = field(default_factory=dict)
    instances: dict[int, list[tuple[str, int, int]]] = field(default_factory=dict)
    exports: dict[str, tuple[int, int]] = field(default_factory=dict)


def read_definitions(wasm: bytes) -> Definitions:
    """The definitions of the outermost component.

    Raises:
        UnreadableError: there is one that this reader does not know.
    """
    found = Definitions()
    for section, start, end in sections(wasm):
        reader = _Reader(wasm, start, end)
        if section == _CORE_MODULE:
            found.counts[CORE_MODULE] += 1
        elif section == _CORE_INSTANCE:
            found.counts[CORE_INSTANCE] += reader.number()
        elif section == _TYPE:
            found.counts[TYPE] += reader.number()
        elif section == _INSTANCE:
            reader.each(reader.instance, found)
        elif section == _ALIAS:
            reader.each(reader.alias, found)
        elif section == _CANON:
            reader.each(reader.canon, found)
        elif section == _IMPORT:
            reader.each(reader.imported, found)
        elif section == _EXPORT:
            reader.each(reader.exported, found)
    return found


class _Reader:
    """Reads the definitions of one section."""

    def __init__(self, wasm: bytes, start: int, end: int) -> None:
        self._wasm, self._at, self._end = wasm, start, end

    def each(self, read: Callable[[Definitions], None], found: Definitions) -> None:
        """Reads all items of the section, each by `read`."""
        for _ in range(self.number()):
            read(found)

    def number(self) -> int:
        """An unsigned number."""
        value, self._at = read_leb128(self._wasm, self._at)
        if value < 0 or self._at > self._end:
            raise UnreadableError("a number is malformed")
        return value

    def byte(self) -> int:
        """One byte."""
        if self._at >= self._end:
            raise UnreadableError("a section ends too early")
        self._at += 1
        return self._wasm[self._at - 1]

    def name(self) -> str:
        """A name."""
        length = self.number()
        start, self._at = self._at, self._at + length
        if self._at > self._end:
            raise UnreadableError("a name is longer than its section")
        return self._wasm[start : self._at].decode("utf-8", "replace")

    def extern_name(self) -> str:
        """The name of an import or export."""
        kind = self.byte()
        if kind > 1:
            raise UnreadableError(f"a name of the unknown kind {kind}")
        return self.name()

    def sort(self) -> int:
        """Reads the sort of the item that an index counts."""
        sort = self.byte()
        if sort == 0:
            return CORE | self.byte()
        if sort > INSTANCE:
            raise UnreadableError(f"the unknown sort {sort}")
        return sort

    def instance(self, found: Definitions) -> None:
        """An instance: a component that is instantiated with arguments, or exports on their own."""
        kind = self.byte()
        if kind == 0:
            self.number()
        elif kind != 1:
            raise UnreadableError(f"an instance of the unknown kind {kind}")
        parts = []
        for _ in range(self.number()):
            name = self.name() if kind == 0 else self.extern_name()
            parts.append((name, self.sort(), self.number()))
        found.instances[found.counts[INSTANCE]] = parts
        found.counts[INSTANCE] += 1

    def alias(self, found: Definitions) -> None:
        """Another name for what an instance or a surrounding component has."""
        sort = self.sort()
        kind = self.byte()
        self.number()
        if kind in (0, 1):
            self.name()
        elif kind == 2:
            self.number()
        else:
            raise UnreadableError(f"an alias of the unknown kind {kind}")
        found.counts[sort] += 1

    def canon(self, found: Definitions) -> None:
        """A function that is lifted, or a core function that is lowered or built in."""
        kind = self.byte()
        if kind == 0:
            self.byte()
            core_func = self.number()
            options = self.options()
            self.number()
            found.lifts[found.counts[FUNC]] = Lift(core_func, options)
            found.counts[FUNC] += 1
            return
        if kind == 1:
            self.byte()
            self.number()
            self.options()
        elif kind in (2, 3, 4):  # resource.new, resource.drop, resource.rep
            self.number()
        else:
            raise UnreadableError(f"the built-in function {kind:#04x}")
        found.counts[CORE_FUNC] += 1

    def options(self) -> dict[int, int | None]:
        """Options of a canonical definition."""
        options: dict[int, int | None] = {}
        for _ in range(self.number()):
            option = self.byte()
            if option in _INDEXED_OPTIONS:
                options[option] = self.number()
            elif option in _PLAIN_OPTIONS:
                options[option] = None
            else:
                raise UnreadableError(f"the canonical option {option:#04x}")
        return options

    def imported(self, found: Definitions) -> None:
        """An import."""
        self.extern_name()
        found.counts[self.description()] += 1

    def exported(self, found: Definitions) -> None:
        """An export, which is one more item of its sort."""
        name = self.extern_name()
        sort = self.sort()
        found.exports.setdefault(name, (sort, self.number()))
        if self.byte():
            self.description()
        found.counts[sort] += 1

    def description(self) -> int:
        """The sort that a type describes."""
        sort = self.sort()
        if sort == VALUE:
            raise UnreadableError("a value")
        # A type is equal to another, given by its index, or is a new resource.
        if sort != TYPE or self.byte() == 0:
            self.number()
        return sort
