"""Makes the 300 invented works in CSL-JSON that the fifteen styles are compared over.

    python -m citations.works > items.json        (in the folder `tests`)

Every CSL type occurs, with the members that such works have in catalogues. Values that are hard to
render are spread over all types: names of each kind, dates of each kind, titles with rich text,
quotes, questions and colons, every way to spell pages. `EDGE` has works with one oddity each.
The same works are made each time.
"""

from __future__ import annotations

import itertools
import json
import random
import sys
from typing import Any

from citations.edge_works import EDGE
from citations.names import INSTITUTIONS, MONONYMS, PARTICLES, PLAIN, SCRIPTS, SUFFIXES
from citations.titles import CONTAINERS, JOURNALS, LANGUAGES, PLACES, PUBLISHERS, TITLES

Item = dict[str, Any]

COUNT = 300
#: How many works of each type, before `EDGE`.
TYPES = {
    "article-journal": 46, "book": 24, "chapter": 20, "paper-conference": 16, "thesis": 9,
    "report": 11, "webpage": 10, "article": 7, "article-newspaper": 6, "article-magazine": 6,
    "dataset": 6, "software": 6, "post": 3, "post-weblog": 4, "entry-encyclopedia": 4,
    "entry-dictionary": 3, "entry": 2, "motion_picture": 3, "broadcast": 3, "song": 3, "speech": 3,
    "legal_case": 4, "legislation": 4, "bill": 3, "regulation": 2, "treaty": 2, "hearing": 2,
    "patent": 4, "manuscript": 4, "map": 2, "graphic": 2, "figure": 1, "interview": 3,
    "personal_communication": 3, "pamphlet": 2, "review": 2, "review-book": 3, "standard": 3,
    "musical_score": 2, "performance": 2, "periodical": 2, "classic": 2, "collection": 2,
    "document": 3, "event": 2,
}  # fmt: skip

