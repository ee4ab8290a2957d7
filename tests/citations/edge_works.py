"""Invented works with one oddity each, for the comparison with citeproc-js."""

from __future__ import annotations

from typing import Any

_ADA = {"family": "Lumen", "given": "Ada"}
_BEN = {"family": "Lumen", "given": "Ben"}
_CY = {"family": "Candela", "given": "Cyril Q."}


def _many(family: str, count: int) -> list[dict[str, str]]:
    return [{"family": f"{family}{chr(97 + n)}", "given": f"{chr(65 + n)}."} for n in range(count)]


def _day(*parts: int) -> dict[str, Any]:
    return {"date-parts": [list(parts)]}


def _article(name: str, **members: Any) -> dict[str, Any]:
    """Returns an article of a journal in which the members replace what is usual."""
    usual = {
        "type": "article-journal",
        "title": f"A study of the {name.replace('-', ' ')}",
        "author": [_ADA],
        "container-title": "Journal of Edge Cases",
        "volume": "5",
        "issue": "2",
        "page": "11-20",
        "issued": {"date-parts": [[2015, 3, 2]]},
    }
    merged = {"id": f"edge-{name}", **usual, **members}
    return {key: value for key, value in merged.items() if value is not None}


def _book(name: str, **members: Any) -> dict[str, Any]:
    usual = {
        "type": "book",
        "container-title": None,
        "volume": None,
        "issue": None,
        "page": None,
        "publisher": "Edge Press",
        "publisher-place": "Skerrow",
    }
    return _article(name, **{**usual, **members})


EDGE: tuple[dict[str, Any], ...] = (
    # Two works of one author in one year, and namesakes: year suffixes, given names, substitutes.
    _article("same-author-one", title="First of two"),
    _article("same-author-two", title="Second of two"),
    _article("namesake", author=[_BEN], title="By the namesake"),
    _article("same-author-and-another", author=[_ADA, _CY]),
    _article("same-author-and-two", author=[_ADA, _CY, _BEN]),
    _article("same-author-other-year", issued={"date-parts": [[2016]]}),
    # Titles.
    _article("title-ends-in-question", title="Who lit it?"),
    _article("title-ends-in-dots", title="And then…"),
    _article("title-in-quotes", title="“The whole is quoted”"),
    _article("title-quote-and-question", title="He asked “Who lit it?”"),
    _article("title-of-capitals", title="THE WHOLE TITLE IS LOUD"),
    _article("title-with-colon-lower", title="lamps: their makers, and their users"),
    _article("title-with-hyphens", title="Well-known state-of-the-art lamp-lighting by-laws"),
    _article("title-with-apostrophes", title="Rock 'n' roll and the keeper's daughters' lamps"),
    _article("title-nocase", title='The <span class="nocase">pH</span> of <i>E. coli</i> lamps'),
    _article("title-german", title="die kleine Lampe und das Meer", language="de"),
    _article("title-with-entities", title="Lamps <i>versus</i> stars: 3 < 4 & 5 > 4"),
    _article("title-missing", title=None),
    _article("title-with-slash", title="Light/dark cycles and/or tides"),
    _article("title-with-number-first", title="400 lamps and a bell"),
    _article("title-italic-whole", title="<i>Lampyris noctiluca</i>"),
    _article("title-inner-colon", title="Lamps: Light: Life"),
    # Names.
    _article("no-author"),
    _article("author-only-family", author=[{"family": "Beacon"}]),
    _article("author-initials-run", author=[{"family": "Watt", "given": "JRR"}]),
    _article("author-hyphen-lower", author=[{"family": "Han", "given": "Ji-yeon"}]),
    _article("author-with-comma", author=[{"literal": "Lamps, Bells, and Horns Ltd."}]),
    _article("author-in-quotes", author=[{"family": "Stone", "given": "Jim “Wick”"}]),
    _article("author-same-as-editor", editor=[_ADA]),
    _article("authors-twenty-one", author=_many("Lamp", 21)),
    _article("authors-seven", author=_many("Wick", 7)),
    _article("author-institution-and-person", author=[{"literal": "Edge Group"}, _CY]),
    _book("editor-only", author=None, editor=[_ADA, _CY]),
    _book("translator-only", author=None, translator=[_CY]),
    _book("editor-and-translator", editor=[_BEN], translator=[_CY]),
    _book("editor-is-translator", editor=[_CY], translator=[_CY]),
    # Dates.
    _article("no-date", issued=None),
    _article("year-only", issued={"date-parts": [[2015]]}),
    _article("year-three-digits", issued={"date-parts": [[845]]}),
    _article("before-christ", issued={"date-parts": [[-12, 3]]}),
    _article("season-winter", issued={"date-parts": [[2015]], "season": 4}),
    _article("open-range", issued={"date-parts": [[2015], [0]]}),
    _article("date-in-press", issued={"literal": "in press"}),
    _book("reprint", **{"original-date": _day(1871), "original-publisher": "Old Press"}),
    # Numbers and places.
    _article("page-single", page="11"),
    _article("page-article-number", page="e0123456", issue=None),
    _article("page-letters", page="L12-L15"),
    _article("page-many", page="3, 7, 9-12"),
    _article("page-ampersand", page="3 & 4"),
    _article("no-volume", volume=None),
    _article("issue-only", volume=None, page=None),
    _article("issue-double", issue="3/4"),
    _book("edition-first", edition="1"),
    _book("edition-second", edition="2"),
    _book("edition-text", edition="Illustrated edition"),
    _book("volume-of-many", volume="2", **{"number-of-volumes": "5", "volume-title": "The Wick"}),
    _book("no-place", **{"publisher-place": None}),
    _book("no-publisher", publisher=None),
    # Links.
    _article("doi-and-url", DOI="10.5555/12345678", URL="https://example.org/x"),
    _article("doi-as-url", DOI="https://doi.org/10.5555/12345678"),
    _article("url-only", URL="https://example.org/a_b/%7Ec?d=e&f=<g>", accessed=_day(2020, 1, 2)),
)  # fmt: skip
