"""Reads a core module's imports and exports from its bytes, before compiling it."""

from __future__ import annotations

from dataclasses import dataclass

from carrel.errors import LoadError

_TYPE, _IMPORT, _FUNCTION, _EXPORT = 1, 2, 3, 7
_KINDS = ("function", "table", "memory", "global", "tag")
#: The value types of WebAssembly 1.0 and vectors, and the two plain references.
_VALUES = {0x7F: "i32", 0x7E: "i64", 0x7D: "f32", 0x7C: "f64", 0x7B: "v128"}
_REFERENCES = {0x70: "funcref", 0x6F: "externref"}


@dataclass(frozen=True, slots=True)
class FunctionType:
    """A function's parameters and results, by WAT's names of their types."""

    parameters: tuple[str, ...] = ()
    results: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Import:
    """One import. `kind` is `function`, `table`, `memory`, `global` or `tag`."""

    module: str
    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class Outline:
    """The imports and exports of a module.

    Attributes:
        functions: exported functions with their signatures.
        memories: names of exported memories.
    """

    imports: tuple[Import, ...]
    functions: dict[str, FunctionType]
    memories: frozenset[str]


def read_outline(wasm: bytes, plugin: str) -> Outline:
    """Returns the outline of a core module.

    Raises:
        LoadError: the sections that are read here are malformed, or use what no Extism module does.
    """
    try:
        return _outline(wasm)
    except (IndexError, KeyError, ValueError) as error:
        reason = str(error) if isinstance(error, _Unknown) else "its sections are malformed"
        raise LoadError(f"{plugin}: not a valid module: {reason}", plugin=plugin) from None


class _Unknown(ValueError):
    """Possibly valid, but unknown to this reader."""


class _Reader:
    """Reads numbers and names out of a section."""

    def __init__(self, data: bytes, at: int = 0) -> None:
        self._data = data
        self.at = at

    @property
    def done(self) -> bool:
        return self.at >= len(self._data)

    def byte(self) -> int:
        self.at += 1
        return self._data[self.at - 1]

    def number(self) -> int:
        """Returns an unsigned LEB128 number of at most 64 bits."""
        value = 0
        for shift in range(0, 70, 7):
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            if not byte & 0x80:
                return value
        raise ValueError

    def count(self) -> int:
        """Returns the number of items that follow; each takes at least one byte."""
        count = self.number()
        if count > len(self._data) - self.at:
            raise ValueError
        return count

    def take(self, length: int) -> bytes:
        if length > len(self._data) - self.at:
            raise ValueError
        self.at += length
        return self._data[self.at - length : self.at]

    def name(self) -> str:
        return self.take(self.number()).decode("utf-8", "strict")


def _outline(wasm: bytes) -> Outline:
    reader = _Reader(wasm, 8)
    types: list[FunctionType] = []
    imports: list[Import] = []
    functions: list[int] = []  # the type of each, imported ones first
    exports: list[tuple[str, int, int]] = []
    while not reader.done:
        section = reader.byte()
        body = _Reader(reader.take(reader.number()))
        if section == _TYPE:
            types = [_signature(body) for _ in range(body.count())]
        elif section == _IMPORT:
            imports = [_import(body, functions) for _ in range(body.count())]
        elif section == _FUNCTION:
            functions += [body.number() for _ in range(body.count())]
        elif section == _EXPORT:
            exports = [(body.name(), body.byte(), body.number()) for _ in range(body.count())]
    return Outline(
        imports=tuple(imports),
        functions={name: types[functions[at]] for name, kind, at in exports if kind == 0},
        memories=frozenset(name for name, kind, _ in exports if kind == 2),
    )


def _signature(reader: _Reader) -> FunctionType:
    form = reader.byte()
    if form != 0x60:
        raise _Unknown(f"a type of the form {form:#x}, where a function's was expected")
    parameters = tuple(_value_type(reader) for _ in range(reader.count()))
    return FunctionType(parameters, tuple(_value_type(reader) for _ in range(reader.count())))


def _value_type(reader: _Reader) -> str:
    code = reader.byte()
    name = _VALUES.get(code) or _REFERENCES.get(code)
    if name is None:
        raise _Unknown(f"the value type {code:#x}")
    return name


def _import(reader: _Reader, functions: list[int]) -> Import:
    module, name, kind = reader.name(), reader.name(), reader.byte()
    if kind == 0:
        functions.append(reader.number())
    elif kind == 1:
        _value_type(reader)
        _limits(reader)
    elif kind == 2:
        _limits(reader)
    elif kind == 3:
        _value_type(reader)
        reader.byte()
    elif kind == 4:
        reader.byte()
        reader.number()
    else:
        raise _Unknown(f"an import of the kind {kind:#x}")
    return Import(module, name, _KINDS[kind])


def _limits(reader: _Reader) -> None:
    flags = reader.byte()
    reader.number()
    if flags & 1:
        reader.number()
