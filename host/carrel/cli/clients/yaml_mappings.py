"""Edits YAML as text: sets members of one mapping, and keeps everything else."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from yaml import MappingNode, Node, ScalarNode, SequenceNode, YAMLError, compose, safe_load
from yaml.loader import SafeLoader


def read(text: str) -> Any:
    """Returns the document of a text.

    Raises:
        ValueError: the text is not YAML; the message has the line.
    """
    try:
        return safe_load(text) or {}
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = "" if mark is None else f"line {mark.line + 1}: "
        raise ValueError(f"{where}{getattr(error, 'problem', None) or 'not YAML'}") from None


def set_members(text: str, path: Sequence[str], members: Mapping[str, Any]) -> str:
    """Returns the text with members of the mapping at `path` set; a new one comes last.

    Raises:
        ValueError: `path` passes through another value than a mapping in block style.
    """
    if "\r" in text and text.count("\r\n") == text.count("\n"):
        return set_members(text.replace("\r\n", "\n"), path, members).replace("\n", "\r\n")
    node = _composed(text)
    if node is None:
        return f"{_ended(text)}{_block(_nested(path, dict(members)), 0)}"
    for depth, name in enumerate(path):
        child = _child(node, name)
        if child is None or _is_empty(child):
            new = _nested(path[depth:], dict(members))
            return _with_new(text, node, name, child, new)
        node = child
    for key, value in members.items():
        child = _child(node, key)
        if child is None:
            text = _with_new(text, node, key, None, {key: value})
        else:
            text = _with_value(text, node, key, child, value)
        again = _composed(text)
        for name in path:
            again = None if again is None else _child(again, name)
        if again is None:
            raise ValueError(f"{'.'.join(path)} cannot be edited")
        node = again
    return text


def _with_new(text: str, node: Node, name: str, child: Node | None, new: Mapping[str, Any]) -> str:
    """Returns the text with a new last member of a mapping, in place of an empty one."""
    if not isinstance(node, MappingNode) or node.flow_style:
        raise ValueError("the mapping is not in block style")
    column = node.start_mark.column
    if child is not None:  # `name:` or `name: {}`
        before = text[: child.start_mark.index].rstrip(" ")
        return f"{before}\n{_block(new[name], column + 2).rstrip()}{text[child.end_mark.index :]}"
    line_end = text.find("\n", _last(node))
    line_end = len(text) if line_end < 0 else line_end
    before = text[:line_end]
    rest = text[line_end:] or "\n"
    return f"{before}\n{_block(new, column).rstrip()}{rest}"


def _composed(text: str) -> Node | None:
    """Returns the root of a text.

    Raises:
        ValueError: the text is not YAML.
    """
    try:
        return compose(text, SafeLoader)
    except YAMLError as error:
        raise ValueError(f"not YAML: {getattr(error, 'problem', None)}") from None


def _with_value(text: str, node: Node, name: str, old: Node, value: Any) -> str:
    """Returns the text with another value of a member; it begins on the line of its key."""
    assert isinstance(node, MappingNode)
    key = next(key for key, _ in node.value if key.value == name)
    start, end = old.start_mark, _end(old)
    if start.line == key.end_mark.line:
        return text[: start.index] + _flow(value) + text[end:]
    # A list or a mapping in block style: `args:`, perhaps with a comment, and lines below it.
    colon = text.index(":", key.end_mark.index) + 1
    between = text[colon : start.index].rstrip()
    return f"{text[:colon]} {_flow(value)}{between}{text[end:]}"


def _child(node: Node, name: str) -> Node | None:
    if not isinstance(node, MappingNode):
        raise ValueError(f"{name!r} cannot be added to what is not a mapping")  # noqa: TRY004
    return next((value for key, value in node.value if key.value == name), None)


def _is_empty(node: Node) -> bool:
    if isinstance(node, MappingNode):
        return not node.value
    return isinstance(node, ScalarNode) and node.tag.endswith(":null")


def _last(node: Node) -> int:
    """Returns where the last scalar of a value ends; a block's own end is behind comments."""
    if isinstance(node, MappingNode) and node.value and not node.flow_style:
        return _last(node.value[-1][1])
    if isinstance(node, SequenceNode) and node.value and not node.flow_style:
        return _last(node.value[-1])
    return max(node.start_mark.index, node.end_mark.index - (1 if _is_block_text(node) else 0))


def _end(node: Node) -> int:
    return _last(node)


def _is_block_text(node: Node) -> bool:
    return isinstance(node, ScalarNode) and node.style in {"|", ">"}


def _nested(path: Sequence[str], members: dict[str, Any]) -> dict[str, Any]:
    for name in reversed(path):
        members = {name: members}
    return members


def _block(value: Mapping[str, Any], column: int) -> str:
    lines = []
    for key, member in value.items():
        if isinstance(member, dict) and member:
            lines.append(f"{' ' * column}{key}:\n{_block(member, column + 2)}")
        else:
            lines.append(f"{' ' * column}{key}: {_flow(member)}\n")
    return "".join(lines)


def _flow(value: Any) -> str:
    """Returns JSON, which YAML contains."""
    return json.dumps(value, ensure_ascii=False)


def _ended(text: str) -> str:
    return text if not text or text.endswith("\n") else f"{text}\n"
