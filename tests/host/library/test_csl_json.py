"""CSL-JSON files: edits keep every other byte, and damaged files are refused with the place."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.library.errors import LibraryError
from carrel.library.file.csl_json import CslJsonText
from carrel.library.file.json_edit import same

from .conftest import SMITH, Open, code_of

HAND_MADE = """[
  { "id": "a",   "title": "One", "author": [ {"family":"Müller"} ],
    "unknown": {"b": [1, 2.50, 1e3], "a": null}, "custom": { "tags": ["x"] } },

\t{"id":"b"
  ,"title":"Two"}
]
"""

STYLES = {
    "hand made": HAND_MADE,
    "indented by two": json.dumps(json.loads(HAND_MADE), indent=2, ensure_ascii=False),
    "indented by tabs": json.dumps(json.loads(HAND_MADE), indent="\t") + "\n",
    "escaped": json.dumps(json.loads(HAND_MADE), indent=4),
    "one line": json.dumps(json.loads(HAND_MADE), ensure_ascii=False),
    "minified": json.dumps(json.loads(HAND_MADE), separators=(",", ":")),
    "Windows": json.dumps(json.loads(HAND_MADE), indent=2).replace("\n", "\r\n") + "\r\n",
    "at the margin": json.dumps(json.loads(HAND_MADE), indent=0) + "\n",
    "byte order mark": "\ufeff" + HAND_MADE,
}
_styles = pytest.mark.parametrize("text", STYLES.values(), ids=list(STYLES))


@pytest.mark.requirement("library:kept:unchanged")
@_styles
def test_an_unchanged_file_is_the_same_bytes(text: str) -> None:
    data = text.encode()
    parsed = CslJsonText(data)
    assert parsed.edited({}, []) == data
    assert parsed.edited({place: parsed.item(place) for place in (0, 1)}, []) == data


@_styles
def test_an_edit_changes_one_entry_and_there_one_member(text: str) -> None:
    data = text.encode()
    parsed = CslJsonText(data)
    item = parsed.item(0)
    assert item is not None
    item["title"] = "Changed"
    written = parsed.edited({0: item}, [])
    assert written == data.replace(b'"One"', b'"Changed"')
    item["note"] = {"a": [1]}
    del item["unknown"]
    again = CslJsonText(parsed.edited({0: item}, []))
    assert again.item(0) == item
    assert again.sources[1] == parsed.sources[1]


@_styles
def test_entries_are_appended_and_removed_in_the_style_of_the_file(text: str) -> None:
    data = text.encode()
    parsed = CslJsonText(data)
    new = {"id": "n", "author": [{"family": "Ä"}]}
    longer = CslJsonText(parsed.edited({}, [new, new]))
    assert [longer.item(place) for place in range(4)] == [
        parsed.item(0),
        parsed.item(1),
        new,
        new,
    ]
    assert longer.edited({2: None, 3: None}, []) == data
    end = data.rstrip()[-12:]
    assert longer.edited({}, []).startswith(data[: len(data) - len(data.rstrip()) - len(end)])
    if "\r\n" in text:
        assert b"\n" not in longer.edited({}, []).replace(b"\r\n", b"")
    one_line = "\n" not in text
    assert (b"\n" not in longer.edited({}, [])) == one_line
    shorter = CslJsonText(parsed.edited({0: None}, []))
    assert [shorter.sources[0]] == list(parsed.sources[1:])
    empty = parsed.edited({0: None, 1: None}, [])
    assert json.loads(empty.decode("utf-8-sig")) == []
    assert CslJsonText(CslJsonText(empty).edited({}, [new])).item(0) == new


_JSON = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.text(max_size=5),
        st.floats(allow_nan=False, allow_infinity=False),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)  # fmt: skip
_OBJECT = st.dictionaries(st.sampled_from(["id", "title", "a", "b", "custom", "ü"]), _JSON)
_DUMP = st.sampled_from(
    [{"indent": 2}, {"indent": None}, {"indent": "\t"}, {"separators": (",", ":")}]
)


@pytest.mark.requirement("reference-manager:unknown-fields")
@pytest.mark.requirement("library:kept:edit")
@pytest.mark.property
@given(
    st.lists(_OBJECT, max_size=4),
    st.dictionaries(st.integers(0, 3), st.one_of(st.none(), _OBJECT), max_size=3),
    st.lists(_OBJECT, max_size=2),
    _DUMP,
    st.booleans(),
)
def test_an_edit_is_what_was_asked_and_the_rest_is_kept(
    items: list[Any],
    changes: dict[int, Any],
    added: list[Any],
    style: dict[str, Any],
    escaped: bool,
) -> None:
    data = json.dumps(items, ensure_ascii=escaped, **style).encode()
    parsed = CslJsonText(data)
    changed = {place: item for place, item in changes.items() if place < len(items)}
    written = CslJsonText(parsed.edited(copy.deepcopy(changed), added))
    expected = [changed.get(place, item) for place, item in enumerate(items)]
    kept = [item for place, item in enumerate(expected) if changed.get(place, 1) is not None]
    found = [json.loads(source) for source in written.sources]
    assert len(found) == len(kept) + len(added)
    assert all(map(same, found, [*kept, *added]))
    untouched = [source for place, source in enumerate(parsed.sources) if place not in changed]
    assert all(source in written.sources for source in untouched)


@pytest.mark.parametrize(
    ("data", "line", "column"),
    [
        (b'{"not": "a list"}', 1, 1),
        (b'\n  "text"', 2, 3),
        (b"12", 1, 1),
        (b'[{"id": "a"},\n {"id" "b"}]', 2, 8),
        (b'[{"id": "a"}', 1, 13),
        (b'[{"id": "a"}, {"id": "b', 1, 22),
        (b'[{"id": "a"}] []', 1, 15),
        (b'[{"id": "a"},]', 1, 14),
        (b'[{"a": "NaN"},\n{"a": NaN}]', 2, 7),
        (b'[{"a": -Infinity}]', 1, 8),
        (b'[{"title": "M\xfcller"}]', 1, 14),
        (b"\x00\x01\x02", 1, 1),
    ],
)
def test_a_damaged_file_is_refused_with_line_and_column(
    data: bytes, line: int, column: int
) -> None:
    with pytest.raises(LibraryError) as caught:
        CslJsonText(data)
    assert caught.value.library_code == "READ_ERROR"
    assert caught.value.position == {"line": line, "column": column}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"[" * 100_000, "nested"),
        (b'[{"a":' * 100_000, "nested"),
        ('[{"id": "a"}]'.encode("utf-16"), "UTF-16"),
    ],
)
def test_other_damage_is_named(data: bytes, words: str) -> None:
    with pytest.raises(LibraryError) as caught:
        CslJsonText(data)
    assert words in caught.value.message


def test_values_of_wrong_types_are_kept_and_harm_nothing(open_library: Open) -> None:
    entries: list[Any] = [
        1, None, "text", [], {}, {"id": 12, "title": ["a"], "author": "Smith"},
        {"id": "x", "author": [1, {"family": 2}, {"family": "Z"}], "issued": [], "custom": "c"},
        {"id": "x", "issued": {"date-parts": [[]]}, "keyword": {"a": 1}, "title": True},
        {"id": "y", "issued": {"date-parts": [[None]]}, "DOI": {"a": 1}, "custom": {"tags": 3,
         "uuid": 4, "attachments": [], "additional_urls": "u", "superseded_by": []}},
        {"id": "big", "n": 10**40, "x": 1.5, "title": "Tops"}, {"id": "\ud800", "title": "Legs"},
    ]  # fmt: skip
    library = open_library()
    data = json.dumps(entries, indent=1).encode()
    library.path.write_bytes(data)
    assert library.list().total == 7
    assert library.get("12")["author"] == "Smith"
    assert library.search("legs").total == 1
    assert library.search("tops").items[0]["n"] == 10**40
    added = library.add([SMITH])
    assert library.path.read_bytes().startswith(data[:-2])
    library.remove(added[0].id)
    assert library.path.read_bytes() == data
    for key in ("x", "y", "big"):
        library.update(key, {"note": "n"})
    library.merge("x", "y")
    found = json.loads(library.path.read_bytes())
    assert found[:5] == entries[:5]
    assert found[8]["n"] == 10**40


def test_two_entries_with_one_key_are_both_kept(open_library: Open) -> None:
    library = open_library()
    library.path.write_text('[{"id": "a", "title": "1"}, {"id": "a", "title": "2"}]')
    assert library.get("a")["title"] == "1"
    library.update("a", {"title": "3"})
    assert [one["title"] for one in library.items()] == ["3", "2"]
    library.remove("a")
    assert library.get("a")["title"] == "2"


@pytest.mark.requirement("library:damaged:never-overwritten")
def test_a_damaged_library_is_never_overwritten_and_its_backup_is_named(open_library: Open) -> None:
    library = open_library()
    library.add([SMITH])
    library.add([{"title": "Two"}])
    damaged = library.path.read_bytes()[:-20]
    for data in (damaged, b"", b" \n"):
        library.path.write_bytes(data)
        for call in (
            library.items,
            lambda: library.add([SMITH]),
            lambda: library.search("desks"),
            lambda: library.remove("smith-2023"),
        ):
            error = code_of(call)
            assert error.library_code == "READ_ERROR"
            [backup] = (library.path.parent / "backups").rglob("2*.json")
            assert str(backup) in error.message
            assert library.path.read_bytes() == data
    library.path.write_bytes(backup.read_bytes())
    assert library.get("smith-2023")["title"] == SMITH["title"]


@pytest.mark.requirement("reference-manager:unknown-fields:files")
@pytest.mark.long("corpus")
def test_libraries_of_reference_manager_open_and_stay_as_they_are(
    corpus: Path, open_library: Open, tmp_path: Path
) -> None:
    folder = corpus / "bib" / "reference-manager"
    opened = 0
    for path in sorted(folder.glob("*.json")):
        data = path.read_bytes()
        try:
            entries = json.loads(data)
        except ValueError:
            continue
        copied = tmp_path / path.name
        copied.write_bytes(data)
        library = open_library(copied)
        if not isinstance(entries, list):
            assert code_of(library.items).position == {"line": 1, "column": 1}
            continue
        opened += 1
        assert list(library.items()) == entries
        assert copied.read_bytes() == data
        [added] = library.add([{"title": "One that is not there", "type": "book"}])
        for entry in entries:
            library.update(entry["id"], {"x-test": [1]})
            library.update(entry["id"], {"x-test": None})
            assert {**library.get(entry["id"]), "custom": 0} == {**entry, "custom": 0}
        library.remove(added.id)
        for now, before in zip(library.items(), entries, strict=True):
            custom = before.get("custom", {})
            assert {**now, "custom": 0} == {**before, "custom": 0}
            assert {**now["custom"], "timestamp": 0, "uuid": 0} == {
                **custom,
                "timestamp": 0,
                "uuid": 0,
            }
            assert now["custom"]["uuid"] == custom.get("uuid", now["custom"]["uuid"])
        if all("custom" in one for one in entries):
            times = {
                one["custom"]["uuid"]: (one["custom"]["timestamp"], old["custom"]["timestamp"])
                for one, old in zip(library.items(), entries, strict=True)
            }
            text = copied.read_text("utf-8")
            for new, old in times.values():
                text = text.replace(new, old)
            assert text == data.decode()
    assert opened >= 6
