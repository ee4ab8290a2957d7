"""Makes records like those of E-utilities' efetch, with invented text.

An article has the elements of PubMed's sample file, about as often: some ten MeSH headings with
five qualifiers, nine authors, three references, two chemicals, three dates of its history, an
abstract in two of three. The same arguments give the same bytes on every machine.
"""

from __future__ import annotations

import random
from xml.sax.saxutils import escape

from .prose import FAMILY, GIVEN, PLACES, SUBJECTS, abstract, fill, pick, title

_HEAD = """<?xml version="1.0" ?>
<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2019//EN" \
"https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_190101.dtd">
<PubmedArticleSet>
"""
_TAIL = "</PubmedArticleSet>\n"

_HEADINGS = (
    "Humans", "Attention", "Interior Design and Furnishings", "Library Services", "Adult",
    "Lighting", "Reading", "Noise", "Models, Theoretical", "Follow-Up Studies", "Ergonomics",
)  # fmt: skip
_QUALIFIERS = ("physiology", "methods", "standards", "drug effects", "instrumentation")
_CHEMICALS = ("Varnish", "Pine Oil", "Shellac", "Linseed Oil")
_LABELS = ("BACKGROUND", "METHODS", "RESULTS", "CONCLUSIONS")
_TYPES = ("Journal Article", "Review", "Comparative Study", "Letter")


def record_set_of_size(size: int, *, seed: int = 1) -> str:
    """Returns a set of about `size` bytes in UTF-8; the difference is less than one article."""
    chance = random.Random(seed)
    parts: list[str] = []
    length = len(_HEAD) + len(_TAIL)
    while length < size:
        parts.append(_article(chance, len(parts)))
        length += len(parts[-1].encode())
    return _HEAD + "".join(parts) + _TAIL


def _article(chance: random.Random, number: int) -> str:
    pmid, day = 90_000_001 + number, number % 28 + 1
    doi = f"10.5555/ad.{pmid}"
    lines = [
        "<PubmedArticle>",
        '<MedlineCitation Status="MEDLINE" Owner="NLM">',
        f'<PMID Version="1">{pmid}</PMID>',
        f"<DateCompleted>{_date(2024, 5, day)}</DateCompleted>",
        f"<DateRevised>{_date(2025, 1, day)}</DateRevised>",
        '<Article PubModel="Print-Electronic">',
        *_journal(chance, number),
        f"<ArticleTitle>{escape(title(chance))}.</ArticleTitle>",
        f"<Pagination><MedlinePgn>{number % 900 + 1}-{number % 900 + 9}</MedlinePgn></Pagination>",
        f'<ELocationID EIdType="doi" ValidYN="Y">{doi}</ELocationID>',
        *_abstract(chance),
        '<AuthorList CompleteYN="Y">',
        *(_author(chance) for _ in range(pick(chance, (1, 3, 4, 6, 8, 9, 11, 14, 28)))),
        "</AuthorList>",
        "<Language>eng</Language>",
        "<PublicationTypeList>",
        *(
            f'<PublicationType UI="D01642{index}">{_TYPES[index]}</PublicationType>'
            for index in range(pick(chance, (1, 2, 2, 3)))
        ),
        "</PublicationTypeList>",
        f'<ArticleDate DateType="Electronic">{_date(2024, 2, day)}</ArticleDate>',
        "</Article>",
        (
            "<MedlineJournalInfo><Country>Nowhere</Country><MedlineTA>Ann Desks</MedlineTA>"
            "<NlmUniqueID>9000001</NlmUniqueID><ISSNLinking>2049-3631</ISSNLinking>"
            "</MedlineJournalInfo>"
        ),
        "<ChemicalList>",
        *(
            f'<Chemical><RegistryNumber>0</RegistryNumber><NameOfSubstance UI="D00000{index}">'
            f"{_CHEMICALS[index]}</NameOfSubstance></Chemical>"
            for index in range(pick(chance, (1, 2, 3)))
        ),
        "</ChemicalList>",
        "<CitationSubset>IM</CitationSubset>",
        "<MeshHeadingList>",
        *(_heading(chance) for _ in range(pick(chance, (6, 9, 11, 14)))),
        "</MeshHeadingList>",
        '<KeywordList Owner="NOTNLM">',
        *(
            f'<Keyword MajorTopicYN="N">{pick(chance, SUBJECTS)}</Keyword>'
            for _ in range(pick(chance, (1, 2)))
        ),
        "</KeywordList>",
        "</MedlineCitation>",
        "<PubmedData>",
        "<History>",
        *(
            f'<PubMedPubDate PubStatus="{status}">{_date(2024, month, day)}'
            "<Hour>6</Hour><Minute>0</Minute></PubMedPubDate>"
            for month, status in enumerate(("received", "pubmed", "medline"), 1)
        ),
        "</History>",
        "<PublicationStatus>ppublish</PublicationStatus>",
        (
            f'<ArticleIdList><ArticleId IdType="pubmed">{pmid}</ArticleId>'
            f'<ArticleId IdType="doi">{doi}</ArticleId></ArticleIdList>'
        ),
        "<ReferenceList>",
        *(_reference(chance, index) for index in range(pick(chance, (0, 0, 2, 4, 11)))),
        "</ReferenceList>",
        "</PubmedData>",
        "</PubmedArticle>",
    ]
    return "\n".join(lines) + "\n"


