"""URI templates (RFC 6570): whether one matches a URI.

A match only selects the plugin for a URI; the plugin extracts the variables. An expression matches
any text that is not empty (optional ones also the empty one), a DOI's slashes included, and the
work is linear in the URI.
"""

from __future__ import annotations

import re
from functools import lru_cache

MAX_TEMPLATE = 1000
_EXPRESSION = re.compile(r"\{([+#./;?&]?)([A-Za-z0-9_.%,*:]+)\}")
#: Operators whose expansion may be empty.
_OPTIONAL = frozenset("#./;?&")


def template_fault(template: str) -> str | None:
    """Returns what is wrong with a template, to follow "that"; None for a valid one."""
    if len(template) > MAX_TEMPLATE:
        return f"is longer than {MAX_TEMPLATE} characters"
    rest = _EXPRESSION.sub("", template)
    if "{" in rest or "}" in rest:
        return "is not a URI template"
    if not re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", template):
        return "names no scheme"
    if re.search(r"[\s\x00-\x1f\x7f]", template):
        return "holds spaces or control characters"
    return None


def covers(template: str, uri: str) -> bool:
    """Whether a URI can be an expansion of the template."""
    literals, least = _parts(template)
    if not literals[1:]:
        return uri == template
    if not uri.startswith(literals[0]):
        return False
    at = len(literals[0])
    for literal, fewest in zip(literals[1:-1], least[:-1], strict=True):
        found = uri.find(literal, at + fewest)
        if found < 0:
            return False
        at = found + len(literal)
    return uri.endswith(literals[-1]) and len(uri) - len(literals[-1]) >= at + least[-1]


@lru_cache(maxsize=1000)
def _parts(template: str) -> tuple[list[str], list[int]]:
    """Returns the template's literals, and the fewest characters of the expressions between."""
    literals, least, at = [], [], 0
    for found in _EXPRESSION.finditer(template):
        literals.append(template[at : found.start()])
        least.append(0 if found[1] in _OPTIONAL and found[1] else 1)
        at = found.end()
    literals.append(template[at:])
    return literals, least
