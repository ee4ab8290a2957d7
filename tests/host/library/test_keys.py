"""Citation keys: author and year, collisions, other scripts, templates."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.library.errors import LibraryError
from carrel.library.keys import LONGEST, PLACEHOLDERS, KeyTemplate, make_key
from carrel.library.library import Library


def item(family: str | None = None, year: int | None = None, **others: Any) -> dict[str, Any]:
    found: dict[str, Any] = dict(others)
    if family is not None:
        found["author"] = [{"family": family}]
    if year is not None:
        found["issued"] = {"date-parts": [[year]]}
    return found


@pytest.mark.requirement("reference-manager:keys:author-year")
@pytest.mark.parametrize(
    ("given_item", "key"),
    [
        (item("Smith", 2023), "smith-2023"),
        (item("Van Gogh", 1890), "van_gogh-1890"),
        (item("O'Brien", 2001), "obrien-2001"),
        (item("Müller", 2020), "muller-2020"),
        (item("田中", 2022), "tianzhong-2022"),
        (item("김", 2022), "gim-2022"),
        (item("Иванов", 2022), "ivanov-2022"),
        (item("Smith"), "smith-nd"),
        (item("Smith", title="On Desks"), "smith-nd-on_desks"),
        (item(None, 2020, title="On Desks"), "anon-2020-on_desks"),
        (item(title="On Desks"), "anon-nd-on_desks"),
        (item(), "anon-nd-untitled"),
        (item(None, 2020), "anon-2020"),
        ({"author": [{"literal": "World Bank"}], "issued": {"raw": "May 1999"}}, "world_bank-1999"),
        (
            {
                "author": [{"family": "Berg", "non-dropping-particle": "van den"}],
                "issued": {"date-parts": [["2020"]]},
            },
            "van_den_berg-2020",
        ),
    ],
)
def test_a_key_has_author_and_year(given_item: dict[str, Any], key: str) -> None:
    assert make_key(given_item, lambda _: False) == key


@pytest.mark.requirement("reference-manager:keys:letters")
def test_collisions_are_distinguished_by_letters() -> None:
    taken: set[str] = set()
    for _ in range(30):
        taken.add(make_key(item("Smith", 2023), lambda key: key in taken))
    assert {"smith-2023", "smith-2023a", "smith-2023z", "smith-2023aa", "smith-2023ac"} <= taken


@pytest.mark.requirement("reference-manager:keys:case")
def test_a_key_that_differs_in_case_only_is_taken(library: Library) -> None:
    library.add([{"id": "SMITH-2023", "type": "book", "title": "Chairs"}])
    [added] = library.add([{**item("Smith", 2023), "type": "book"}])
    assert added.id == "smith-2023a"


_TEXTS = st.text(max_size=60)
_ANYTHING = st.one_of(st.none(), _TEXTS, st.integers(), st.lists(_TEXTS, max_size=2))


@pytest.mark.requirement("reference-manager:keys:short")
@pytest.mark.property
@given(
    st.fixed_dictionaries(
        {},
        optional={
            "title": _ANYTHING,
            "author": st.one_of(
                _ANYTHING,
                st.lists(
                    st.dictionaries(st.sampled_from(["family", "given", "literal"]), _ANYTHING),
                    max_size=3,
                ),
            ),
            "issued": st.one_of(
                _ANYTHING,
                st.fixed_dictionaries({"date-parts": st.lists(st.lists(_ANYTHING, max_size=2))}),
            ),
        },
    ),
    st.integers(0, 1000),
)
def test_any_item_gets_a_short_key_of_plain_characters(found: dict[str, Any], used: int) -> None:
    count = iter(range(used))
    key = make_key(found, lambda _: next(count, None) is not None)
    assert 0 < len(key) <= LONGEST
    assert key.isascii()
    assert set(key) <= set("abcdefghijklmnopqrstuvwxyz0123456789_-")


@pytest.mark.parametrize(
    ("template", "key"),
    [
        ("{author}{year}{title}", "muller2023origin"),
        ("{Author}{shortyear}", "Muller23"),
        ("{authors}:{year}", "muller_jones:2023"),
        ("{Title}-{type}", "Origin-article_journal"),
        ("{words}", "origin_species_natural"),
    ],
)
def test_a_template_has_placeholders(template: str, key: str) -> None:
    found = {
        "type": "article-journal",
        "author": [{"family": "Müller"}, {"family": "Jones"}],
        "title": "On the Origin of Species, by Natural Selection",
        "issued": {"date-parts": [[2023]]},
    }
    key = key.replace("article_journal", "articlejournal")
    assert KeyTemplate(template).key(found) == key


@pytest.mark.parametrize(
    ("template", "named"),
    [
        ("{foo}", "{author}"),
        ("{", "'{'"),
        ("abc", "no placeholder"),
        ("{author!r}", "options"),
        ("{author:>9}", "options"),
        ("{author} {year}", "' '"),
        ("{author.__class__}", "no placeholder"),
        ("{0}", "no placeholder"),
        ("{author},{year}", "','"),
    ],
)
def test_a_faulty_template_is_named(template: str, named: str) -> None:
    with pytest.raises(LibraryError) as caught:
        KeyTemplate(template)
    assert caught.value.library_code == "INVALID"
    assert named in caught.value.message


def test_an_empty_template_key_is_still_a_key() -> None:
    assert make_key({}, lambda _: False, KeyTemplate("{author}{title}")) == "anon"
    for name in PLACEHOLDERS:
        assert KeyTemplate("{" + name + "}").key({})
