"""Checks what modules return by MCP's shapes: content blocks, documents, prompts, completions.

Values are rebuilt member by member, so unknown members are dropped. Texts of results, documents and
prompts are data and stay unchanged; texts for people lose hidden characters. A value of another
shape is a `ContractViolation` that names its path.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping
from typing import Any

from pydantic_core import from_json

from carrel.errors import ContractViolation
from carrel.text.printable import escaped_json, printable, printable_lines

from .texts import is_media_type, is_uri

Block = dict[str, Any]

MAX_BLOCKS = 1000
#: MCP's own cap.
MAX_COMPLETIONS = 100


class _Fault(Exception):
    """A path and what is wrong there."""


def checked(read: Callable[[dict[str, Any]], Any], value: dict[str, Any], *names: str) -> Any:
    """Runs a reader of this module on a decoded value.

    Args:
        read: the reader.
        value: the decoded value.
        names: the plugin's and the function's.

    Raises:
        ContractViolation: the value has another shape.
    """
    plugin, function = names
    try:
        return read(value)
    except _Fault as fault:
        raise ContractViolation(
            f"{plugin}: {function} returned what MCP does not know: {fault}",
            plugin=plugin,
            tool=function,
        ) from None


def read_blocks(value: dict[str, Any]) -> tuple[Block, ...]:
    """Reads the content of a CallToolResult."""
    return tuple(
        _block(block, f"content[{at}]")
        for at, block in enumerate(_list(value.get("content", []), "content"))
    )


def read_contents(value: dict[str, Any]) -> tuple[Block, ...]:
    """Reads the contents of a ReadResourceResult."""
    contents = _list(value.get("contents"), "contents")
    return tuple(_contents(item, f"contents[{at}]") for at, item in enumerate(contents))


def read_prompt(value: dict[str, Any]) -> dict[str, Any]:
    """Reads a GetPromptResult."""
    messages = []
    for at, item in enumerate(_list(value.get("messages"), "messages")):
        path = f"messages[{at}]"
        message = _object(item, path)
        if message.get("role") not in ("user", "assistant"):
            raise _Fault(f"{path}.role is neither user nor assistant")
        block = _block(message.get("content"), f"{path}.content")
        messages.append({"role": message["role"], "content": block})
    prompt: dict[str, Any] = {"messages": messages}
    if isinstance(value.get("description"), str):
        prompt["description"] = printable_lines(value["description"])
    return prompt


def read_completion(value: dict[str, Any]) -> dict[str, Any]:
    """Reads the completion of a CompleteResult."""
    raw = _object(value.get("completion"), "completion")
    values = _list(raw.get("values"), "completion.values")
    if not all(isinstance(text, str) for text in values):
        raise _Fault("completion.values contains something that is not text")
    completion: dict[str, Any] = {
        "values": [printable(text, 1000) for text in values[:MAX_COMPLETIONS]]
    }
    total, more = raw.get("total"), raw.get("hasMore")
    if isinstance(total, int) and not isinstance(total, bool) and total >= 0:
        completion["total"] = total
    if isinstance(more, bool) or len(values) > MAX_COMPLETIONS:
        completion["hasMore"] = bool(more) or len(values) > MAX_COMPLETIONS
    return completion


def texts_of(blocks: tuple[Block, ...]) -> str:
    """Joins the texts of content blocks with line feeds."""
    return "\n".join(block["text"] for block in blocks if block["type"] == "text")


def _block(value: Any, path: str) -> Block:
    raw = _object(value, path)
    kind = raw.get("type")
    if kind == "text":
        block: Block = {"type": "text", "text": _data(_text(raw, "text", path))}
    elif kind in ("image", "audio"):
        block = {"type": kind, "data": _base64(raw, "data", path)}
        block["mimeType"] = _media_type(raw, path)
    elif kind == "resource_link":
        block = {"type": kind, **_link(raw, path)}
    elif kind == "resource":
        block = {"type": kind, "resource": _contents(raw.get("resource"), f"{path}.resource")}
    else:
        raise _Fault(f"{path}.type is {printable(repr(kind), 40)}")
    if isinstance(raw.get("annotations"), Mapping):
        block["annotations"] = _annotations(raw["annotations"])
    return block


def _contents(value: Any, path: str) -> Block:
    raw = _object(value, path)
    if not is_uri(raw.get("uri")):
        raise _Fault(f"{path}.uri is not a URI")
    contents: Block = {"uri": raw["uri"]}
    if raw.get("mimeType") is not None:
        contents["mimeType"] = _media_type(raw, path)
    if raw.get("blob") is not None:
        contents["blob"] = _base64(raw, "blob", path)
    else:
        contents["text"] = _data(_text(raw, "text", path))
    return contents


def _link(raw: dict[str, Any], path: str) -> Block:
    if not is_uri(raw.get("uri")):
        raise _Fault(f"{path}.uri is not a URI")
    link: Block = {"uri": raw["uri"], "name": printable(_text(raw, "name", path), 200)}
    for key, limit in (("title", 200), ("description", 1000)):
        if isinstance(raw.get(key), str):
            link[key] = printable(raw[key], limit)
    if raw.get("mimeType") is not None:
        link["mimeType"] = _media_type(raw, path)
    size = raw.get("size")
    if isinstance(size, int) and not isinstance(size, bool) and size >= 0:
        link["size"] = size
    return link


def _annotations(raw: Mapping[str, Any]) -> Block:
    valid: Block = {}
    audience, priority = raw.get("audience"), raw.get("priority")
    if isinstance(audience, list):
        valid["audience"] = [role for role in audience if role in ("user", "assistant")]
    if isinstance(priority, int | float) and 0 <= priority <= 1:
        valid["priority"] = priority
    return valid


def _object(value: Any, path: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _Fault(f"{path} is not an object")
    return value


def _list(value: Any, path: str) -> list[Any]:
    if not isinstance(value, list):
        raise _Fault(f"{path} is not an array")
    if len(value) > MAX_BLOCKS:
        raise _Fault(f"{path} has more than {MAX_BLOCKS} items")
    return value


def _text(raw: dict[str, Any], key: str, path: str) -> str:
    value = raw.get(key)
    if not isinstance(value, str):
        raise _Fault(f"{path}.{key} is not text")
    return value


def _data(text: str) -> str:
    """A text as the module wrote it; of a JSON text the same value, hidden characters as escapes.

    Of a component's result the text has them so, too: who reads the text sees them.
    """
    utf8 = text.encode("utf-8", "surrogatepass")
    escaped = escaped_json(utf8)
    if escaped is utf8:
        return text
    try:
        value = from_json(utf8)
    except ValueError:
        return text
    return escaped.decode() if isinstance(value, dict | list) else text


def _media_type(raw: dict[str, Any], path: str) -> str:
    if not is_media_type(raw.get("mimeType")):
        raise _Fault(f"{path}.mimeType is not a media type")
    return str(raw["mimeType"])


def _base64(raw: dict[str, Any], key: str, path: str) -> str:
    value = _text(raw, key, path)
    try:
        base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        raise _Fault(f"{path}.{key} is not base64") from None
    return value
