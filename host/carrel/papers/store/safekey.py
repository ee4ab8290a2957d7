"""Names files of the paper store after the reference of the paper.

The name is computed from the reference alone, never from what a server sends. `document_safekey` is
the algorithm of doiget's store format. It maps several references to one name, so `safekey` appends
a hash to the name of a reference that is not the only one with that name; the names of all others
are the document's.
"""

from __future__ import annotations

import hashlib
import re
from typing import Final

from carrel.records import Id

#: Characters of the readable part of a name.
LONGEST: Final = 192
#: Hex digits of the hash: of a long name, as the document has it, and of one that would collide.
_SHORT_HASH, _HASH = 8, 16

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")
_RUNS = re.compile(r"__+")
_DOTS = re.compile(r"\.\.+")
#: A suffix that keeps every character in its name.
_UNCHANGED = re.compile(r"[A-Za-z0-9.-]+(?:_[A-Za-z0-9.-]+)*")
#: Elsevier's article identifiers, the one form with other characters that keeps its plain name: the
#: document lists it, and it is common. A suffix that has this name without them gets a hash.
_PII = re.compile(r"[SB]\d{4}-\d{3}[\dX]\(\d{2}\)\d{5}-[\dX]", re.IGNORECASE)
_PII_NAME = re.compile(r"[SB]\d{4}-\d{3}[\dX]_\d{2}_\d{5}-[\dX]", re.IGNORECASE)
#: The end of a name that has a hash already, of either length.
_HASHED = re.compile(r".*_(?:[0-9a-f]{8}|[0-9a-f]{16})", re.DOTALL)
#: What a file's name may be; besides, `..` is in none.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,250}")


def document_safekey(identifier: Id) -> str:
    """Returns the name by the document's algorithm; different references may have the same.

    Unsafe characters become an underscore, runs of underscores one, those at the ends none. A name
    above 192 characters is cut there and gets 8 hex digits of the SHA-256 of the whole reference.
    """
    raw = f"{identifier.type}_{identifier.id}"
    name = _RUNS.sub("_", _UNSAFE.sub("_", raw)).strip("_")
    if len(name) <= LONGEST:
        return name
    return f"{name[:LONGEST]}_{_hash(raw, _SHORT_HASH)}"


def safekey(identifier: Id) -> str:
    """Returns the name of the paper that `identifier` names.

    It is the document's name if no other reference has that one, else the same with 16 hex digits
    of the SHA-256 of the reference in its folded form. References that differ in the case of a DOI
    may differ in the case of their names: `PaperStore.key_for` finds the one that is in use.
    """
    name = document_safekey(identifier)
    return name if _is_alone(identifier, name) else hashed_safekey(identifier)


def hashed_safekey(identifier: Id) -> str:
    """Returns the name with a hash, for a reference whose plain name belongs to another paper."""
    name = _DOTS.sub("_", document_safekey(identifier)[:LONGEST])
    return f"{name}_{_hash(f'{identifier.type}_{identifier.folded}', _HASH)}"


def is_safekey(name: str) -> bool:
    """Returns whether `name` can be the name of an entry: safe as a file's name everywhere."""
    return _NAME.fullmatch(name) is not None and ".." not in name


def _is_alone(identifier: Id, name: str) -> bool:
    """Returns whether no other reference has the same document name, and it is a safe one."""
    if not is_safekey(name):
        return False
    if identifier.type != "doi":
        return len(name) <= LONGEST
    suffix = identifier.id.partition("/")[2]
    if _PII.fullmatch(suffix):
        return True
    if not _UNCHANGED.fullmatch(suffix) or _PII_NAME.fullmatch(suffix):
        return False
    # The hash of a long name is of the whole reference; it ends as a name with a hash does.
    return len(name) > LONGEST or _HASHED.fullmatch(name) is None


def _hash(text: str, digits: int) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:digits]
