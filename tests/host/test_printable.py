"""Tests the rule for hidden characters: escaped in JSON, removed from text for people."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from carrel.cli.report import describe
from carrel.errors import SourceError
from carrel.server.stderrlog import StderrLog
from carrel.text import printable as rule
from carrel.text.printable import escaped_json, escaped_json_text, printable, printable_lines
from support.hidden import HIDDEN, JOINERS, SELECTORS, hidden_in

FIXTURES = Path(__file__).parents[1] / "fixtures"
#: Every character that UTF-8 can encode, separated by spaces.
EVERY = [code for code in range(0x110000) if not 0xD800 <= code < 0xE000]
PERSIAN = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"
FAMILY = "\U0001f469\u200d\U0001f467"
HEART = "\u2764\ufe0f"
FLAG = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"


def raw(value: object) -> bytes:
    """Returns a JSON text with only the escapes that JSON requires."""
    return json.dumps(value, ensure_ascii=False).encode()


@pytest.mark.requirement("result:typed:hidden-characters")
class TestJson:
    def test_of_all_characters_exactly_the_documented_ones_become_escapes(self) -> None:
        text = raw([f"{chr(code)}." for code in EVERY])
        written = escaped_json(text)
        assert json.loads(written) == json.loads(text)
        kept = {ord(character) for character in written.decode()}
        needed = {0x22, 0x5C}  # JSON always escapes a quotation mark and a backslash
        assert kept | needed == {code for code in EVERY if code not in HIDDEN} | needed

    def test_the_second_of_two_joiners_or_selectors_is_an_escape(self) -> None:
        for kind in (JOINERS, SELECTORS):
            for one in kind:
                for other in kind:
                    text = raw(f"a{chr(one)}{chr(other)}b")
                    written = escaped_json(text).decode()
                    assert chr(one) in written
                    assert hidden_in(written) == []
                    assert json.loads(written) == json.loads(text)

    @pytest.mark.parametrize("text", [PERSIAN, FAMILY, HEART, "soft\u00adhyphen", "日本\U000e0100"])
    def test_joiners_of_scripts_and_emoji_are_kept(self, text: str) -> None:
        assert escaped_json(raw(text)) == raw(text)
        assert printable(text) == printable_lines(text) == text

    def test_a_text_without_hidden_characters_is_returned_itself(self) -> None:
        text = raw({"title": "Désks — “walls”", "lines": ["a\n\tb"]})
        view = memoryview(text)
        assert escaped_json(text) is text
        assert escaped_json(view) is view

    def test_white_space_between_tokens_is_kept_except_carriage_returns(self) -> None:
        assert escaped_json(b'{\n\t"a": 1,\r "b": 2}\r\n') == b'{\n\t"a": 1,  "b": 2} \n'

    def test_half_of_a_pair_becomes_an_escape(self) -> None:
        halves = '["a\ud800", "\udfff"]'
        assert escaped_json_text(halves) == '["a\\ud800", "\\udfff"]'
        assert escaped_json(halves.encode("utf-8", "surrogatepass")) == b'["a\\ud800", "\\udfff"]'

    @pytest.mark.parametrize("size", [1, 2, 3, 5, 8])
    def test_a_scan_in_pieces_equals_a_scan_of_the_whole(
        self, monkeypatch: pytest.MonkeyPatch, size: int
    ) -> None:
        monkeypatch.setattr(rule, "_PIECE", size)
        for filling in ("", "é", "—", "\U0001f469", "。", "x"):
            for character in (
                *map(chr, sorted(HIDDEN)[0x20::7]),
                "\u200c\u200d\u200c",
                "\ufe0f\ufe0e",
            ):
                text = f'["{filling * 5}{character}{filling * 3}", "{filling}{character}"]'
                assert escaped_json(text.encode()).decode() == escaped_json_text(text)

    def test_many_of_one_leading_byte_do_not_hide_one_character(self) -> None:
        text = raw(["—" * 50_000, "a\u202eb", "\u2013" * 50_000])
        written = escaped_json(text)
        assert hidden_in(written.decode()) == []
        assert json.loads(written) == json.loads(text)

    @pytest.mark.parametrize(
        "path",
        sorted(FIXTURES.rglob("expected.json")),
        ids=lambda path: "-".join(path.parts[-3:-1]),
    )
    def test_the_value_of_every_expected_result_is_unchanged(self, path: Path) -> None:
        value = json.loads(path.read_bytes())
        written = escaped_json(raw(value))
        assert json.loads(written) == value
        assert hidden_in(written.decode()) == []


class TestText:
    def test_controls_become_spaces_and_the_rest_is_dropped(self) -> None:
        assert printable("a\x1b[2J\r\nb\u2028c") == "a [2J  b c"
        assert printable("\u202eevil\u202c \u2066x\u2069") == "evil x"
        assert printable("zero\u200bwidth\ufeff") == "zerowidth"
        assert printable(FLAG) == "\U0001f3f4"
        assert printable("\u2764" + "\ufe0f" * 40 + "!") == f"{HEART}!"

    def test_of_all_characters_none_is_left_that_is_hidden(self) -> None:
        text = ".".join(map(chr, EVERY))
        assert hidden_in(printable(text, len(text)), white_space=False) == []
        lines = printable_lines(text)
        assert hidden_in(lines) == []
        assert "\t" in lines
        assert "\n" in lines
        assert {ord(character) for character in lines} == {
            code for code in EVERY if code not in HIDDEN or code in (9, 10)
        }

    def test_a_long_text_is_cut(self) -> None:
        assert printable("x" * 600) == "x" * 500 + "…"
        assert printable("\u202e" * 600) == "…"

    def test_a_line_of_the_log_cannot_be_forged(self) -> None:
        handler = StderrLog()
        record = logging.LogRecord(
            "carrel", 30, "", 0, "%s", ("one\n2026-01-01 ERROR two\x1b[2J\u202e",), None
        )
        line = handler.format(record)
        assert line.endswith("carrel: one 2026-01-01 ERROR two [2J")

    def test_an_error_for_a_person_has_no_hidden_character(self) -> None:
        error = SourceError("not_found", f"no\x1b[2J {PERSIAN}\u202e", plugin="p", tool="t")
        assert f"no [2J {PERSIAN}\n" in describe(error) + "\n"
