"""Tests `plugin new`: the name, the files, and that nothing is overwritten."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from carrel.authoring.kit import copy_crates, kit_root, workspace_manifest
from carrel.authoring.new import name_faults, new_project
from carrel.errors import ArgumentError

ROOT = Path(__file__).parents[3]


@pytest.fixture
def made(tmp_path: Path) -> Path:
    new_project("my_lists", tmp_path / "deep" / "here")
    return tmp_path / "deep" / "here"


def test_a_project_has_what_its_author_needs(made: Path) -> None:
    names = {path.relative_to(made).as_posix() for path in made.rglob("*") if path.is_file()}
    assert {".gitignore", "Cargo.lock", "Cargo.toml", "LICENSE", "README.md"} <= names
    assert {"src/lib.rs", "src/works.rs", "kit/plugins/pdk/src/lib.rs"} <= names
    assert "kit/contract/v1/plugin.wit" in names
    cases = {path.name for path in (made / "fixtures").iterdir()}
    assert cases == {"broken_works", "search", "works"}


@pytest.fixture
def reader(tmp_path: Path) -> Path:
    new_project("my_files", tmp_path / "files", reads_bytes=True)
    return tmp_path / "files"


def test_a_project_of_bytes_has_files_as_fixtures(reader: Path) -> None:
    names = {path.relative_to(reader).as_posix() for path in reader.rglob("*") if path.is_file()}
    assert {".gitignore", "Cargo.lock", "Cargo.toml", "LICENSE", "README.md"} <= names
    assert {"src/lib.rs", "src/marc.rs", "kit/contract/v1/plugin.wit"} <= names
    cases = {path.name for path in (reader / "fixtures").iterdir()}
    assert cases == {"cut", "first_record", "not_utf8", "records", "unknown_option"}
    for case in cases:
        assert {f"fixtures/{case}/document.mrc", f"fixtures/{case}/expected.json"} <= names


def test_a_project_of_bytes_is_its_authors(reader: Path) -> None:
    source = (reader / "src" / "lib.rs").read_text("utf-8")
    assert 'Manifest::new("my_files"' in source
    assert "carrel_pdk::plugin!(Source, bytes);" in source
    assert 'name = "my_files-plugin"' in (reader / "Cargo.toml").read_text("utf-8")
    texts = [path.read_bytes() for path in reader.rglob("*") if path.is_file()]
    assert not any(b"{{name}}" in text or b"{{title}}" in text for text in texts)


def test_a_project_of_the_public_web_asks_for_it(tmp_path: Path) -> None:
    folder = tmp_path / "titles"
    new_project("my_titles", folder, public_web=True)
    source = (folder / "src" / "lib.rs").read_text("utf-8")
    assert 'manifest.public_web = Some(PublicWeb::new(&["GET"]))' in source
    assert 'allowed_hosts = "public-web"' in (folder / "README.md").read_text("utf-8")
    texts = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    assert not any(b"{{name}}" in text or b"{{title}}" in text for text in texts)


def test_a_project_has_one_purpose(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="choose one"):
        new_project("my_titles", tmp_path / "x", reads_bytes=True, public_web=True)


def test_a_binary_fixture_is_copied_byte_by_byte(reader: Path) -> None:
    template = ROOT / "host" / "carrel" / "authoring" / "templates" / "rust-bytes" / "fixtures"
    for source in template.rglob("document.mrc"):
        copied = reader / "fixtures" / source.relative_to(template)
        assert copied.read_bytes() == source.read_bytes()
    assert b"\xff\xfe" in (reader / "fixtures" / "not_utf8" / "document.mrc").read_bytes()


def test_no_placeholder_is_left_and_the_name_is_everywhere(made: Path) -> None:
    texts = {
        path: path.read_text("utf-8")
        for path in made.rglob("*")
        if path.is_file() and "kit" not in path.parts
    }
    assert [
        path.name
        for path, text in texts.items()
        if "{{" in text and "}}" in text.split("{{")[1] and path.suffix != ".rs"
    ] == []
    assert 'Manifest::new("my_lists"' in texts[made / "src" / "lib.rs"]
    assert "{{name}}" not in "".join(texts.values())
    assert "{{title}}" not in "".join(texts.values())
    assert "My lists" in texts[made / "README.md"]


def test_the_packages_manifests_are_toml_and_agree_with_the_workspace(made: Path) -> None:
    ours = tomllib.loads((ROOT / "Cargo.toml").read_text("utf-8"))["workspace"]
    kit = tomllib.loads((made / "kit" / "Cargo.toml").read_text("utf-8"))["workspace"]
    project = tomllib.loads((made / "Cargo.toml").read_text("utf-8"))
    assert kit["members"] == ["plugins/pdk"]
    assert kit["package"] == ours["package"]
    assert kit["lints"] == ours["lints"]
    for name, wanted in kit["dependencies"].items():
        assert wanted == ours["dependencies"][name]
    for name, wanted in project["dependencies"].items():
        if name != "carrel-pdk":
            assert wanted == ours["dependencies"][name], name
    assert project["package"]["rust-version"] == ours["package"]["rust-version"]


def test_the_kits_files_are_the_workspaces(made: Path) -> None:
    for name in ("plugins/pdk/Cargo.toml", "plugins/pdk/src/lib.rs", "contract/v1/plugin.wit"):
        assert (made / "kit" / name).read_bytes() == (ROOT / name).read_bytes()
    assert (made / "Cargo.lock").read_bytes() == (ROOT / "Cargo.lock").read_bytes()


def test_the_readme_stays_true_when_the_examples_are_deleted(made: Path) -> None:
    text = (made / "README.md").read_text("utf-8")
    code = (made / "src" / "lib.rs").read_text("utf-8")
    examples = {path.name for path in (made / "fixtures").iterdir()}
    examples |= {path.stem for path in (made / "src").iterdir() if path.name != "lib.rs"}
    examples |= set(re.findall(r'name: "(\w+)"\.to_owned', code))
    assert {"search", "works", "broken_works"} <= examples
    assert [word for word in examples if re.search(rf"(?<![a-z]){word}(?![a-z])", text)] == []
    named = re.findall(r"`([\w./]+)`", text)
    there = [name for name in named if (made / name).exists()]
    made_later = {"dist/my_lists.wasm", "lib.rs", "expected.json"}
    assert set(named) - set(there) <= made_later


def test_an_existing_folder_or_file_is_never_touched(tmp_path: Path) -> None:
    target = tmp_path / "lists"
    target.mkdir()
    with pytest.raises(ArgumentError, match="exists already; nothing was written"):
        new_project("lists", target)
    assert list(target.iterdir()) == []
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(ArgumentError, match="exists already"):
        new_project("lists", tmp_path / "link")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "lists"]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("My-Lists", "did you mean 'my_lists'?"),
        ("2lists", "did you mean 'lists'?"),
        ("a__b", "lower-case letters"),
        ("_a", "did you mean 'a'?"),
        ("", "lower-case letters"),
        ("../evil", "did you mean 'evil'?"),
        ("ä", "lower-case letters"),
        ("a" * 41, "at most 40"),
        ("arxiv", "comes with Carrel"),
    ],
)
def test_a_name_that_no_manifest_may_have_is_refused(tmp_path: Path, name: str, says: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        new_project(name, tmp_path / "target")
    assert says in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_names_follow_the_contracts_rule() -> None:
    import jsonschema_rs

    schema = json.loads((ROOT / "contract/v1/manifest.schema.json").read_text("utf-8"))
    rule = jsonschema_rs.validator_for(schema["properties"]["name"])
    for name in ("a", "a1", "a_b", "a_1", "1a", "a_", "_a", "a__b", "A", "a-b", "a" * 40, "a" * 41):
        assert rule.is_valid(name) == (name_faults(name) == []), name


def test_a_kit_without_the_guest_kit_is_a_workspace_too(tmp_path: Path) -> None:
    copy_crates(["componentize"], tmp_path / "copy")
    copied = {
        path.relative_to(tmp_path / "copy").as_posix() for path in (tmp_path / "copy").rglob("*")
    }
    assert "componentize/src/main.rs" in copied
    assert "contract" not in copied


def test_a_workspaces_manifest_keeps_no_path_and_no_profile() -> None:
    manifest = tomllib.loads((kit_root() / "Cargo.toml").read_text("utf-8"))
    text = workspace_manifest(manifest, ["componentize"])
    assert "path" not in text
    assert "profile" not in text
    assert tomllib.loads(text)["workspace"]["members"] == ["componentize"]