def _date(year: int, month: int, day: int) -> str:
    return f"<Year>{year}</Year><Month>{month:02d}</Month><Day>{day:02d}</Day>"


def _journal(chance: random.Random, number: int) -> list[str]:
    return [
        "<Journal>",
        '<ISSN IssnType="Electronic">2049-3630</ISSN>',
        (
            f'<JournalIssue CitedMedium="Internet"><Volume>{number % 90 + 1}</Volume>'
            f"<Issue>{pick(chance, (1, 2, 3, 4))}</Issue>"
            "<PubDate><Year>2024</Year><Month>Mar</Month></PubDate></JournalIssue>"
        ),
        "<Title>Annals of desks and reading rooms</Title>",
        "<ISOAbbreviation>Ann Desks</ISOAbbreviation>",
        "</Journal>",
    ]


def _abstract(chance: random.Random) -> list[str]:
    kind = chance.random()
    if kind < 0.35:
        return []
    if kind < 0.75:
        text = escape(abstract(chance)).replace("10", "10<sup>3</sup>", 1)
        return [f"<Abstract><AbstractText>{text}</AbstractText></Abstract>"]
    parts = [
        f'<AbstractText Label="{label}" NlmCategory="{label}">'
        f"{escape(fill(chance, 'Using {method}, we show that {finding}; {finding}.'))}"
        "</AbstractText>"
        for label in _LABELS
    ]
    return ["<Abstract>", *parts, "</Abstract>"]


def _author(chance: random.Random) -> str:
    given, family = pick(chance, GIVEN), pick(chance, FAMILY)
    affiliation = ""
    if chance.random() < 0.15:
        affiliation = (
            f"<AffiliationInfo><Affiliation>{escape(pick(chance, PLACES))}.</Affiliation>"
            "</AffiliationInfo>"
        )
    return (
        f'<Author ValidYN="Y">\n<LastName>{escape(family)}</LastName>\n<ForeName>{given}'
        f"</ForeName>\n<Initials>{given[0]}</Initials>\n{affiliation}</Author>"
    )


def _heading(chance: random.Random) -> str:
    name = pick(chance, _HEADINGS)
    lines = [
        "<MeshHeading>",
        f'<DescriptorName UI="D{len(name):06d}" MajorTopicYN="N">{name}</DescriptorName>',
    ]
    if chance.random() < 0.5:
        qualifier = pick(chance, _QUALIFIERS)
        lines.append(
            f'<QualifierName UI="Q{len(qualifier):06d}" MajorTopicYN="Y">{qualifier}'
            "</QualifierName>"
        )
    return "\n".join([*lines, "</MeshHeading>"])


def _reference(chance: random.Random, number: int) -> str:
    citation = f"{pick(chance, FAMILY)} {pick(chance, 'ABC')}. {title(chance)}. Ann Desks. 2020;8:1"
    return (
        f"<Reference>\n<Citation>{escape(citation)}</Citation>\n<ArticleIdList>\n"
        f'<ArticleId IdType="pubmed">{80_000_000 + number}</ArticleId>\n'
        f'<ArticleId IdType="doi">10.5555/ref.{number}</ArticleId>\n</ArticleIdList>\n</Reference>'
    )
