"""Edits of BibTeX files: only what changes is changed."""

from __future__ import annotations

import copy

import pytest

from carrel.bibliography.bibtex.in_place import BibtexText

TEXT = """% my library\r
@string{ann = "Annals"}\r
\r
@Article { desk2001 ,\r
\tTitle   = "On {Walled} Desks" ,  % why\r
\tJOURNAL = ann # " of Desks",\r
\tyear = 2001,\r
\tmonth = jan,\r
\trating = {5}\r
}\r
\r
@book{chair, title = {Chairs}}\r
\r
@Comment{jabref-meta: databaseType:bibtex;}\r
"""


def changed(key: str, **members: object) -> str:
    text = BibtexText(TEXT)
    item = copy.deepcopy(next(one for name, one, _ in text.entries if name == key))
    for name, value in members.items():
        if value is None:
            del item[name]
        else:
            item[name] = value
    return text.with_entry(key, item)


def test_no_edit_keeps_every_byte() -> None:
    text = BibtexText(TEXT)
    assert text.edited({}, ()) == TEXT
    for key, item, (start, end) in text.entries:
        assert text.with_entry(key, item) == TEXT
        assert TEXT[start] == "@"
        assert TEXT[end - 1] == "}"


def test_a_changed_value_keeps_its_name_place_and_delimiters() -> None:
    assert changed("desk2001", title="Desks & more") == TEXT.replace(
        '"On {Walled} Desks"', '"Desks \\& more"'
    )
    issued = {"date-parts": [[2002, 1]]}
    assert changed("desk2001", issued=issued) == TEXT.replace(
        "2001,\r\n\tmonth", "2002,\r\n\tmonth"
    )


def test_a_new_field_follows_the_last_one_and_is_laid_out_like_it() -> None:
    assert changed("desk2001", volume="3") == TEXT.replace(
        "rating = {5}\r\n", "rating = {5},\r\n\tvolume = {3}\r\n"
    )
    assert changed("chair", note="x") == TEXT.replace("{Chairs}", "{Chairs}, note = {x}")


def test_a_removed_member_removes_its_field() -> None:
    assert changed("desk2001", issued=None) == TEXT.replace(
        "\r\n\tyear = 2001,\r\n\tmonth = jan,", ","
    ).replace('of Desks",,', 'of Desks",')


def test_a_key_and_a_type_are_changed_in_place() -> None:
    assert changed("chair", id="chair2") == TEXT.replace("{chair,", "{chair2,")
    assert changed("chair", type="report") == TEXT.replace("@book{chair", "@techreport{chair")


def test_members_that_csl_does_not_define_are_kept() -> None:
    edited = changed("chair", custom={"uuid": "1", "note": "a } b { %@"})
    again = BibtexText(edited).entries[1][1]
    assert again["custom"] == {"uuid": "1", "note": "a } b { %@"}
    assert BibtexText(edited).with_entry("chair", again) == edited


def test_an_entry_is_removed_with_its_lines() -> None:
    assert BibtexText(TEXT).without("chair") == TEXT.replace(
        "@book{chair, title = {Chairs}}\r\n\r\n", ""
    )


def test_an_entry_is_appended_before_what_programs_keep_at_the_end() -> None:
    edited = BibtexText(TEXT).appended({"id": "new", "type": "book", "title": "New"})
    assert edited == TEXT.replace(
        "{Chairs}}\r\n", "{Chairs}}\r\n\r\n@book{new,\r\n  title = {New}\r\n}\r\n"
    )


@pytest.mark.parametrize(("text", "before"), [("", ""), ("% mine", "\n\n"), ("% mine\n\n", "")])
def test_an_entry_is_appended_to_a_text_without_entries(text: str, before: str) -> None:
    edited = BibtexText(text).appended({"id": "new", "type": "book", "title": "New"})
    assert edited == f"{text}{before}@book{{new,\n  title = {{New}}\n}}\n"


def test_an_unknown_key_is_refused() -> None:
    with pytest.raises(KeyError):
        BibtexText(TEXT).without("nobody")
