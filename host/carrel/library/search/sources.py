"""Writes and reads items as JSON texts, as the index and the memory of what was seen keep them."""

from __future__ import annotations

import json

import msgspec

from carrel.bibliography.item import Item

_DECODER = msgspec.json.Decoder(dict)


def encoded_item(item: Item) -> bytes:
    """Returns an item as a JSON text."""
    try:
        return msgspec.json.encode(item)
    except (msgspec.MsgspecError, OverflowError, ValueError, TypeError, RecursionError):
        return json.dumps(item, ensure_ascii=True).encode()


def decoded_item(source: bytes) -> Item:
    """Returns a new item of a JSON text that `encoded_item` made."""
    try:
        return _DECODER.decode(source)
    except (msgspec.MsgspecError, RecursionError):
        found: Item = json.loads(source)
        return found
