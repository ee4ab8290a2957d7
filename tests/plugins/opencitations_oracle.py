"""What OpenCitations' JSON says, read by Python's own means; shares no code with the parser."""

from __future__ import annotations

import json
from typing import Any


def read(document: str) -> dict[str, Any] | None:
    """Returns the links in a document; None when it holds none."""
    rows = json.loads(document)
    if not isinstance(rows, list) or not all("citing" in row for row in rows):
        return None
    return {
        "links": [
            {
                "citing": row["citing"],
                "cited": row["cited"],
                **({"date": row["creation"]} if row["creation"] else {}),
                "oci": row["oci"],
                "timespan": row["timespan"],
                "author_self_citation": row["author_sc"] == "yes",
                "journal_self_citation": row["journal_sc"] == "yes",
            }
            for row in rows
        ]
    }
