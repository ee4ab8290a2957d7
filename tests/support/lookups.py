"""Makes guests with given results of lookups, and summarizes a lookup's trace."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from carrel.lookup import Lookup, LookupItem, LookupResult
from carrel.tools import Toolbox
from support.guests import Guest, guest
from support.manifests import manifest_text

Raw = dict[str, Any]

LOOP = "(loop $again (br $again))"
#: A record of `10.1000/A`.
A = {"type": "doi", "id": "10.1000/A"}


def lookup_of(toolbox: Toolbox) -> Lookup:
    """Returns the lookup over a toolbox's plugins."""
    return Lookup(toolbox.plugin_set, toolbox.config)


def record(**members: Any) -> Raw:
    return {"ids": {}, "type": "article", "authors": [], "source": "self-styled", **members}


def found(kind: str, text: str, **members: Any) -> Raw:
    return {"id": {"type": kind, "id": text}, "work": record(**members)}


def says(works: Sequence[Raw] = (), *, not_found: Sequence[Raw] = (), **more: Any) -> str:
    return json.dumps({"works": list(works), "not_found": list(not_found), **more})


def source(
    result: str = says(),
    *kinds: str,
    body: str = "",
    batch: int = 10,
    failed: bool = False,
    **changes: Any,
) -> Guest:
    """Returns a guest that resolves these kinds of identifiers and always returns `result`."""
    lookup = {"identifiers": list(kinds or ("doi",)), "batch": batch}
    text = manifest_text(hosts=[], lookup=lookup, **changes)
    return guest(body, result=result, failed=failed, manifest=text)


def trace(item: LookupItem) -> list[tuple[str, str, str | None]]:
    """Returns source, outcome, and the queried identifiers, the reason or the error."""
    entries: list[tuple[str, str, str | None]] = []
    for step in item.steps:
        what = step.problem.code if step.problem else str(step.asked) if step.asked else step.reason
        entries.append((step.source, step.outcome, what))
    return entries


def one(result: LookupResult) -> LookupItem:
    [item] = result.items
    return item
