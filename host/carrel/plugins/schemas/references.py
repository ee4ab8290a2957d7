"""References inside a plugin's schema: their cost for a validator that follows all of them.

Validation takes exponential time in a schema of a few lines: definitions that each refer twice to
the next one, or a definition that refers to itself twice for the same part of a value. Both are
refused when a plugin is loaded; recursion through distinct properties, as in a tree, is not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from carrel.text.printable import printable

#: Subschemas that one validation may visit when every reference is followed.
MAX_EXPANSION = 20_000
#: Definitions that may be referred to, and references in a row.
MAX_TARGETS = 200
_MAX_CHAIN = 64

_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
#: Other ways to name a target, which only a full resolver could follow.
_NAMES = ("$anchor", "$dynamicAnchor", "$recursiveAnchor", "$dynamicRef", "$recursiveRef")
_DEFINITIONS = frozenset({"$defs", "definitions"})
# Keywords, by the part of a value that their schemas apply to.
_IN_PLACE_LISTS = ("allOf", "anyOf", "oneOf")
_IN_PLACE = ("not", "if", "then", "else")
_OTHER_PROPERTIES = ("additionalProperties", "unevaluatedProperties", "propertyNames")
_ITEMS = ("items", "additionalItems", "unevaluatedItems")


def target_faults(node: Mapping[str, Any], *, root: bool) -> list[str]:
    """Returns what is wrong with a subschema's references and anchors."""
    faults = [
        f"uses {name}; refer by #/$defs/NAME"
        for name in _NAMES
        if isinstance(node.get(name), str | bool)
    ]
    if not root and isinstance(node.get("$id"), str):
        faults.append("gives a subschema an $id; refer by #/$defs/NAME")
    for keyword in _REFERENCES:
        target = node.get(keyword)
        if not isinstance(target, str):
            continue
        if not target.startswith("#"):
            faults.append(f"refers to {printable(target, 100)!r} outside itself")
        elif target != "#" and (not target.startswith("#/") or "%" in target):
            faults.append(f"refers to {printable(target, 100)!r}; refer by #/$defs/NAME")
    return faults


def reference_faults(schema: Mapping[str, Any]) -> list[str]:
    """Returns what is wrong with a schema's references; empty when validation stays cheap."""
    references = _References(schema)
    if len(references.targets) > MAX_TARGETS:
        return [f"refers to more than {MAX_TARGETS} definitions"]
    try:
        weight = references.weight("#", ())
    except _TooDeepError:
        return [f"refers through more than {_MAX_CHAIN} definitions in a row"]
    if weight > MAX_EXPANSION:
        return [f"expands to more than {MAX_EXPANSION} subschemas through its references"]
    return references.recursion_faults()


def schema_weight(schema: Mapping[str, Any]) -> int:
    """Counts subschemas and enumerated values checked against one value, references followed."""
    return _References(schema).weight("#", ())


class _TooDeepError(Exception):
    pass


class _LoopError(Exception):
    pass


class _Children(Counter[str]):
    """Counts how often a recursive reference applies to each part of one value.

    Keys are property names, and these for keywords that apply to several parts.
    """

    SAME, EVERY_PROPERTY, EVERY_ITEM = "#same", "#properties", "#items"

    def most(self) -> int:
        named = max((count for key, count in self.items() if key[0] != "#"), default=0)
        child = max(named + self[self.EVERY_PROPERTY], self[self.EVERY_ITEM])
        return self[self.SAME] + child


