"""Tests the division of names that a source gives in one text."""

from __future__ import annotations

import pytest

from carrel.library.adding.people import divide, with_divided_names


@pytest.mark.parametrize(
    ("name", "family", "given", "suffix"),
    [
        ("Kim Abara", "Abara", "Kim", ""),
        ("Ludwig van der Berg", "van der Berg", "Ludwig", ""),
        ("J. R. Holm-Reyes", "Holm-Reyes", "J. R.", ""),
        ("Jan Okafor Jr", "Okafor", "Jan", "Jr"),
        ("Jan Okafor, Jr.", "Okafor", "Jan", "Jr."),
        ("Émile d'Orsay", "d'Orsay", "Émile", ""),
    ],
)
def test_a_persons_name_is_divided(name: str, family: str, given: str, suffix: str) -> None:
    assert divide(name) == (family, given, suffix)


@pytest.mark.parametrize(
    "name",
    ["Desk Collaboration", "The Quiet Desks", "Plato", "山田 太郎", "deep mind", "3M Company"],
)
def test_another_name_is_not_divided(name: str) -> None:
    assert divide(name) is None


def test_only_names_of_sources_that_do_not_divide_are_divided() -> None:
    item = {"author": [{"literal": "Kim Abara"}]}
    assert with_divided_names(item, ["crossref"]) == item
    divided = with_divided_names(item, ["arxiv"])
    assert divided == {"author": [{"family": "Abara", "given": "Kim"}]}
