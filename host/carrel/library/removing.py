"""Removes a reference, or says what would be removed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .errors import LibraryError
from .fulltext.attachments import attached_files
from .items import described, short

if TYPE_CHECKING:
    from .library import Library


def remove_reference(
    library: Library,
    id: str,  # noqa: A002
    *,
    force: bool,
    forcing: str = "force: true",
) -> dict[str, Any]:
    """Removes a reference, or says what would be removed.

    Args:
        library: the library.
        id: key or UUID.
        force: whether to remove it.
        forcing: what the caller gives to remove it, for the message.

    An unknown id is no failure: the answer says that there is nothing to remove.

    Raises:
        LibraryError: the library cannot be read or written.
    """
    try:
        item = library.get(id)
    except LibraryError as error:
        if error.library_code != "NOT_FOUND":
            raise
        return {"removed": False, "message": error.message}
    if not force:
        files = attached_files(item)
        note = f" Its {len(files)} attached files would stay in their folder." if files else ""
        return {
            "removed": False,
            "message": f"Nothing was removed. With {forcing}, this removes {item['id']}: "
            f"{described(item)}.{note}",
            "item": short(item),
        }
    item = library.remove(id)
    return {
        "removed": True,
        "message": f"Removed {item['id']}: {described(item)}",
        "item": short(item),
    }