class _References:
    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._schema = schema
        self._weights: dict[str, int] = {}
        self.targets = {"#"} | set(_references_in(schema, definitions=True))

    def weight(self, pointer: str, path: tuple[str, ...]) -> int:
        """Counts the subschemas of a definition, references followed; recursion counts once."""
        if pointer in path:
            return 1
        if len(path) > _MAX_CHAIN:
            raise _TooDeepError
        if pointer not in self._weights:
            total = 1
            for child in _applied(_resolve(self._schema, pointer)):
                total += 1 + len(_list(child.get("enum")))
                target = child.get("$ref")
                if isinstance(target, str) and total <= MAX_EXPANSION:
                    total += self.weight(target, (*path, pointer))
            self._weights[pointer] = min(total, MAX_EXPANSION + 1)
        return self._weights[pointer]

    def recursion_faults(self) -> list[str]:
        """Returns definitions whose recursion is exponential."""
        reached = {target: self._reached(target) for target in self.targets}
        for target in sorted(self.targets):
            if target not in reached[target]:
                continue
            cycle = {member for member in reached[target] if target in reached[member]}
            try:
                times = self._children(_resolve(self._schema, target), cycle, (target,)).most()
            except _LoopError:
                return [f"applies {printable(target, 100)!r} to a value by way of itself"]
            if times > 1:
                name = printable(target, 100)
                words = "more than once for the same part of a value: exponential time"
                return [f"refers back to {name!r} {words}; leave the deeper levels open"]
        return []

    def _reached(self, start: str) -> set[str]:
        reached: set[str] = set()
        left = [start]
        while left:
            for target in _references_in(_resolve(self._schema, left.pop()), definitions=False):
                if target not in reached:
                    reached.add(target)
                    left.append(target)
        return reached

    def _children(self, node: Any, cycle: set[str], path: tuple[str, ...] | None) -> _Children:
        """Counts recursive references under a node.

        Args:
            node: a subschema.
            cycle: the definitions that lead back to each other.
            path: definitions whose references in place are followed; None below the first level,
                where each counts as one.
        """
        found = _Children()
        if not isinstance(node, Mapping):
            return found
        target = node.get("$ref")
        if isinstance(target, str):
            if target not in cycle or path is not None:
                if path is not None and target in path:
                    raise _LoopError
                longer = None if path is None else (*path, target)
                found.update(self._children(_resolve(self._schema, target), cycle, longer))
            else:
                found[_Children.SAME] += 1
        for child in _in_place(node):
            found.update(self._children(child, cycle, path))

        def below(child: Any) -> int:
            return self._children(child, cycle, None).most()

        for name, child in _mapping(node.get("properties")).items():
            found[f".{name}"] += below(child)
        every = sum(below(child) for child in _mapping(node.get("patternProperties")).values())
        every += max(below(node.get(keyword)) for keyword in _OTHER_PROPERTIES)
        found[_Children.EVERY_PROPERTY] += every
        items = [below(node.get(keyword)) for keyword in _ITEMS]
        items += [below(child) for child in _list(node.get("prefixItems"))]
        items += [below(child) for child in _list(node.get("items"))]
        found[_Children.EVERY_ITEM] += max(items) + below(node.get("contains"))
        return found


def _in_place(node: Mapping[str, Any]) -> Iterator[Any]:
    for keyword in _IN_PLACE_LISTS:
        yield from _list(node.get(keyword))
    for keyword in _IN_PLACE:
        yield node.get(keyword)
    for keyword in ("dependentSchemas", "dependencies"):
        yield from _mapping(node.get(keyword)).values()


def _applied(node: Any) -> Iterator[Mapping[str, Any]]:
    """Yields every subschema in a node that is not reached by references only."""
    left = [node]
    while left:
        item = left.pop()
        if isinstance(item, Mapping):
            yield item
            left += [child for key, child in item.items() if key not in _DEFINITIONS]
        elif isinstance(item, list):
            left += item


def _references_in(node: Any, *, definitions: bool) -> Iterable[str]:
    left = [node]
    while left:
        item = left.pop()
        if isinstance(item, Mapping):
            if isinstance(item.get("$ref"), str):
                yield item["$ref"]
            left += [child for key, child in item.items() if definitions or key not in _DEFINITIONS]
        elif isinstance(item, list):
            left += item


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _resolve(schema: Mapping[str, Any], pointer: str) -> Any:
    """Returns the node of a local reference, or an empty schema: compiling reports the fault."""
    node: Any = schema
    for part in pointer.lstrip("#").split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(node, Mapping):
            node = node.get(key, {})
        elif isinstance(node, list) and key.isdigit() and int(key) < len(node):
            node = node[int(key)]
        else:
            return {}
    return node
