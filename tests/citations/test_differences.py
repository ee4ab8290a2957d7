"""Tests the comparison of bibliographies itself."""

from __future__ import annotations

import pytest

from citations.differences import by_kind, compare, listing, summary
from citations.works import COUNT, works


def entries(**texts: str) -> list[dict[str, str]]:
    return [{"id": name, "text": text} for name, text in texts.items()]


def test_runs_of_white_space_are_alike_and_nothing_else() -> None:
    agreement = compare("apa", entries(a="One  two\u00a0x", b="B"), entries(a="One two x", b="B."))
    assert (agreement.total, agreement.agreeing) == (2, 1)
    assert [one.id for one in agreement.differences] == ["b"]


def test_missing_and_further_entries_disagree() -> None:
    agreement = compare("apa", entries(a="A", c="C"), entries(a="A", b="B"))
    assert {one.id: one.kind for one in agreement.differences} == {
        "b": "entry missing",
        "c": "entry not expected",
    }


def test_the_order_of_the_entries_is_compared_apart() -> None:
    one, other = entries(a="A", b="B"), entries(b="B", a="A")
    agreement = compare("apa", one, other)
    assert (agreement.agreeing, agreement.same_order) == (2, False)


@pytest.mark.parametrize(
    ("ours", "theirs", "kind"),
    [
        ("The lamp", "The Lamp", "case"),
        ("pp. 3-5", "pp. 3–5", "'-' for '–'"),
        ("“a”, b", "“a,” b", "'' for ','; ',' for ''"),
        ('"a"', "“a”", "quotes '\"' for '“'; quotes '\"' for '”'"),
        ("Doe J.", "J. Doe", "order of words"),
        ("2020", "1999", "'9' for '9'"),
    ],
)
def test_differences_have_a_kind_without_the_words(ours: str, theirs: str, kind: str) -> None:
    [difference] = compare("apa", entries(a=ours), entries(a=theirs)).differences
    assert difference.kind == kind


def test_kinds_are_listed_by_frequency_with_examples() -> None:
    found = compare("apa", entries(a="x-y", b="x-z", c="Q"), entries(a="x–y", b="x–z", c="q"))
    assert [(kind, len(group)) for kind, group in by_kind(found.differences)] == [
        ("'-' for '–'", 2),
        ("case", 1),
    ]
    text = listing(found.differences, examples=1)
    assert text.index("## 2 ") < text.index("## 1 ")
    assert "- apa a\n  - ours:   x-y\n  - oracle: x–y" in text
    assert "0 of    3" in summary([found])


def test_the_works_are_varied_and_the_same_each_time() -> None:
    made = works()
    assert len(made) == COUNT == len({item["id"] for item in made})
    assert len({item["type"] for item in made}) == 45
    assert max(len(item.get("author", ())) for item in made) == 25
    assert made == works()
