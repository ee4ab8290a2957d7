"""Tests `carrel read` as a process, with the built-in plugins that read documents."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import time

import pytest

from support.articles import DOCUMENT, article, long_article, reader, section
from support.command_line import CommandLine
from support.lookups import LOOP

posix = pytest.mark.skipif(os.name != "posix", reason="Windows has no such thing")


@pytest.fixture(scope="module")
def carrel(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """Returns a home directory for all tests of this file, so that plugins are compiled once."""
    line = CommandLine(tmp_path_factory.mktemp("home"), real=True)
    line.write("short.xml", article())
    line.write("long.xml", long_article())
    line.write("cut.xml", article()[:-60])
    line.write("empty.xml", b"")
    line.write("program", b"\x7fELF" + bytes(100))
    return line


@pytest.fixture(scope="module")
def strange(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """Returns a home directory whose configuration has third-party plugins for RTF and DjVu."""
    line = CommandLine(tmp_path_factory.mktemp("strange"), real=True)
    entries = []
    for name, guest in (("rich", reader("rtf")), ("slow", reader("djvu", body=LOOP))):
        line.write(f"{name}.wasm", guest.wasm)
        entries.append(f'[plugins.{name}]\nurl = "file:{name}.wasm"\n')
    line.write("carrel.toml", "".join(entries))
    line.write("a.rtf", b"{\\rtf1 words}")
    line.write("a.djvu", b"AT&TFORM\0\0\0\0DJVU")
    return line


def records(out: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in out.splitlines()]


def test_a_document_is_shown_as_markdown_without_configuration(carrel: CommandLine) -> None:
    done = carrel("read", "short.xml")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("# On stones\n\nDOI: 10.5555/stones.1\n\n## Abstract\n\nIn short.")
    assert done.out.endswith("twice.\n")


def test_the_content_decides_and_not_the_name(carrel: CommandLine) -> None:
    carrel.write("paper.pdf", article())
    carrel.write("packed", gzip.compress(article()))
    expected = carrel("read", "short.xml").out
    assert carrel("read", "paper.pdf").out == expected
    assert carrel("read", "packed").out == expected
    for words in (("read",), ("read", "-")):
        assert carrel(*words, stdin=article()).out == expected


def test_text_and_json_are_other_formats(carrel: CommandLine) -> None:
    plain = carrel("read", "short.xml", "--format", "text").out
    assert plain.startswith("On stones\n\nDOI: 10.5555/stones.1\n\nAbstract\n\nIn short.")
    document = json.loads(carrel("read", "short.xml", "--format", "json").out)
    assert document == json.loads(carrel("parse", "jats", "jats", "short.xml").out)
    assert (document["title"], document["quality"]) == ("On stones", "complete")


def test_a_section_is_returned_alone(carrel: CommandLine) -> None:
    out = carrel("read", "long.xml", "--section", "methods").out
    assert out.startswith("## 2 Materials and Methods\n")
    assert out.count("\n#") == 1, "with the section inside it"
    wrong = carrel("read", "long.xml", "--section", "Discussion")
    assert (wrong.code, wrong.out) == (2, "")
    assert "'3 Results'" in wrong.err


def test_a_cut_text_says_where_the_next_part_begins(carrel: CommandLine) -> None:
    whole = carrel("read", "long.xml").out
    pieces, start = [], "0"
    while start:
        out = carrel("read", "long.xml", "--max-chars", "5000", "--from", start).out
        body, _, start = out.partition("\n[characters ")
        start = start.partition("--from ")[2].rstrip("]\n")
        assert len(body) <= 5002
        pieces.append(body.rstrip("\n"))
    assert len(pieces) > 3
    assert "\n\n".join(pieces) + "\n" == whole


def test_several_files_are_shown_in_order_despite_an_unreadable_one(
    carrel: CommandLine,
) -> None:
    done = carrel("read", "short.xml", "cut.xml", "none.xml", "short.xml")
    assert done.code == 1
    assert [line for line in done.out.splitlines() if line.startswith("==>")] == [
        "==> short.xml <=="
    ] * 2
    assert "none.xml: there is no such file" in done.err


def test_jsonl_has_one_line_for_each_file(carrel: CommandLine) -> None:
    names = ["short.xml", "cut.xml", "none.xml", "empty.xml", "program", ".", "short.xml"]
    done = carrel("read", "--jsonl", *names)
    assert (done.code, done.err) == (1, "")
    results = records(done.out)
    assert [one["file"] for one in results] == names
    first = results[0]
    assert first == results[-1]
    assert first["text"] == carrel("read", "short.xml").out
    assert (first["title"], first["kind"], first["quality"]) == (
        "On stones",
        "research-article",
        "complete",
    )
    assert first["identifiers"] == {"doi": "10.5555/stones.1"}
    assert {"name", "value", "from"} <= set(first["metadata"][0])  # type: ignore[index]
    codes = [one["error"]["code"] for one in results[1:-1]]  # type: ignore[index]
    assert codes == [
        "invalid_document",
        "invalid_arguments",
        "invalid_document",
        "invalid_document",
        "invalid_arguments",
    ]


def test_jsonl_of_one_file_is_a_line_too(carrel: CommandLine) -> None:
    assert carrel("read", "--jsonl", "short.xml").code == 0
    done = carrel("read", "--jsonl", "cut.xml")
    assert (done.code, len(records(done.out))) == (1, 1)


def test_jsonl_takes_parts_of_texts(carrel: CommandLine) -> None:
    [one] = records(carrel("read", "--jsonl", "--max-chars", "100", "long.xml").out)
    assert len(str(one["text"])) <= 101
    assert isinstance(one["next"], int)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["empty.xml"], 1, "the file is empty"),
        (["program"], 1, "what can be read: "),
        (["none.xml"], 2, "there is no such file"),
        (["."], 2, "is a folder"),
        (["cut.xml"], 1, "where: offset"),
        (["short.xml", "--pages", "1-2"], 2, "has no pages"),
        (["short.xml", "--from", "100000"], 2, "behind the end"),
        (["short.xml", "--format", "json", "--section", "Methods"], 2, "whole document"),
        (["short.xml", "--format", "pdf"], 2, "--help"),
    ],
)
def test_an_unreadable_file_is_an_error_with_the_reason(
    carrel: CommandLine, words: list[str], code: int, message: str
) -> None:
    done = carrel("read", *words)
    assert (done.code, done.out) == (code, "")
    assert message in done.err
    assert "what to do" in done.err


def test_errors_can_be_json(carrel: CommandLine) -> None:
    done = carrel("read", "cut.xml", "--json-errors")
    assert json.loads(done.err)["error"]["code"] == "invalid_document"


@posix
def test_names_that_are_no_utf_8_are_names(carrel: CommandLine) -> None:
    name = os.fsdecode(b"caf\xe9.xml")
    (carrel.home / name).write_bytes(article())
    done = carrel("read", "--jsonl", name)
    assert done.code == 0
    [one] = records(done.out)
    assert os.fsencode(str(one["file"])) == b"caf\xe9.xml"
    assert carrel("read", name, "short.xml").out.startswith("==> caf?.xml <==\n")


@posix
def test_a_pipe_can_be_read(carrel: CommandLine) -> None:
    os.mkfifo(carrel.home / "fifo")
    process = carrel.start("read", "fifo")
    (carrel.home / "fifo").write_bytes(article())
    out, _ = process.communicate(timeout=30)
    assert out.startswith(b"# On stones")


def test_hidden_characters_do_not_reach_the_output(carrel: CommandLine) -> None:
    body = section("One").replace("stone", "st\u202eone&#x9b;\u200b")
    carrel.write("hidden.xml", article(body))
    for words in (("read", "hidden.xml"), ("read", "--jsonl", "hidden.xml")):
        out = carrel(*words).out
        assert not {"\u202e", "\x9b", "\u200b"} & set(out)
    [one] = records(carrel("read", "--jsonl", "hidden.xml").out)
    assert "\u202e" in str(one["text"]), "in JSON the value stays"


@posix
class TestOnATerminal:
    def test_headings_and_tables_are_shown_as_such(self, carrel: CommandLine) -> None:
        table = (
            "<table-wrap><table><thead><tr><th>site</th><th>stones</th></tr></thead>"
            "<tbody><tr><td>upper</td><td>12</td></tr></tbody></table></table-wrap>"
        )
        carrel.write("table.xml", article(f"<sec><title>Found</title>{table}</sec>"))
        done = carrel.on_terminal("read", "table.xml")
        assert done.code == 0
        assert "\x1b[" in done.out
        assert "## Found" not in done.out
        assert "| site" not in done.out
        assert "upper" in done.out

    def test_other_formats_are_returned_unchanged(self, carrel: CommandLine) -> None:
        assert "\x1b[" not in carrel.on_terminal("read", "short.xml", "--format", "text").out

    def test_a_cut_result_names_its_continuation(self, carrel: CommandLine) -> None:
        done = carrel.on_terminal("read", "long.xml", "--max-chars", "300")
        assert "--from " in done.out


class TestAStrangersReader:
    def test_it_reads_its_format(self, strange: CommandLine) -> None:
        done = strange("read", "a.rtf", "--config", "carrel.toml")
        assert (done.code, done.err) == (0, "")
        assert done.out == "# A stranger's\n\nDOI: 10.5555/9\n\n## Words\n\nRich words.\n"
        [one] = records(strange("read", "a.rtf", "--jsonl", "--config", "carrel.toml").out)
        assert (one["title"], one["format"]) == (DOCUMENT["title"], "rtf")

    def test_without_it_the_format_is_unknown(self, strange: CommandLine) -> None:
        done = strange("read", "a.rtf")
        assert (done.code, "an RTF document" in done.err) == (1, True)

    @posix
    def test_an_interrupt_ends_a_reading(self, strange: CommandLine) -> None:
        process = strange.start("read", "a.djvu", "--config", "carrel.toml")
        time.sleep(3)
        assert process.poll() is None
        started = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
        assert (process.returncode, out, err) == (130, b"", b"")
        assert time.monotonic() - started < 10


@posix
def test_a_closed_output_pipe_ends_the_command(carrel: CommandLine) -> None:
    process = carrel.start("read", "--jsonl", *["long.xml"] * 300)
    assert process.stdout is not None
    process.stdout.read(100)
    process.stdout.close()
    assert process.wait(timeout=60) == 141
    assert process.stderr is not None
    with process.stderr:
        assert process.stderr.read() == b""


@posix
@pytest.mark.long("matrix")
def test_thousands_of_files_do_not_add_up_in_memory(carrel: CommandLine) -> None:
    """Compares the peak memory of reading 100 files and 3,000 files in the same order."""

    def most(count: int) -> int:
        names = ["long.xml", "short.xml"] * (count // 2)
        code = (
            "import resource, subprocess, sys; subprocess.run(sys.argv[1:], "
            "stdout=subprocess.DEVNULL, check=True); "
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
        )
        command = carrel.words("read", "--jsonl", *names)
        done = subprocess.run(
            [command[0], "-c", code, *command],
            capture_output=True,
            text=True,
            env=carrel.environment(),
            cwd=carrel.home,
            check=True,
        )
        return int(done.stdout)

    few, many = most(100), most(3000)
    assert many < few * 1.15


def test_the_help_shows_an_example(carrel: CommandLine) -> None:
    done = carrel("read", "--help")
    assert "carrel read paper.pdf --section Methods" in done.out
