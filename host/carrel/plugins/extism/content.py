"""Checks what modules return by MCP's shapes: content blocks, documents, prompts, completions.

Values are rebuilt member by member, so unknown members are dropped. Texts of results, documents and
prompts are data and stay unchanged; texts for people lose hidden characters. A value of another
shape is a `ContractViolation` that names its place.
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
    """A place and what is wrong there."""


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
        _block(one, f"content[{at}]")
        for at, one in enumerate(_list(value.get("content", []), "content"))
    )


def read_contents(value: dict[str, Any]) -> tuple[Block, ...]:
    """Reads the contents of a ReadResourceResult."""
    contents = _list(value.get("contents"), "contents")
    return tuple(_contents(one, f"contents[{at}]") for at, one in enumerate(contents))


def read_prompt(value: dict[str, Any]) -> dict[str, Any]:
    """Reads a GetPromptResult."""
    messages = []
    for at, one in enumerate(_list(value.get("messages"), "messages")):
        place = f"messages[{at}]"
        message = _object(one, place)
        if message.get("role") not in ("user", "assistant"):
            raise _Fault(f"{place}.role is neither user nor assistant")
        block = _block(message.get("content"), f"{place}.content")
        messages.append({"role": message["role"], "content": block})
    prompt: dict[str, Any] = {"messages": messages}
    if isinstance(value.get("description"), str):
        prompt["description"] = printable_lines(value["description"])
    return prompt


def read_completion(value: dict[str, Any]) -> dict[str, Any]:
    """Reads the completion of a CompleteResult."""
    raw = _object(value.get("completion"), "completion")
    values = _list(raw.get("values"), "completion.values")
    if not all(isinstance(one, str) for one in values):
        raise _Fault("completion.values contains something that is not text")
    completion: dict[str, Any] = {
        "values": [printable(one, 1000) for one in values[:MAX_COMPLETIONS]]
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


def _block(value: Any, place: str) -> Block:
    raw = _object(value, place)
    kind = raw.get("type")
    if kind == "text":
        block: Block = {"type": "text", "text": _data(_text(raw, "text", place))}
    elif kind in ("image", "audio"):
        block = {"type": kind, "data": _base64(raw, "data", place)}
        block["mimeType"] = _media_type(raw, place)
    elif kind == "resource_link":
        block = {"type": kind, **_link(raw, place)}
    elif kind == "resource":
        block = {"type": kind, "resource": _contents(raw.get("resource"), f"{place}.resource")}
    else:
        raise _Fault(f"{place}.type is {printable(repr(kind), 40)}")
    if isinstance(raw.get("annotations"), Mapping):
        block["annotations"] = _annotations(raw["annotations"])
    return block


def _contents(value: Any, place: str) -> Block:
    raw = _object(value, place)
    if not is_uri(raw.get("uri")):
        raise _Fault(f"{place}.uri is not a URI")
    contents: Block = {"uri": raw["uri"]}
    if raw.get("mimeType") is not None:
        contents["mimeType"] = _media_type(raw, place)
    if raw.get("blob") is not None:
        contents["blob"] = _base64(raw, "blob", place)
    else:
        contents["text"] = _data(_text(raw, "text", place))
    return contents


def _link(raw: dict[str, Any], place: str) -> Block:
    if not is_uri(raw.get("uri")):
        raise _Fault(f"{place}.uri is not a URI")
    link: Block = {"uri": raw["uri"], "name": printable(_text(raw, "name", place), 200)}
    for key, limit in (("title", 200), ("description", 1000)):
        if isinstance(raw.get(key), str):
            link[key] = printable(raw[key], limit)
    if raw.get("mimeType") is not None:
        link["mimeType"] = _media_type(raw, place)
    size = raw.get("size")
    if isinstance(size, int) and not isinstance(size, bool) and size >= 0:
        link["size"] = size
    return link


def _annotations(raw: Mapping[str, Any]) -> Block:
    kept: Block = {}
    audience, priority = raw.get("audience"), raw.get("priority")
    if isinstance(audience, list):
        kept["audience"] = [one for one in audience if one in ("user", "assistant")]
    if isinstance(priority, int | float) and 0 <= priority <= 1:
        kept["priority"] = priority
    return kept


def _object(value: Any, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _Fault(f"{place} is not an object")
    return value


def _list(value: Any, place: str) -> list[Any]:
    if not isinstance(value, list):
        raise _Fault(f"{place} is not an array")
    if len(value) > MAX_BLOCKS:
        raise _Fault(f"{place} has more than {MAX_BLOCKS} items")
    return value


def _text(raw: dict[str, Any], key: str, place: str) -> str:
    value = raw.get(key)
    if not isinstance(value, str):
        raise _Fault(f"{place}.{key} is not text")
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


def _media_type(raw: dict[str, Any], place: str) -> str:
    if not is_media_type(raw.get("mimeType")):
        raise _Fault(f"{place}.mimeType is not a media type")
    return str(raw["mimeType"])


def _base64(raw: dict[str, Any], key: str, place: str) -> str:
    value = _text(raw, key, place)
    try:
        base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        raise _Fault(f"{place}.{key} is not base64") from None
    return value
