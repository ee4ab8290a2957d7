"""Tests `carrel parse`: one result per document."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from carrel.cli.document import document_text, read_document
from carrel.errors import ArgumentError, CarrelError, SourceError, StorageError
from support.command_line import CommandLine

posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX files")


@pytest.fixture
def carrel(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path)


class TestOneDocument:
    @pytest.mark.parametrize("extra", [[], ["--json"]])
    def test_the_components_json_is_printed_unchanged(
        self, carrel: CommandLine, extra: list[str]
    ) -> None:
        done = carrel("parse", "fake", "feed", carrel.write("d.xml", "abc"), *extra)
        assert (done.code, done.out, done.err) == (0, '{"length":3,  "same":"\\u0041"}\n', "")

    @pytest.mark.parametrize("words", [[], ["-"], ["--json"]])
    def test_without_a_file_the_document_is_read_from_stdin(
        self, carrel: CommandLine, words: list[str]
    ) -> None:
        assert json.loads(carrel("parse", "fake", "feed", *words, stdin=b"abcd").out)["length"] == 4

    def test_a_document_in_another_charset_is_decoded(self, carrel: CommandLine) -> None:
        text = '<?xml version="1.0" encoding="ISO-8859-1"?><a>äöü</a>'
        done = carrel("parse", "fake", "feed", carrel.write("d.xml", text.encode("latin-1")))
        assert json.loads(done.out)["length"] == len(text)

    @pytest.mark.requirement("result:typed:invalid-document-names-the-place")
    def test_a_bad_document_fails_and_names_the_place(self, carrel: CommandLine) -> None:
        done = carrel("parse", "fake", "feed", carrel.write("d.xml", "malformed"))
        assert (done.code, done.out) == (1, "")
        assert "where: offset 17, path feed/title" in done.err

    @pytest.mark.parametrize(
        ("name", "says"),
        [("none.xml", "none.xml: there is no such file"), (".", "is a folder")],
    )
    def test_a_path_that_is_no_file_is_named(
        self, carrel: CommandLine, name: str, says: str
    ) -> None:
        done = carrel("parse", "fake", "feed", name)
        assert (done.code, done.out) == (1, "")
        assert says in done.err

    def test_an_unreadable_configuration_is_misuse(self, carrel: CommandLine) -> None:
        carrel.write("c.toml", "nonsense")
        done = carrel("parse", "fake", "feed", env={"CARREL_CONFIG": "c.toml"})
        assert done.code == 2
        assert "c.toml" in done.err


class TestBytes:
    """Tests documents of a binary format."""

    def test_the_file_is_handed_over_as_it_is(self, carrel: CommandLine) -> None:
        done = carrel("parse", "fake", "bytes", carrel.write("d.bin", b"\xff\xfe\x00a"))
        assert (done.code, done.out) == (0, '{"size": 4, "options": null}\n')

    def test_stdin_is_handed_over_as_it_is(self, carrel: CommandLine) -> None:
        done = carrel("parse", "fake", "bytes", stdin=b"\xff\xfe")
        assert json.loads(done.out)["size"] == 2

    def test_options_are_handed_over(self, carrel: CommandLine) -> None:
        name = carrel.write("d.bin", b"")
        done = carrel("parse", "fake", "bytes", name, "--options", '{"pages": "3-7"}')
        assert json.loads(done.out) == {"size": 0, "options": {"pages": "3-7"}}

    @pytest.mark.parametrize(
        ("options", "says"),
        [
            ("{", "--options is not JSON"),
            ("[1]", '--options takes a JSON object, such as {"pages"'),
        ],
    )
    def test_options_that_are_no_object_are_refused(
        self, carrel: CommandLine, options: str, says: str
    ) -> None:
        name = carrel.write("d.bin", b"")
        done = carrel("parse", "fake", "bytes", name, "--options", options)
        assert (done.code, done.out) == (2, "")
        assert says in done.err

    def test_several_files_give_a_line_each(self, carrel: CommandLine) -> None:
        names = [carrel.write("a.bin", b"\xff"), carrel.write("b.bin", b"")]
        lines = carrel("parse", "fake", "bytes", *names).out.splitlines()
        assert [json.loads(line)["result"]["size"] for line in lines] == [1, 0]


class TestSeveralDocuments:
    def test_each_document_gets_a_line_in_order_and_errors_do_not_stop_the_rest(
        self, carrel: CommandLine
    ) -> None:
        names = [
            carrel.write("a.xml", "abc"),
            carrel.write("b.xml", "malformed"),
            "none.xml",
            carrel.write("c.xml", b"\xff\xfeab\x00"),
            carrel.write("d.xml", "abcd"),
        ]
        done = carrel("parse", "fake", "feed", *names)
        assert done.code == 1
        assert done.err == ""
        lines = [json.loads(line) for line in done.out.splitlines()]
        assert [line["file"] for line in lines] == names
        assert [line.get("result", {}).get("length") for line in lines] == [3, None, None, None, 4]
        assert [line.get("error", {}).get("code") for line in lines] == [
            None,
            "invalid_document",
            "invalid_arguments",
            "invalid_document",
            None,
        ]
        assert lines[1]["error"]["position"] == {"offset": 17, "path": "feed/title"}

    def test_the_components_json_is_inserted_unchanged(self, carrel: CommandLine) -> None:
        carrel.write("a.xml", "abc")
        done = carrel("parse", "fake", "feed", "a.xml", "a.xml")
        line = '{"file":"a.xml","result":{"length":3,  "same":"\\u0041"}}\n'
        assert (done.code, done.out) == (0, line * 2)

    def test_json_over_several_lines_is_put_on_one(self, carrel: CommandLine) -> None:
        carrel.write("a.xml", "pretty")
        lines = carrel("parse", "fake", "feed", "a.xml", "a.xml").out.splitlines()
        assert [json.loads(line)["result"] for line in lines] == [{"a": "b"}] * 2

    def test_a_fault_of_the_command_stops_at_once(self, carrel: CommandLine) -> None:
        carrel.write("a.xml", "abc")
        done = carrel("parse", "fake", "fed", "a.xml", "a.xml")
        assert (done.code, done.out) == (2, "")

    def test_a_plugin_that_cannot_be_loaded_stops_at_once(self, carrel: CommandLine) -> None:
        carrel.write("a.xml", "unloadable")
        done = carrel("parse", "fake", "feed", "a.xml", "a.xml")
        assert (done.code, done.out) == (1, "")
        assert done.err.count("digest differs") == 1

    @posix
    def test_a_name_that_is_not_utf8_still_makes_json(self, carrel: CommandLine) -> None:
        odd = os.fsdecode(b"\xff.xml")
        try:
            carrel.write(odd, "abc")
        except OSError:
            pytest.skip("this file system takes UTF-8 names only")
        done = carrel("parse", "fake", "feed", odd, odd)
        assert [json.loads(line)["file"] for line in done.out.splitlines()] == [odd, odd]


class TestReadDocument:
    def read(self, path: Path | str, cap: int = 1000) -> str:
        about = {"plugin": "p", "document_format": "f"}
        data = read_document(str(path), cap=cap, **about)
        return document_text(data, str(path), **about).data.decode()

    def failure(self, path: Path, cap: int = 1000) -> CarrelError:
        with pytest.raises(CarrelError) as caught:
            self.read(path, cap)
        assert str(path) in caught.value.message
        return caught.value

    @pytest.mark.parametrize(
        "data",
        [
            "<a>ä</a>".encode(),
            "\ufeff<a>ä</a>".encode(),
            "<a>ä</a>".encode("utf-16"),
            "\ufeff<a>ä</a>".encode("utf-16-be"),
        ],
    )
    def test_the_charset_is_that_of_the_document(self, tmp_path: Path, data: bytes) -> None:
        path = tmp_path / "d.xml"
        path.write_bytes(data)
        assert self.read(path) == "<a>ä</a>"

    @pytest.mark.parametrize(
        ("data", "offset"),
        [
            (b"abc\xff", 3),
            (b"\xef\xbb\xbfabc\xff", 6),
            (b"\xff\xfea\x00b", 4),
            (bytes(range(256)), 128),
        ],
    )
    def test_bytes_that_are_no_text_are_an_invalid_document_with_the_offset(
        self, tmp_path: Path, data: bytes, offset: int
    ) -> None:
        path = tmp_path / "d.xml"
        path.write_bytes(data)
        error = self.failure(path)
        assert error.error_code == "invalid_document"
        assert error.details()["position"] == {"offset": offset}

    def test_an_unknown_charset_is_an_invalid_document(self, tmp_path: Path) -> None:
        path = tmp_path / "d.xml"
        path.write_text('<?xml version="1.0" encoding="rot13"?><a/>')
        assert self.failure(path).error_code == "invalid_document"

    def test_a_document_over_the_cap_is_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "d.xml"
        path.write_bytes(b"x" * 11)
        assert len(self.read(path, cap=11)) == 11
        assert self.failure(path, cap=10).error_code == "too_large"

    @pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs an endless file")
    def test_of_an_endless_file_only_the_cap_is_read(self) -> None:
        with pytest.raises(SourceError) as caught:
            self.read("/dev/zero", cap=5_000_000)
        assert caught.value.error_code == "too_large"

    def test_a_name_with_a_null_byte_is_no_file(self) -> None:
        with pytest.raises(ArgumentError):
            self.read("a\0b")

    @posix
    @pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads all")
    def test_an_unreadable_file_is_a_storage_error(self, tmp_path: Path) -> None:
        path = tmp_path / "d.xml"
        path.touch(mode=0)
        with pytest.raises(StorageError):
            self.read(path)

    @posix
    def test_a_named_pipe_is_read_to_its_end(self, carrel: CommandLine) -> None:
        script = 'cat "$1" | "$2" "$3" parse fake feed /dev/stdin'
        carrel.write("d.xml", "x" * 300_000)
        _, fake = carrel.words()
        done = subprocess.run(
            ["/bin/sh", "-c", script, "sh", "d.xml", sys.executable, fake],
            capture_output=True,
            env=carrel.environment(),
            cwd=carrel.home,
            check=True,
        )
        assert json.loads(done.stdout)["length"] == 300_000
