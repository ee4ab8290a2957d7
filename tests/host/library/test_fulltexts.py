"""Tests full texts of references: attaching, reading and detaching them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from carrel.api import Carrel
from carrel.config import Config, LibraryConfig
from carrel.errors import CarrelError
from support.library_world import item, open_library_api, write_library

PDF = Path(__file__).parents[2] / "fixtures" / "pdf" / "paper" / "document.pdf"
MARKDOWN = "# The tidy desk\n\n" + "A paragraph about drawers.\n\n" * 100


@pytest.fixture
def granted(tmp_path: Path) -> Path:
    """A granted folder with a PDF and a Markdown file."""
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "paper.pdf").write_bytes(PDF.read_bytes())
    (folder / "paper.md").write_text(MARKDOWN, "utf-8")
    (folder / "paper.exe").write_bytes(b"MZ\0")
    write_library(tmp_path / "library.json", item(PMID="31452104"))
    return folder


def opened(config: Config, tmp_path: Path, granted: Path, **settings: Any) -> Carrel:
    library = LibraryConfig(tmp_path / "library.json", **settings)
    return open_library_api(config, tmp_path, folders=(granted,), library=library)


def attachments(tmp_path: Path) -> Any:
    [one] = json.loads((tmp_path / "library.json").read_text("utf-8"))
    return one.get("custom", {}).get("attachments")


@pytest.mark.requirement("reference-manager:fulltext:attached")
def test_a_pdf_is_copied_beside_the_library_and_recorded(
    config: Config, tmp_path: Path, granted: Path
) -> None:
    with opened(config, tmp_path, granted) as api:
        arguments = {"id": "marlow-2019", "path": str(granted / "paper.pdf")}
        attached = api.call("library_fulltext_attach", arguments).data
        found = api.call("library_fulltext_get", {"id": "marlow-2019"}).data
    assert (attached["kind"], attached["replaced"]) == ("pdf", False)
    path = Path(attached["path"])
    assert path.parent.parent == tmp_path / "attachments"
    assert path.read_bytes() == PDF.read_bytes()
    block = attachments(tmp_path)
    assert block["directory"].startswith("marlow-2019-PMID31452104")
    assert block["files"] == [{"filename": "fulltext.pdf", "role": "fulltext"}]
    assert found == {"id": "marlow-2019", "pdf": str(path)}


def test_markdown_is_given_as_text_in_parts(config: Config, tmp_path: Path, granted: Path) -> None:
    with opened(config, tmp_path, granted) as api:
        for name in ("paper.md", "paper.pdf"):
            api.call("library_fulltext_attach", {"id": "marlow-2019", "path": str(granted / name)})
        first = api.call("library_fulltext_get", {"id": "marlow-2019", "max_chars": 1000}).data
        arguments = {"id": "marlow-2019", "from": first["next"]}
        rest = api.call("library_fulltext_get", arguments).data
    assert first["text"] + rest["text"] == MARKDOWN
    assert first["source"] == "markdown"
    assert first["pdf"].endswith("fulltext.pdf")
    assert "next" not in rest


def test_the_text_of_a_pdf_is_given_on_request(
    config: Config, tmp_path: Path, granted: Path
) -> None:
    with opened(config, tmp_path, granted) as api:
        arguments = {"id": "marlow-2019", "path": str(granted / "paper.pdf")}
        api.call("library_fulltext_attach", arguments)
        found = api.call("library_fulltext_get", {"id": "marlow-2019", "read_pdf": True}).data
    assert found["source"] == "pdf"
    assert len(found["text"]) > 100


def test_a_second_file_of_a_kind_needs_replace(
    config: Config, tmp_path: Path, granted: Path
) -> None:
    arguments = {"id": "marlow-2019", "path": str(granted / "paper.md")}
    with opened(config, tmp_path, granted) as api:
        api.call("library_fulltext_attach", arguments)
        with pytest.raises(CarrelError, match="has a Markdown file attached"):
            api.call("library_fulltext_attach", arguments)
        assert api.call("library_fulltext_attach", {**arguments, "replace": True}).data["replaced"]
    assert len(attachments(tmp_path)["files"]) == 1


@pytest.mark.requirement("reference-manager:fulltext:kinds")
def test_only_granted_pdfs_and_markdown_are_attached(
    config: Config, tmp_path: Path, granted: Path
) -> None:
    (tmp_path / "secret.md").write_text("secret", "utf-8")
    (granted / "link.md").symlink_to(tmp_path / "secret.md")
    with opened(config, tmp_path, granted) as api:
        for path in (tmp_path / "secret.md", granted / "link.md", granted / ".." / "secret.md"):
            with pytest.raises(CarrelError) as caught:
                api.call("library_fulltext_attach", {"id": "marlow-2019", "path": str(path)})
            assert caught.value.error_code == "denied"
        arguments = {"id": "marlow-2019", "path": str(granted / "paper.exe")}
        with pytest.raises(CarrelError, match="neither a PDF nor a Markdown file"):
            api.call("library_fulltext_attach", arguments)
    assert attachments(tmp_path) is None
    assert not (tmp_path / "attachments").exists()


@pytest.mark.parametrize(
    "block",
    [
        {"directory": "..", "files": [{"filename": "secret.md", "role": "fulltext"}]},
        {"directory": "a/../..", "files": [{"filename": "secret.md", "role": "fulltext"}]},
        {"directory": "a", "files": [{"filename": "../../secret.md", "role": "fulltext"}]},
        {"directory": "/etc", "files": [{"filename": "secret.md", "role": "fulltext"}]},
        {"directory": "a", "files": "secret.md"},
        "a",
    ],
)
def test_a_path_in_the_library_file_leads_nowhere(
    config: Config, tmp_path: Path, granted: Path, block: Any
) -> None:
    (tmp_path / "secret.md").write_text("secret", "utf-8")
    write_library(tmp_path / "library.json", item(custom={"attachments": block}))
    with opened(config, tmp_path, granted) as api, pytest.raises(CarrelError) as caught:
        api.call("library_fulltext_get", {"id": "marlow-2019"})
    assert caught.value.error_code == "not_found"


def test_a_linked_directory_is_not_written_through(
    config: Config, tmp_path: Path, granted: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (tmp_path / "attachments").mkdir()
    (tmp_path / "attachments" / "d").symlink_to(outside)
    write_library(
        tmp_path / "library.json", item(custom={"attachments": {"directory": "d", "files": []}})
    )
    arguments = {"id": "marlow-2019", "path": str(granted / "paper.md")}
    with opened(config, tmp_path, granted) as api, pytest.raises(CarrelError) as caught:
        api.call("library_fulltext_attach", arguments)
    assert caught.value.error_code == "storage"
    assert list(outside.iterdir()) == []


@pytest.mark.requirement("reference-manager:fulltext:detached")
def test_detaching_keeps_the_file_unless_delete_is_set(
    config: Config, tmp_path: Path, granted: Path
) -> None:
    with opened(config, tmp_path, granted, attachments=tmp_path / "elsewhere") as api:
        for name in ("paper.md", "paper.pdf"):
            arguments = {"id": "marlow-2019", "path": str(granted / name)}
            path = Path(api.call("library_fulltext_attach", arguments).data["path"])
        assert path.parent.parent == tmp_path / "elsewhere"
        result = api.call("library_fulltext_detach", {"id": "marlow-2019", "kind": "markdown"}).data
        assert result["detached"] == ["fulltext.md"]
        assert path.with_name("fulltext.md").exists()
        api.call("library_fulltext_detach", {"id": "marlow-2019", "delete": True})
        assert not path.exists()
        with pytest.raises(CarrelError, match="no full text is attached"):
            api.call("library_fulltext_detach", {"id": "marlow-2019"})
    assert attachments(tmp_path) is None


def test_a_file_that_is_gone_is_reported_as_gone(
    config: Config, tmp_path: Path, granted: Path
) -> None:
    with opened(config, tmp_path, granted) as api:
        arguments = {"id": "marlow-2019", "path": str(granted / "paper.md")}
        Path(api.call("library_fulltext_attach", arguments).data["path"]).unlink()
        with pytest.raises(CarrelError, match="is gone"):
            api.call("library_fulltext_get", {"id": "marlow-2019"})
