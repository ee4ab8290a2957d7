"""`carrel library convert` as a process."""

from __future__ import annotations

import json

import pytest

from carrel.bibliography import BibliographyError, read_bibliography
from support.command_line import CommandLine

BOOK = "@book{desks, title = {On desks}, year = 2001}\n"


@pytest.fixture(scope="module")
def carrel(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    line = CommandLine(tmp_path_factory.mktemp("home"), real=True)
    line.write("a.bib", BOOK.encode())
    line.write("b.ris", b"TY  - JOUR\nTI  - On chairs\nID  - chairs\n")
    line.write("bad.bib", b"@book{a, title={x}}\n@book{b, year=1, title={never\n")
    line.write("none.txt", b"just words")
    return line


def test_a_bibliography_is_converted(carrel: CommandLine) -> None:
    done = carrel("library", "convert", "a.bib", "--to", "csl-json")
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out) == [
        {"id": "desks", "type": "book", "title": "On desks", "issued": {"date-parts": [[2001]]}}
    ]


def test_several_bibliographies_become_one(carrel: CommandLine) -> None:
    done = carrel("library", "convert", "a.bib", "b.ris", "--to", "biblatex")
    assert done.code == 0
    assert [line for line in done.out.splitlines() if line.startswith("@")] == [
        "@book{desks,", "@article{chairs,",
    ]  # fmt: skip


def test_what_cannot_be_read_is_named_with_its_line(carrel: CommandLine) -> None:
    done = carrel("library", "convert", "bad.bib", "--to", "ris")
    assert done.code == 0
    assert done.out.count("TY  - ") == 2
    assert done.err.startswith("carrel: bad.bib, line 2: b: @book: the brace of 'title' is not")


def test_a_bad_file_does_not_stop_the_others(carrel: CommandLine) -> None:
    done = carrel("library", "convert", "a.bib", "none.txt", "missing.bib", "--to", "endnote")
    assert done.code == 1
    assert "On desks" in done.out
    assert "none.txt: the text is no bibliography" in done.err
    assert "missing.bib: there is no such file" in done.err


@pytest.mark.parametrize(
    ("name", "content", "form"),
    [
        ("empty.bib", b"", "bibtex"),
        ("blank.BIB", b"\xef\xbb\xbf \r\n", "bibtex"),
        ("comments.bib", b"% nothing yet\n\n  % to come\n", "bibtex"),
        ("empty.biblatex", b"", "biblatex"),
        ("empty.ris", b"\n", "ris"),
        ("empty.nbib", b"", "nbib"),
        ("empty.json", b"", "csl-json"),
        ("empty.xml", b"", "endnote"),
    ],
)
def test_an_empty_file_is_an_empty_bibliography_of_the_format_of_its_name(
    name: str, content: bytes, form: str
) -> None:
    found = read_bibliography(content, name=name)
    assert (found.format, found.entries, found.unread) == (form, (), ())
    with pytest.raises(BibliographyError, match="no bibliography"):
        read_bibliography(content, name="notes.txt")


def test_empty_files_are_converted(carrel: CommandLine) -> None:
    carrel.write("empty.bib", b"")
    done = carrel("library", "convert", "empty.bib", "--to", "csl-json")
    assert (done.code, json.loads(done.out), done.err) == (0, [], "")
    done = carrel("library", "convert", "empty.bib", "none.txt", "--to", "ris", "--jsonl")
    first, second = (json.loads(line) for line in done.out.splitlines())
    assert first["result"] == {"format": "bibtex", "text": "", "unread": []}
    assert second["error"]["code"] == "invalid_document"


def test_one_bad_file_is_an_error(carrel: CommandLine) -> None:
    done = carrel("library", "convert", "none.txt", "--to", "ris")
    assert (done.code, done.out) == (1, "")


def test_lines_of_json(carrel: CommandLine) -> None:
    names = ("a.bib", "missing.bib", "bad.bib", "b.ris")
    done = carrel("library", "convert", *names, "--to", "csl-json", "--jsonl")
    lines = [json.loads(line) for line in done.out.splitlines()]
    assert done.code == 1
    assert [line["file"] for line in lines] == list(names)
    assert lines[0]["result"]["format"] == "bibtex"
    assert lines[0]["result"]["items"][0]["title"] == "On desks"
    assert lines[1]["error"]["code"] == "invalid_arguments"
    [unread] = lines[2]["result"]["unread"]
    assert (unread["label"], unread["line"]) == ("b", 2)
    text = carrel("library", "convert", "a.bib", "--to", "ris", "--jsonl")
    assert json.loads(text.out)["result"]["text"].startswith("TY  - BOOK\n")


def test_the_output_is_replaced_at_once(carrel: CommandLine) -> None:
    (carrel.home / "out.ris").write_text("before")
    done = carrel("library", "convert", "a.bib", "--to", "ris", "--output", "out.ris")
    assert (done.code, done.out) == (0, "")
    assert (carrel.home / "out.ris").read_text("utf-8").startswith("TY  - BOOK\n")
    failed = carrel("library", "convert", "none.txt", "--to", "ris", "--output", "out.ris")
    assert failed.code == 1
    assert (carrel.home / "out.ris").read_text("utf-8").startswith("TY  - BOOK\n")


def test_stdin_is_read(carrel: CommandLine) -> None:
    done = carrel("library", "convert", "--to", "word", stdin=BOOK.encode())
    assert done.code == 0
    assert "<b:Title>On desks</b:Title>" in done.out