PAGES = (
    "1-9", "101–118", "1234-41", "S12-S19", "e1001", "iv-xii", "7", "33--47", "200-1", "105, 107-9",
    "991-1004", "A5", "321-328", "12 - 19", "1095-1103", "B2-B3, B7", "100-104", "e12-e21",
    "71–72", "2021-2031", "1496-1500", "0012345",
)  # fmt: skip
VOLUMES = ("3", "12", "104", "XIV", "27A", "2-3", "9", "61", "1998", "S4", "41")
ISSUES = ("1", "2", "4", "12", "3-4", "Suppl. 2", "7", "Special issue", "11")
EDITIONS = ("2", "3", "2nd", "revised", "Third", "1", "11", "4th ed.", "2nd revised", "Kindle")
SEASONED: tuple[Item, ...] = (
    {"date-parts": [[2019, 4, 17]]}, {"date-parts": [[2021]]}, {"date-parts": [[1998, 11]]},
    {"date-parts": [[2005, 6, 3], [2005, 6, 9]]}, {"date-parts": [[2010], [2012]]},
    {"date-parts": [[2016, 3], [2016, 5]]}, {"date-parts": [["2003", "1", "30"]]},
    {"date-parts": [[2020]], "season": 1}, {"date-parts": [[2014]], "season": "3"},
    {"date-parts": [[1889]], "circa": True}, {"date-parts": [[-44]]}, {"date-parts": [[79]]},
    {"literal": "forthcoming"}, {"date-parts": [[2022, 12, 31]]}, {"date-parts": [[1777, 7]]},
    {"date-parts": [[2001, 12, 28], [2002, 1, 2]]}, {"raw": "2011-05-20"},
    {"date-parts": [[2024, 2, 29]]},
    {"date-parts": [[-350], [-320]]}, {"date-parts": [[1999, 9, 9]], "circa": "1"},
    {"literal": "third quarter of 1911"}, {"date-parts": [[2017, 10]]},
    {"date-parts": [[2013, 8, 1]]},
    {"date-parts": [[2009]]}, {"date-parts": [[2018, 5, 5], [2018, 6, 6]]},
    {"date-parts": [[1650]]},
)  # fmt: skip
URLS = ("https://example.org/a?b=1&c=2", "http://example.com/~lamp/", "https://doi.org/10.1/x")
#: Members of any work, and the share of works that have them.
SELDOM: tuple[tuple[float, Item], ...] = (
    (0.1, {"title-short": "Short lamps"}),
    (0.1, {"note": "A note that most styles leave out"}),
    (0.06, {"archive": "JSTOR", "archive_location": "12345"}),
    (0.05, {"PMID": "31234567", "PMCID": "PMC7654321"}),
    (0.05, {"dimensions": "90 min"}),
    (0.05, {"source": "Lamp Catalogue"}),
)
_ARCHIVED = {
    "archive": ("Skerrow City Archive",),
    "archive_location": ("box 12, folder 3",),
    "archive-place": ("Skerrow",),
    "genre": ("letter", "photograph", "Unpublished manuscript", "map"),
}
_RECORDED = {
    "medium": ("DVD", "16 mm film", "Audio CD", "television"),
    "publisher": ("Lamp Films", "Skerrow Broadcasting", "Gull Records"),
}
_PROGRAMME = {
    **_RECORDED,
    "container-title": ("The Evening Hour", "Songs of the Jetty"),
    "number": ("12", "Season 3, episode 4"),
}
_SPOKEN = {
    "event-title": ("Annual Meeting of Lamp Keepers",),
    "event-place": PLACES,
    "genre": ("Keynote", "Conference presentation", "Lecture"),
}
_REVIEW = {"reviewed-title": ("The Keeper’s Year",)}
#: Members of works of one type.
SPECIAL: dict[str, dict[str, tuple[Any, ...]]] = {
    "thesis": {
        "genre": ("PhD thesis", "Doctoral dissertation", "Master's thesis"),
        "publisher": ("University of Skerrow", "Universität Nordlicht"),
    },
    "report": {
        "genre": ("Technical report", "White Paper", "Working paper"),
        "number": ("TR-2011-4", "17", "No. 9", "UNBE/22/3"),
    },
    "patent": {
        "number": ("US1234567B2", "7,654,321", "EP 0 999 111"),
        "authority": ("United States", "European Patent Office"),
        "submitted": ({"date-parts": [[2014, 2, 3]]},),
    },
    "standard": {
        "number": ("ISO 99901:2015", "LN 12-3"),
        "publisher": ("Lamp Standards Board",),
    },
    **dict.fromkeys(("manuscript", "document", "map", "graphic"), _ARCHIVED),
    "personal_communication": _ARCHIVED,
    **dict.fromkeys(("motion_picture", "performance"), _RECORDED),
    **dict.fromkeys(("broadcast", "song"), _PROGRAMME),
    **dict.fromkeys(("speech", "event"), _SPOKEN),
    "review": _REVIEW,
    "review-book": _REVIEW,
}
SOMETIMES = {"archive-place"}
HOW_MANY = (1, 1, 2, 1, 3, 2, 4, 1, 5, 2, 6, 3, 7, 1, 8, 2, 11, 3, 21, 1, 22, 4, 25, 2, 0)

_PERIODICAL = {"article-journal", "article-magazine", "article-newspaper", "review", "review-book"}
_PART = {"chapter", "paper-conference", "entry", "entry-encyclopedia", "entry-dictionary"}
_WHOLE = {"book", "classic", "collection", "pamphlet", "report", "thesis", "musical_score", "map"}
_LEGAL = {"legal_case", "legislation", "bill", "regulation", "treaty", "hearing"}
_ONLINE = {"webpage", "post", "post-weblog", "dataset", "software", "article"}


