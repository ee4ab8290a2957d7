"""Tests `carrel.cli.render`: tables and paragraphs at the width of a terminal."""

from __future__ import annotations

import pytest

from carrel.cli.render import paragraph, plain, table


@pytest.fixture(autouse=True)
def no_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")


HEADINGS = ("host", "asked", "granted", "refused")
ROWS = [["api.example.org", "GET /v1/works", "GET /v1/works", ""]]


@pytest.mark.parametrize(
    ("columns", "lines"),
    [
        (
            50,
            [
                "host             asked          granted",
                "api.example.org  GET /v1/works  GET /v1/works",
            ],
        ),
        (
            40,
            [
                "host",
                "  asked          granted",
                "api.example.org",
                "  GET /v1/works  GET /v1/works",
            ],
        ),
        (
            26,
            ["api.example.org", "  asked    GET /v1/works", "  granted  GET /v1/works"],
        ),
    ],
)
def test_a_table_keeps_its_columns_as_long_as_they_can_be_read(
    columns: int,
    lines: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    table(HEADINGS, ROWS)
    assert [line.rstrip() for line in capsys.readouterr().out.splitlines()] == lines


def test_an_empty_table_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    table(HEADINGS, [], title="Hosts")
    assert capsys.readouterr().out == "\nHosts\nnone\n"


def test_a_paragraph_hangs_under_its_number(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    paragraph("one two three four five", first="  7", indent=5)
    assert capsys.readouterr().out == "  7  one two three\n     four five\n"


def test_a_plain_text_keeps_its_lines_and_loses_control_characters(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    plain("[b]a[/b] :smile:\n\tb\x1b[2J\u202e " + "long " * 9)
    assert capsys.readouterr().out == "[b]a[/b] :smile:\n\tb [2J " + "long " * 9 + "\n"
