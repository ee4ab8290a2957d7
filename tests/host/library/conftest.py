"""Opens libraries in temporary folders."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from carrel.library.errors import LibraryError
from carrel.library.library import Library

Open = Callable[..., Library]

SMITH: dict[str, Any] = {
    "type": "article-journal",
    "title": "Desks of the North",
    "author": [{"family": "Smith", "given": "John"}],
    "issued": {"date-parts": [[2023]]},
    "DOI": "10.1234/Desk.1",
}


@pytest.fixture
def open_library(tmp_path: Path) -> Iterator[Open]:
    """Opens `library.json` in the test's folder, or another path; closed at the end."""
    opened: list[Library] = []

    def opening(path: Path | None = None, **options: Any) -> Library:
        library = Library(
            path or tmp_path / "library.json",
            cache_folder=tmp_path / "cache",
            backup_folder=tmp_path / "backups",
            **options,
        )
        opened.append(library)
        return library

    yield opening
    for library in opened:
        library.close()


@pytest.fixture
def library(open_library: Open) -> Library:
    return open_library()


def code_of(call: Callable[[], Any]) -> LibraryError:
    """Returns the error that a call raises."""
    with pytest.raises(LibraryError) as caught:
        call()
    return caught.value
