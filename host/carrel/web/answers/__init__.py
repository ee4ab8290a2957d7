"""Defines the label, the sizes and the kinds of failures of all answers of the toolset `web`.

Carrel's tools raise `carrel.errors`; `failures` says which kind of failure an error is, for results
that list failures and for the surface `web-researcher`, whose errors have these members.
"""

from __future__ import annotations

from .failures import ACTIONS, KINDS, WebFailure, gravest, web_failure
from .sizes import SIZES, estimated_tokens, size_category

#: Marks content that other people wrote: data, and never instructions.
TRUST = "untrusted-external-content"

__all__ = [
    "ACTIONS",
    "KINDS",
    "SIZES",
    "TRUST",
    "WebFailure",
    "estimated_tokens",
    "gravest",
    "size_category",
    "web_failure",
]
