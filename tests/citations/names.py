"""Invented names as CSL-JSON has them: particles, suffixes, institutions, several scripts."""

from __future__ import annotations

from typing import Any

Name = dict[str, Any]


def _names(*pairs: tuple[str, str], **more: str) -> tuple[Name, ...]:
    return tuple({"family": family, "given": given, **more} for family, given in pairs)


PLAIN = _names(
    ("Ashdown", "Miriam"), ("Brightwell", "Thomas A."), ("Castellano", "Lucía"), ("Dahl", "Erik"),
    ("Eriksen", "Åse"), ("Farrow", "J."), ("Grünwald", "Jörg"), ("Hollis", "Peter John"),
    ("Ilves", "Kaarel"), ("Jefferson", "Ruth"), ("Kowalczyk", "Łucja"), ("Lindqvist", "Örjan"),
    ("Marchetti", "Paolo"), ("Nakagawa", "Yuki"), ("O'Hanlon", "Siobhán"), ("Petrescu", "Ștefan"),
    ("Quiroga", "Nélida"), ("Rasmussen", "Bo"), ("Šimůnek", "Jiří"), ("Tremblay", "Ève"),
    ("Urquhart", "D. W. F."), ("Vasilenko", "Oksana"), ("Whitcombe", "Ann"), ("Xu", "Lian"),
    ("Yıldız", "Çağla"), ("Zielinski", "Adam"), ("Ashdown", "Martin"), ("Dahl", "Ellen"),
    ("Farrow", "Jane"), ("Smith-Carver", "Anne-Laure"), ("Ortiz Peña", "María José"),
    ("Nguyễn", "Thị Hòa"), ("Þórsdóttir", "Guðrún"), ("Mac Giolla", "Seán"), ("St. Clair", "Vera"),
    ("Abbot", "A.B."), ("Bell", "C. D. E."), ("Cole", "Fritz-Georg"), ("Dunn", "J.-P."),
    ("Ng", "K. y"), ("Ochs", "Ph."), ("Price", "Th. J."), ("Reed", "MIRANDA"), ("Shaw", "g."),
)  # fmt: skip

PARTICLES: tuple[Name, ...] = (
    {"family": "Berg", "given": "Anke", "non-dropping-particle": "van der"},
    {"family": "Beauvoisin", "given": "Claire", "dropping-particle": "de"},
    {"family": "Fontaine", "given": "Hugues", "dropping-particle": "de",
     "non-dropping-particle": "La"},
    {"family": "Hohenfeld", "given": "Karl", "dropping-particle": "von"},
    {"family": "Rossi", "given": "Elena", "non-dropping-particle": "De"},
    {"family": "van Dijk", "given": "Sanne"},
    {"family": "de la Cruz", "given": "Inés"},
    {"family": "Angelo", "given": "Rita", "non-dropping-particle": "d’"},
    {"family": "Ormesson", "given": "Luc", "dropping-particle": "d'"},
    {"family": "Silva", "given": "João Paulo", "dropping-particle": "da"},
    {"family": "al-Rashid", "given": "Huda"},
    {"family": "Farabi", "given": "Nour", "non-dropping-particle": "al-"},
    {"family": "Wolde", "given": "Pieter", "non-dropping-particle": "ten"},
    {"family": "Hout", "given": "Mieke", "non-dropping-particle": "van ’t"},
    {"family": "Linden", "given": "Otto", "non-dropping-particle": "von und zu der"},
)  # fmt: skip

SUFFIXES: tuple[Name, ...] = (
    {"family": "Harlow", "given": "James T.", "suffix": "Jr."},
    {"family": "Pemberton", "given": "Walter", "suffix": "III"},
    {"family": "Kingsley", "given": "Robert", "suffix": "Sr.", "comma-suffix": True},
    {"family": "Vance", "given": "Leroy", "suffix": "Jr.", "comma-suffix": True},
    {"family": "Boer", "given": "Gert", "suffix": "II", "non-dropping-particle": "de"},
)

INSTITUTIONS: tuple[Name, ...] = (
    {"literal": "Northern Institute of Weather"},
    {"literal": "Ministry of Rivers and Lakes"},
    {"literal": "The Lantern Consortium"},
    {"literal": "UNBE"},
    {"literal": "Société des amis du phare"},
    {"literal": "Office for Maps & Charts"},
    {"family": "Bureau of Small Instruments"},
)

SCRIPTS: tuple[Name, ...] = (
    {"family": "山本", "given": "花子"},
    {"family": "李", "given": "明月"},
    {"family": "김", "given": "하늘"},
    {"family": "Соколова", "given": "Анна Петровна"},
    {"family": "Іваненко", "given": "Олесь"},
    {"family": "الحسيني", "given": "ليلى"},
    {"family": "כהן", "given": "נועה"},
    {"family": "Παπαδάκης", "given": "Γιώργος"},
    {"family": "Yamamoto", "given": "Hanako"},
    {"literal": "国立灯台研究所"},
)

MONONYMS: tuple[Name, ...] = (
    {"family": "Seraphine"},
    {"given": "Ptolemaios"},
    {"family": "Anonymous"},
    {"literal": "Sappho"},
)