class Maker:
    """Makes works one after another; a value's table is walked in order, so all of it is used."""

    def __init__(self) -> None:
        self._random = random.Random(20_17)
        self._next: dict[int, Any] = {}

    def walk(self, table: Any) -> Any:
        """Returns the next value of a table, from its start again after its end."""
        turns = self._next.setdefault(id(table), itertools.cycle(table))
        return json.loads(json.dumps(next(turns)))

    def chance(self, share: float) -> bool:
        return self._random.random() < share

    def names(self, count: int) -> list[Item]:
        """Returns that many names, most of them plain."""
        groups = (PLAIN, PARTICLES, SUFFIXES, INSTITUTIONS, SCRIPTS, MONONYMS)
        chosen = self._random.choices(groups, (70, 11, 5, 6, 6, 2), k=count)
        return [self.walk(group) for group in chosen]

    def work(self, kind: str, number: int) -> Item:
        item: Item = {"id": f"{kind}-{number}", "type": kind, "title": self.walk(TITLES)}
        self._people(item, kind)
        if not self.chance(0.06):
            item["issued"] = self.walk(SEASONED)
        if kind in _PERIODICAL:
            self._periodical(item, kind)
        elif kind in _PART:
            self._part(item, kind)
        elif kind in _LEGAL:
            self._legal(item, kind)
        elif kind in _ONLINE:
            self._online(item, kind)
        elif kind in _WHOLE or self.chance(0.5):
            self._whole(item)
        self._special(item, kind)
        self._more(item)
        return item

    def _people(self, item: Item, kind: str) -> None:
        if count := self.walk(HOW_MANY):
            item["author"] = self.names(count)
        if kind in {"chapter", "paper-conference", "entry-encyclopedia"} and self.chance(0.75):
            item["editor"] = self.names(self._random.choice((1, 1, 2, 3, 5)))
        elif kind in {"book", "collection"} and self.chance(0.3):
            item["editor"] = self.names(self._random.choice((1, 2, 4)))
            if self.chance(0.6):
                item.pop("author", None)
        if kind in {"book", "chapter", "classic"} and self.chance(0.25):
            item["translator"] = self.names(self._random.choice((1, 2)))
            if self.chance(0.3) and "editor" in item:
                item["translator"] = item["editor"]
        if kind in {"book", "classic"} and self.chance(0.25):
            item["original-date"] = {"date-parts": [[1871]]}
        roles = {
            "interview": ("interviewer", 1), "personal_communication": ("recipient", 1),
            "motion_picture": ("director", 2), "broadcast": ("director", 1),
            "song": ("composer", 2),
            "performance": ("director", 1), "review-book": ("reviewed-author", 2),
            "chapter": ("container-author", 1), "figure": ("illustrator", 1),
        }  # fmt: skip
        role, most = roles.get(kind, ("", 0))
        if role and self.chance(0.4 if kind == "chapter" else 0.8):
            item[role] = self.names(most)

    def _periodical(self, item: Item, kind: str) -> None:
        name, short = self.walk(JOURNALS)
        item["container-title"] = name
        if short and self.chance(0.7):
            item["container-title-short"] = short
        if kind == "article-newspaper":
            item["section"] = "Weekend"
            if self.chance(0.5):
                item["edition"] = "late"
        if kind != "article-newspaper" and not self.chance(0.1):
            item["volume"] = self.walk(VOLUMES)
        if kind != "article-newspaper" and self.chance(0.7):
            item["issue"] = self.walk(ISSUES)
        if self.chance(0.8):
            item["page"] = self.walk(PAGES)
        elif self.chance(0.7):
            item["number"] = f"{self._random.randrange(100, 99999)}"
        if self.chance(0.3):
            item["ISSN"] = "1234-5679"

    def _part(self, item: Item, kind: str) -> None:
        item["container-title"] = self.walk(CONTAINERS)
        if not self.chance(0.15):
            item["page"] = self.walk(PAGES)
        if kind == "paper-conference":
            if self.chance(0.7):
                item["event-title"] = (
                    f"{self.walk(('12th', 'Second', '2019'))} Meeting on Harbour Lights"
                )
                item["event-place"] = self.walk(PLACES)
            if self.chance(0.3):
                item["event-date"] = {"date-parts": [[2018, 6, 11], [2018, 6, 14]]}
        self._whole(item)
        if self.chance(0.3):
            item["volume"] = self.walk(VOLUMES)
        if self.chance(0.15):
            item["chapter-number"] = "7"

    def _whole(self, item: Item) -> None:
        if not self.chance(0.1):
            item["publisher"] = self.walk(PUBLISHERS)
        if self.chance(0.7):
            item["publisher-place"] = self.walk(PLACES)
        if self.chance(0.35):
            item["edition"] = self.walk(EDITIONS)
        if self.chance(0.3):
            item["collection-title"] = "Studies in Coastal Light"
            if self.chance(0.7):
                item["collection-number"] = self.walk(("4", "112", "LII", "n.s. 3"))
        if self.chance(0.15):
            item["number-of-volumes"] = "4"
        if self.chance(0.2):
            item["volume"] = self.walk(VOLUMES)
        if self.chance(0.3):
            item["ISBN"] = "978-3-16-148410-0"
        if self.chance(0.3):
            item["number-of-pages"] = "312"

    def _legal(self, item: Item, kind: str) -> None:
        item.pop("author", None)
        if kind == "legal_case":
            item["authority"] = "Court of Appeal for the Coast"
        if self.chance(0.8):
            item["container-title"] = self.walk(("U.S.C.", "Reports of the Harbour Court", "F.3d"))
            item["volume"] = self.walk(VOLUMES)
            item["page"] = self.walk(PAGES)
        if self.chance(0.5):
            item["number"] = self.walk(("H.R. 1221", "12-345", "2016/679", "88"))
        if self.chance(0.3):
            item["section"] = self.walk(("4", "12(b)", "§ 7"))
        if self.chance(0.4):
            item["chapter-number"] = "114"
        if kind in {"hearing", "bill"}:
            item["authority"] = "Committee on Lamps, United Chamber"
        if kind == "treaty" or self.chance(0.2):
            item["event-place"] = self.walk(PLACES)
        if self.chance(0.3):
            item["jurisdiction"] = "us"

    def _online(self, item: Item, kind: str) -> None:
        if not self.chance(0.2):
            item["container-title"] = self.walk(
                ("Harbour Notes", "GitHub", "Zenlab", "The Lamp Blog")
            )
        item["URL"] = f"https://example.org/{kind}/{self._random.randrange(1, 9999)}"
        if self.chance(0.7):
            item["accessed"] = {"date-parts": [[2023, 7, 4]]}
        if kind in {"dataset", "software", "article"} and self.chance(0.8):
            item["publisher"] = self.walk(("Zenlab", "arXiv", "Figbox", "Open Harbour Archive"))
        if kind in {"dataset", "software"} and self.chance(0.7):
            item["version"] = self.walk(("2.1.0", "v4", "1.0-beta", "2022-03"))
        if kind == "article" and self.chance(0.8):
            item["number"] = self.walk(("arXiv:2101.01234", "2301.99999", "qx-771"))
            item["genre"] = "Preprint"
        if kind in {"post", "post-weblog", "dataset", "software"} and self.chance(0.6):
            item["genre"] = self.walk(("Computer software", "Blog post", "Tweet", "Data set"))

    def _special(self, item: Item, kind: str) -> None:
        for name, values in SPECIAL.get(kind, {}).items():
            if name not in SOMETIMES or self.chance(0.5):
                item[name] = self.walk(values)

    def _more(self, item: Item) -> None:
        if item["type"] not in _LEGAL and self.chance(0.4):
            registrant = self._random.randrange(1000, 9999)
            item["DOI"] = f"10.{registrant}/{item['id'].upper()}_{item['type'][:3]}"
        if "URL" not in item and self.chance(0.25):
            item["URL"] = self.walk(URLS)
            if self.chance(0.5):
                item["accessed"] = {"date-parts": [[2022, 11, 9]]}
        if self.chance(0.2):
            item["language"] = self.walk(LANGUAGES)
        if self.chance(0.08):
            item["status"] = self.walk(("in press", "forthcoming", "advance online publication"))
        for share, members in SELDOM:
            if self.chance(share):
                item |= members


def works() -> list[Item]:
    """Returns the 300 works, in an order that mixes the types."""
    maker = Maker()
    kinds = [kind for kind, count in TYPES.items() for _ in range(count)]
    random.Random(4).shuffle(kinds)
    numbers: dict[str, int] = {}
    made = []
    for kind in kinds[: COUNT - len(EDGE)]:
        numbers[kind] = numbers.get(kind, 0) + 1
        made.append(maker.work(kind, numbers[kind]))
    return [*made, *json.loads(json.dumps(EDGE))]


if __name__ == "__main__":
    json.dump(works(), sys.stdout, ensure_ascii=False, indent=1)
