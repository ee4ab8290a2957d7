"""Tests `carrel cite` with a double of the plugin."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

from carrel.citations.items import nearest_keys
from carrel.citations.unknown_keys import UnknownKeyError
from carrel.cli.app import run
from carrel.cli.session import Session
from citations.doubles import FakeCsl, fake_engine

ITEMS: list[dict[str, Any]] = [
    {"id": "roe2019", "type": "book", "title": "Second"},
    {"id": "doe2020", "type": "article-journal", "title": "First"},
    {"id": 7, "type": "article-journal", "title": "Third\u202e"},
]


@dataclass
class Cite:
    """Runs the command.

    Attributes:
        csl: the double.
        folder: the current folder.
    """

    csl: FakeCsl
    folder: Path
    run: Callable[..., tuple[int, str, str]]

    def __call__(self, *words: str) -> tuple[int, str, str]:
        return self.run(*words)


@pytest.fixture
def cite(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> Cite:
    engine, csl = fake_engine()

    class Host:
        def citation_engine(self) -> Any:
            return engine

    @contextmanager
    def opener(config: Any) -> Any:
        yield Host()

    def invoke(*words: str) -> tuple[int, str, str]:
        code = run(["cite", *words], Session(opener=cast("Any", opener)))
        out, err = capsysbinary.readouterr()
        return code, out.decode(), err.decode()

    monkeypatch.chdir(tmp_path)
    (tmp_path / "items.json").write_text(json.dumps(ITEMS))
    return Cite(csl, tmp_path, invoke)


def test_all_items_are_written_one_entry_a_line_in_the_styles_order(cite: Cite) -> None:
    code, out, err = cite("--items", "items.json", "--style", "ieee")
    assert (code, err) == (0, "")
    assert out.splitlines() == ["7, Third", "doe2020, First", "roe2019, Second"]


def test_lines_of_json_have_the_id_and_the_text(cite: Cite) -> None:
    code, out, _ = cite("--items", "items.json", "--jsonl")
    assert code == 0
    assert [json.loads(line) for line in out.splitlines()][1] == {
        "id": "doe2020",
        "text": "doe2020, First",
    }


def test_options_reach_the_plugin(cite: Cite, tmp_path: Path) -> None:
    (tmp_path / "my.csl").write_text("<style/>")
    words = ("--items", "items.json", "--style", "my.csl", "--locale", "de", "--format", "html")
    assert cite(*words)[0] == 0
    [request] = cite.csl.requests
    assert (request["style"], request["locale"], request["format"]) == ("<style/>", "de-DE", "html")


@pytest.mark.parametrize(
    ("form", "between"), [("markdown", "\n\n"), ("latex", "\n\n"), ("text", "\n")]
)
def test_entries_are_paragraphs_of_their_format(cite: Cite, form: str, between: str) -> None:
    out = cite("--items", "items.json", "--format", form)[1]
    assert out == f"7, Third{between}doe2020, First{between}roe2019, Second\n"


def test_entries_of_html_are_elements_as_those_of_citeproc_js(cite: Cite) -> None:
    out = cite("--items", "items.json", "--format", "html", "doe2020")[1]
    assert out == '<div class="csl-entry">doe2020, First</div>\n'


def test_keys_choose_works_and_brackets_make_a_citation(cite: Cite) -> None:
    code, out, _ = cite("--items", "items.json", "doe2020")
    assert (code, out) == (0, "doe2020, First\n")
    _, out, _ = cite("--items", "items.json", "--citations", "[see @doe2020, p. 3; -@roe2019]", "7")
    assert out.splitlines() == [
        "(see doe2020 page 3; -roe2019)",
        "(7)",
        "",
        "7, Third",
        "doe2020, First",
        "roe2019, Second",
    ]


def test_a_manuscript_has_its_citations_with_places_and_its_bibliography(cite: Cite) -> None:
    (cite.folder / "paper.md").write_text("---\nnocite: '@7'\n---\nAs @doe2020 [p. 3] says.\n")
    code, out, err = cite("paper.md", "--items", "items.json", "--citations")
    assert (code, err) == (0, "")
    assert out == "4:4: (doe2020!) (-doe2020 page 3)\n\n7, Third\ndoe2020, First\n"
    _, out, _ = cite("paper.md", "--items", "items.json", "--citations", "--jsonl")
    assert json.loads(out.splitlines()[0]) == {
        "line": 4,
        "column": 4,
        "keys": ["doe2020"],
        "citation": "(doe2020!) (-doe2020 page 3)",
    }


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.tex", "\\begin{document}\\citep[3]{doe2020}\n\\nocite{roe2019}\\end{document}"),
        ("a.typ", "@doe2020[3]\n#cite(<roe2019>, form: none)"),
    ],
)
def test_latex_and_typst_are_read_too(cite: Cite, name: str, text: str) -> None:
    (cite.folder / name).write_text(text)
    code, out, _ = cite(name, "--items", "items.json")
    assert (code, out) == (0, "doe2020, First\nroe2019, Second\n")


@pytest.mark.requirement("citations:keys:unknown")
def test_unknown_keys_are_named_with_their_place_and_the_rest_is_written(cite: Cite) -> None:
    (cite.folder / "paper.md").write_text("Text\n\n[@doe2020; @do2020] and @ghost, @ghost.\n")
    code, out, err = cite("paper.md", "--items", "items.json")
    assert (code, out) == (1, "doe2020, First\n")
    first, second = [line for line in err.splitlines() if line.startswith("carrel:")]
    assert first == "carrel: paper.md:3:12: no work has the key do2020; did you mean doe2020?"
    assert "what to do: the keys of items.json are 7, doe2020, roe2019\n" in err
    assert second == "carrel: paper.md:3:25: no work has the key ghost"
    code, out, err = cite("paper.md", "--items", "items.json", "--jsonl")
    assert (code, err) == (1, "")
    record = json.loads(out.splitlines()[1])
    assert (record["key"], record["line"], record["column"]) == ("do2020", 3, 12)
    assert record["error"]["code"] == "not_found"
    assert record["error"]["near"] == ["doe2020"]


def test_an_unknown_key_on_the_command_line_has_no_place(cite: Cite) -> None:
    code, out, err = cite("--items", "items.json", "Doe2020", "roe2019")
    assert (code, out) == (1, "roe2019, Second\n")
    assert err.startswith("carrel: no work has the key Doe2020; did you mean doe2020?\n")


def test_citations_of_unknown_works_leave_out_what_is_unknown(cite: Cite) -> None:
    (cite.folder / "paper.md").write_text("[@ghost] [@ghost; @doe2020] @ghost\n")
    _, out, _ = cite("paper.md", "--items", "items.json", "--citations")
    assert out == "1:2: \n1:11: (doe2020)\n1:29: \n\ndoe2020, First\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"id": "a", "title": "One"}', "a, One\n"),
        ('{"items": [{"id": "a", "title": "One"}]}', "a, One\n"),
        ('\ufeff[{"id": "a", "title": "One"}]', "a, One\n"),
        ("@book{a, title = {One}}", "a, One\n"),
        ("[]", ""),
    ],
)
def test_items_are_csl_json_or_another_bibliography(cite: Cite, text: str, expected: str) -> None:
    (cite.folder / "some").write_text(text)
    assert cite("--items", "some")[:2] == (0, expected)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('[{"title": "One"}]', "some: item 1 has no id; each item needs one"),
        ('[{"id": ""}]', "some: item 1 has no id"),
        ("[1]", "some: item 1 is not an object"),
        ("no bibliography", "some: "),
    ],
)
def test_items_that_cannot_be_used_are_refused(cite: Cite, text: str, fault: str) -> None:
    (cite.folder / "some").write_text(text)
    code, out, err = cite("--items", "some")
    assert (code, out) == (2, "")
    assert fault in err


def test_an_item_that_is_there_twice_is_used_once(cite: Cite) -> None:
    (cite.folder / "some").write_text('[{"id":"a","title":"One"},{"id":"a","title":"Two"}]')
    code, out, err = cite("--items", "some")
    assert (code, out) == (0, "a, One\n")
    assert "some: a: is there more than once" in err


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        ((), "name keys or a manuscript, or give works with --items FILE"),
        (("paper.md", "doe2020"), "paper.md is a manuscript; name one manuscript, or only keys"),
        (("-", "--items", "-"), "stdin can be the manuscript or the items, not both"),
        (("none.md", "--items", "items.json"), "none.md: there is no such file"),
        (("--items", "items.json", "--style", "ghost-style"), "no style 'ghost-style'"),
        (("--items", "items.json", "--style", "none.csl"), "none.csl: there is no such file"),
        (("--items", "items.json", "--locale", "tlh"), "no locale 'tlh'"),
    ],
)
def test_misuse_says_what_to_do(cite: Cite, words: tuple[str, ...], fault: str) -> None:
    code, out, err = cite(*words)
    assert (code, out) == (2, "")
    assert fault in err


def test_the_styles_are_listed(cite: Cite) -> None:
    code, out, _ = cite("--list-styles")
    assert code == 0
    assert "apa                               APA Style 7th edition\n" in out
    _, out, _ = cite("--list-styles", "--jsonl")
    assert json.loads(out.splitlines()[0])["citation_format"] == "numeric"


def test_hidden_characters_are_not_written(cite: Cite) -> None:
    _, out, _ = cite("--items", "items.json", "7")
    assert "\u202e" not in out


def test_keys_are_those_of_the_library_without_items(
    cite: Cite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CARREL_DATA_DIR", str(cite.folder / "data"))
    monkeypatch.setenv("CARREL_CACHE_DIR", str(cite.folder / "cache"))
    (cite.folder / "data").mkdir()
    (cite.folder / "data" / "library.json").write_text(json.dumps(ITEMS[:2]))
    (cite.folder / "paper.md").write_text("[@roe2019; @nobody]\n")
    assert cite("doe2020")[:2] == (0, "doe2020, First\n")
    code, out, err = cite("paper.md")
    assert (code, out) == (1, "roe2019, Second\n")
    assert "paper.md:1:12: no work has the key nobody\n" in err
    assert "what to do: carrel library list shows the keys, and carrel library search" in err


def test_a_missing_library_has_no_works(cite: Cite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARREL_DATA_DIR", str(cite.folder / "data"))
    monkeypatch.setenv("CARREL_CACHE_DIR", str(cite.folder / "cache"))
    code, out, err = cite("doe2020")
    assert (code, out) == (1, "")
    assert "no work has the key doe2020\n" in err
    library = cite.folder / "data" / "library.json"
    assert f"what to do: {library} has no works: add one with carrel library add" in err


@pytest.mark.parametrize(
    ("key", "known", "near"),
    [
        ("smith2022", ["smith-2023", "smith-2024", "jones-2022"], ["smith-2024", "smith-2023"]),
        ("Smith-2023", ["smith-2023"], ["smith-2023"]),
        ("marlow", ["marlow_and_okafor-2019", "anon"], ["marlow_and_okafor-2019"]),
        ("key", [f"key{n}" for n in range(9)], ["key8", "key7", "key6"]),
        ("zz", ["jazz-2001"], []),
        ("nobody", [], []),
    ],
)
def test_near_keys_are_spelt_alike_or_contain_the_key(
    key: str, known: list[str], near: list[str]
) -> None:
    assert nearest_keys(key, known) == near


def test_many_keys_of_a_file_are_shown_in_part() -> None:
    keys = [f"work{number:02d}" for number in range(12)]
    advice = UnknownKeyError("zzz", keys, items_file="refs.bib").advice
    assert advice == f"the keys of refs.bib are {', '.join(keys[:10])} and 2 more"
    none = UnknownKeyError("zzz", [], items_file="refs.bib").advice
    assert none.startswith("refs.bib has no works")


def test_entries_are_wrapped_with_a_hanging_indent_on_a_terminal(
    cite: Cite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("carrel.citations.command.stdout_is_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "24")
    (cite.folder / "some").write_text('[{"id": "a", "title": "A title of more than one line"}]')
    assert cite("--items", "some")[1] == "a, A title of more\n    than one line\n"


def test_an_author_without_a_form_in_the_style_is_left_out(
    cite: Cite, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cluster(citation: dict[str, Any]) -> str:
        only = citation["items"][0].get("author-only")
        return "[CSL STYLE ERROR: reference with no printed form.]" if only else "[1]"

    monkeypatch.setattr("citations.doubles._cluster", cluster)
    (cite.folder / "paper.md").write_text("As @doe2020 says.\n")
    out = cite("paper.md", "--items", "items.json", "--citations")[1]
    assert out.splitlines()[0] == "1:4: [1]"


def test_style_locale_and_library_are_those_of_the_settings(
    cite: Cite, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {"library": {"style": "ieee", "locale": "de-DE"}}
    (cite.folder / "carrel.json").write_text(json.dumps(settings))
    (cite.folder / "mine.json").write_text(json.dumps(ITEMS[:2]))
    monkeypatch.setenv("CARREL_CONFIG", str(cite.folder / "carrel.json"))
    assert cite("--library", "mine.json", "doe2020")[1] == "doe2020, First\n"
    asked = cite.csl.requests[-1]
    assert ("IEEE" in asked["style"], asked["locale"]) == (True, "de-DE")
    cite("--library", "mine.json", "--style", "apa", "--locale", "fr-FR", "doe2020")
    assert cite.csl.requests[-1]["locale"] == "fr-FR"
