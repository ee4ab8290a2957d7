"""Reads documents of E-utilities with lxml, independently of the parser under test.

Inline markup is flattened in the tree first, so that a plain XPath finds complete texts. A formula
becomes `FORMULA`, which matches any text that the parser makes of one.
"""

from __future__ import annotations

import re
from typing import Any

from lxml import etree

#: Replaces a formula in a text.
FORMULA = "\ue000"

_MATH = "{http://www.w3.org/1998/Math/MathML}math"
#: Events of the publication, not of NCBI's databases.
_ITS_OWN = "not(@PubStatus='entrez' or @PubStatus='pubmed' or @PubStatus='medline')"
_DOI = re.compile(r"10\.[0-9]{4,}(?:\.[0-9]+)*/\S+")
_SUB = dict(zip("0123456789+-−=()aehijklmnoprstuvxβγρφχ", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓᵦᵧᵨᵩᵪ", strict=True))  # fmt: skip  # noqa: E501, RUF001
_SUP = dict(zip("0123456789+-−=()abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVWβγδφχ", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂᵝᵞᵟᵠᵡ", strict=True))  # fmt: skip  # noqa: E501, RUF001
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]


def read_tree(document: bytes) -> Any:
    """Returns the document's root, with inline markup flattened."""
    root = etree.fromstring(document, etree.XMLParser(resolve_entities=False, no_network=True))
    for comment in list(root.iter(etree.Comment, etree.ProcessingInstruction)):
        _replace(comment, "")
    for math in list(root.iter(_MATH)):
        _replace(math, FORMULA)
    # Inner elements first, so that outer ones contain plain text.
    for inline in reversed(list(root.iter("i", "b", "u", "sub", "sup"))):
        text = "".join(inline.itertext())
        if inline.tag in {"sub", "sup"}:
            text = _script(text, inline.tag)
        _replace(inline, text)
    return root


def _script(text: str, tag: str) -> str:
    core = text.strip()
    if not core or FORMULA in core:
        return text
    table, mark = (_SUB, "_") if tag == "sub" else (_SUP, "^")
    done = (
        "".join(table[one] for one in core)
        if all(one in table for one in core)
        else f"{mark}{{{core}}}"
    )
    return text.replace(core, done)


def _replace(element: Any, text: str) -> None:
    parent, before = element.getparent(), element.getprevious()
    if parent is None:
        return
    tail = text + (element.tail or "")
    if before is None:
        parent.text = (parent.text or "") + tail
    else:
        before.tail = (before.tail or "") + tail
    parent.remove(element)


def text_of(node: Any, path: str = ".") -> str | None:
    """Returns the text at a path, on one line; None if it is missing or blank."""
    for found in node.xpath(path):
        text = found if isinstance(found, str) else found.xpath("string(.)")
        # Publishers' own tags, escaped, in pairs around plain text.
        text = re.sub(r"<([A-Za-z]+)>([^<]*)</\1>", r"\2", text)
        collapsed = " ".join(text.split())
        if collapsed:
            return collapsed
        return None
    return None


def texts_of(node: Any, path: str) -> list[str]:
    """Returns the texts at a path that are not blank."""
    return [text for one in node.xpath(path) if (text := text_of(one)) is not None]


def known(**fields: Any) -> dict[str, Any]:
    """Returns the fields that have a value."""
    return {key: value for key, value in fields.items() if value is not None}


def fields(node: Any, **paths: str) -> dict[str, Any]:
    """Returns the texts at those paths that have any."""
    return known(**{key: text_of(node, path) for key, path in paths.items()})


def read_efetch(document: bytes) -> list[dict[str, Any]]:
    """Returns the articles of an EFetch document, with the field names of the format `efetch`."""
    root = read_tree(document)
    records = [root] if root.tag in {"PubmedArticle", "PubmedBookArticle"} else list(root)
    readers = {"PubmedArticle": _article, "PubmedBookArticle": _book}
    return [readers[record.tag](record) for record in records if record.tag in readers]


def _article(record: Any) -> dict[str, Any]:
    citation = record.find("MedlineCitation")
    article = citation.find("Article")
    journal = article.find("Journal")
    doi = (
        _doi(article, "ELocationID[@EIdType='doi'][@ValidYN='Y' or not(@ValidYN)]")
        or _doi(article, "ELocationID[@EIdType='doi']")
        or _doi(record, "PubmedData/ArticleIdList/ArticleId[@IdType='doi']")
    )
    return known(
        pmid=text_of(citation, "PMID")
        or text_of(record, "PubmedData/ArticleIdList/ArticleId[@IdType='pubmed']"),
        title=text_of(article, "ArticleTitle"),
        vernacular_title=text_of(article, "VernacularTitle"),
        abstract_sections=_sections(article, "Abstract/AbstractText"),
        copyright=text_of(article, "Abstract/CopyrightInformation"),
        other_abstracts=[
            known(
                type=text_of(other, "@Type"),
                language=text_of(other, "@Language"),
                sections=_sections(other, "AbstractText"),
            )
            for other in citation.xpath("OtherAbstract")
        ],
        authors=_with_affiliation(article, _people(article, "AuthorList/Author")),
        investigators=_people(citation, "InvestigatorList/Investigator"),
        personal_name_subjects=_people(citation, "PersonalNameSubjectList/PersonalNameSubject"),
        journal_info=known(
            title=text_of(journal, "Title"),
            iso_abbreviation=text_of(journal, "ISOAbbreviation"),
            issn=text_of(journal, "ISSN"),
            volume=text_of(journal, "JournalIssue/Volume"),
            issue=text_of(journal, "JournalIssue/Issue"),
            pages=text_of(article, "Pagination/MedlinePgn"),
            medline_ta=text_of(citation, "MedlineJournalInfo/MedlineTA"),
            nlm_unique_id=text_of(citation, "MedlineJournalInfo/NlmUniqueID"),
            issn_linking=text_of(citation, "MedlineJournalInfo/ISSNLinking"),
            country=text_of(citation, "MedlineJournalInfo/Country"),
            publication_date=_date(journal, "JournalIssue/PubDate"),
        ),
        electronic_date=_iso(article, "ArticleDate"),
        publication_types=texts_of(article, "PublicationTypeList/PublicationType"),
        keywords=texts_of(citation, "KeywordList/Keyword"),
        mesh_terms=[
            known(
                descriptor_name=text_of(heading, "DescriptorName"),
                ui=text_of(heading, "DescriptorName/@UI"),
                is_major_topic=text_of(heading, "DescriptorName/@MajorTopicYN") == "Y",
                qualifiers=[
                    known(
                        name=text_of(qualifier),
                        ui=text_of(qualifier, "@UI"),
                        is_major_topic=text_of(qualifier, "@MajorTopicYN") == "Y",
                    )
                    for qualifier in heading.xpath("QualifierName")
                ],
            )
            for heading in citation.xpath("MeshHeadingList/MeshHeading")
        ],
        chemicals=[
            fields(
                chemical,
                name="NameOfSubstance",
                ui="NameOfSubstance/@UI",
                registry_number="RegistryNumber[. != '0']",
            )
            for chemical in citation.xpath("ChemicalList/Chemical")
        ],
        supplementary_concepts=[
            fields(name, name=".", ui="@UI", type="@Type")
            for name in citation.xpath("SupplMeshList/SupplMeshName")
        ],
        gene_symbols=texts_of(citation, "GeneSymbolList/GeneSymbol"),
        data_banks=[
            known(
                name=text_of(bank, "DataBankName"),
                accession_numbers=texts_of(bank, "AccessionNumberList/AccessionNumber"),
            )
            for bank in article.xpath("DataBankList/DataBank")
        ],
        grant_list=[
            {
                key: value
                for key, value in fields(
                    grant,
                    grant_id="GrantID",
                    acronym="Acronym",
                    agency="Agency",
                    country="Country",
                ).items()
                if value != "NULL"
            }
            for grant in article.xpath("GrantList/Grant")
        ],
        doi=doi,
        pmcid=text_of(record, "PubmedData/ArticleIdList/ArticleId[@IdType='pmc']"),
        pii=text_of(article, "ELocationID[@EIdType='pii']")
        or text_of(record, "PubmedData/ArticleIdList/ArticleId[@IdType='pii']"),
        languages=texts_of(article, "Language"),
        comments_corrections=[
            fields(one, ref_type="@RefType", pmid="PMID", ref_source="RefSource", note="Note")
            for one in citation.xpath("CommentsCorrectionsList/CommentsCorrections")
        ],
        is_retracted=bool(
            citation.xpath(
                "CommentsCorrectionsList/CommentsCorrections[@RefType='RetractionIn']"
                " | Article/PublicationTypeList/PublicationType[.='Retracted Publication']"
            )
        )
        or None,
        references=_references(record, "PubmedData//ReferenceList/Reference"),
        coi_statement=text_of(citation, "CoiStatement"),
        notes=texts_of(citation, "GeneralNote"),
        space_flight_missions=texts_of(citation, "SpaceFlightMission"),
        other_ids=[fields(one, source="@Source", id=".") for one in citation.xpath("OtherID")],
        status=text_of(citation, "@Status"),
        publication_status=text_of(record, "PubmedData/PublicationStatus"),
        history=[
            known(status=text_of(one, "@PubStatus"), date=_iso(one, "."))
            for one in record.xpath(f"PubmedData/History/PubMedPubDate[{_ITS_OWN}]")
        ],
    )


def _book(record: Any) -> dict[str, Any]:
    document = record.find("BookDocument")
    info = known(
        **fields(
            document,
            title="Book/BookTitle",
            collection_title="Book/CollectionTitle",
            publisher="Book/Publisher/PublisherName",
            publisher_location="Book/Publisher/PublisherLocation",
        ),
        publication_date=_date(document, "Book/PubDate"),
        contribution_date=_iso(document, "ContributionDate"),
        date_revised=_iso(document, "DateRevised"),
        pages=text_of(document, "Pagination/MedlinePgn"),
        isbns=texts_of(document, "Book/Isbn"),
        accession=text_of(document, "ArticleIdList/ArticleId[@IdType='bookaccession']"),
        sections=[
            known(
                label=text_of(section, "LocationLabel"),
                title=text_of(section, "SectionTitle"),
                level=int(section.xpath("count(ancestor-or-self::Section)")),
            )
            for section in document.xpath("Sections//Section")
        ],
    )
    return known(
        pmid=text_of(document, "PMID"),
        title=text_of(document, "ArticleTitle") or text_of(document, "Book/BookTitle"),
        abstract_sections=_sections(document, "Abstract/AbstractText"),
        copyright=text_of(document, "Abstract/CopyrightInformation"),
        authors=_people(document, "Book/AuthorList[@Type='authors']/Author"),
        publication_types=texts_of(document, "PublicationType"),
        keywords=[],
        languages=texts_of(document, "Language"),
        doi=_doi(document, "Book/ELocationID[@EIdType='doi']"),
        pii=text_of(document, "Book/ELocationID[@EIdType='pii']"),
        book_info=info,
        publication_status=text_of(record, "PubmedBookData/PublicationStatus"),
        history=[
            known(status=text_of(one, "@PubStatus"), date=_iso(one, "."))
            for one in record.xpath(f"PubmedBookData/History/PubMedPubDate[{_ITS_OWN}]")
        ],
    )


def _sections(node: Any, path: str) -> list[dict[str, str]]:
    return [
        fields(section, label="@Label", nlm_category="@NlmCategory", text=".")
        for section in node.xpath(path)
        if text_of(section)
    ]


def _with_affiliation(article: Any, people: list[dict[str, Any]]) -> list[dict[str, Any]]:
    # Until 2014 the first author's affiliation was outside the list.
    if people:
        people[0]["affiliations"] += texts_of(article, "Affiliation")
    return people


def _people(node: Any, path: str) -> list[dict[str, Any]]:
    return [
        known(
            **fields(
                person,
                last_name="LastName",
                first_name="ForeName",
                initials="Initials",
                suffix="Suffix",
                collective_name="CollectiveName",
            ),
            orcid=_orcid(text_of(person, "Identifier[@Source='ORCID']")),
            affiliations=texts_of(person, "AffiliationInfo/Affiliation"),
        )
        for person in node.xpath(path)
        if person.xpath("LastName | ForeName | Initials | CollectiveName")
    ]


def _orcid(text: str | None) -> str | None:
    if text is None:
        return None
    digits = re.sub(r"[^0-9X]", "", text.rpartition("/")[2])
    return "-".join(digits[at : at + 4] for at in range(0, 16, 4)) if len(digits) == 16 else None


def _references(node: Any, path: str) -> list[dict[str, Any]]:
    return [
        known(
            citation=text_of(one, "Citation"),
            pmid=text_of(one, "ArticleIdList/ArticleId[@IdType='pubmed']"),
            doi=_doi(one, "ArticleIdList/ArticleId[@IdType='doi']"),
            pmcid=_prefixed(text_of(one, "ArticleIdList/ArticleId[@IdType='pmc']")),
        )
        for one in node.xpath(path)
    ]


def _prefixed(number: str | None) -> str | None:
    return number if number is None or number.startswith("PMC") else f"PMC{number}"


def _doi(node: Any, path: str) -> str | None:
    for one in node.xpath(path):
        found = _DOI.search(text_of(one) or "")
        if found:
            return found.group()
    return None


def _date(node: Any, path: str) -> dict[str, Any]:
    def number(text: str | None) -> int | None:
        return None if text is None else int(text)

    return known(
        year=number(text_of(node, f"{path}/Year")),
        month=text_of(node, f"{path}/Month"),
        day=number(text_of(node, f"{path}/Day")),
        season=text_of(node, f"{path}/Season"),
        medline_date=text_of(node, f"{path}/MedlineDate"),
    )


def _iso(node: Any, path: str) -> str | None:
    date = _date(node, path)
    if "year" not in date:
        return None
    text = f"{date['year']:04}"
    if "month" in date:
        month = date["month"]
        number = int(month) if month.isdigit() else 1 + _MONTHS.index(month.lower()[:3])
        text += f"-{number:02}"
        text += f"-{date['day']:02}" if "day" in date else ""
    return text


def read_esearch(document: bytes) -> dict[str, Any]:
    """Returns the expected result of the format `esearch`."""
    root = read_tree(document)
    return known(
        count=int(root.findtext("Count")),
        retmax=int(root.findtext("RetMax")),
        retstart=int(root.findtext("RetStart")),
        pmids=texts_of(root, "IdList/Id"),
        query_translation=text_of(root, "QueryTranslation"),
        web_env=text_of(root, "WebEnv"),
        query_key=text_of(root, "QueryKey"),
        warnings=[text_of(one) for one in root.xpath("WarningList/*")],
        errors=[f"{one.tag}: {text_of(one)}" for one in root.xpath("ErrorList/*")],
    )


def read_esummary(document: bytes) -> list[dict[str, Any]]:
    """Returns the expected result of the format `esummary`, for both versions.

    A record without a date of publication has an identifier of another database.
    """
    root = read_tree(document)
    found = []
    for one in root.xpath("DocSum | DocumentSummarySet/DocumentSummary"):

        def text(name: str, one: Any = one) -> str | None:
            return text_of(one, f"Item[@Name='{name}']") or text_of(one, name)

        found.append(
            known(
                uid=text_of(one, "Id") or text_of(one, "@uid"),
                title=text("Title"),
                authors=texts_of(one, "Item[@Name='AuthorList']/Item")
                or texts_of(one, "Authors/Author/Name")
                or None,
                source=text("Source"),
                pub_date=text("PubDate"),
                epub_date=text("EPubDate"),
                volume=text("Volume"),
                issue=text("Issue"),
                pages=text("Pages"),
                full_journal_name=text("FullJournalName"),
                doi=text_of(one, "Item[@Name='ArticleIds']/Item[@Name='doi']")
                or text_of(one, "ArticleIds/ArticleId[IdType='doi']/Value"),
                pmid=text_of(one, "Item[@Name='ArticleIds']/Item[@Name='pubmed']")
                or text_of(one, "ArticleIds/ArticleId[IdType='pmid' or IdType='pubmed']/Value")
                or (text("PubDate") and (text_of(one, "Id") or text_of(one, "@uid"))),
            )
        )
    return found


def read_elink(document: bytes) -> list[tuple[str, str, list[tuple[str, int | None]]]]:
    """Returns name, sources and targets of every list of links."""
    root = read_tree(document)
    return [
        (
            text_of(links, "LinkName") or "",
            ",".join(texts_of(links, "../IdList/Id | ../Id")),
            [
                (text_of(link, "Id") or "", int(link.findtext("Score", "-1")))
                for link in links.xpath("Link")
            ],
        )
        for links in root.xpath("//LinkSetDb | //LinkSetDbHistory | //LinkInfo")
    ]


def read_einfo(document: bytes) -> dict[str, Any]:
    """Returns the expected result of the format `einfo`."""
    root = read_tree(document)
    databases = texts_of(root, "DbList/DbName")
    if databases:
        return {"databases": databases}
    database = root.find("DbInfo")
    return {
        "db_name": text_of(database, "DbName"),
        "description": text_of(database, "Description"),
        "count": int(database.findtext("Count")),
        "last_update": text_of(database, "LastUpdate"),
        "fields": [
            (text_of(one, "Name"), text_of(one, "FullName"), one.findtext("IsDate") == "Y")
            for one in database.xpath("FieldList/Field")
        ],
        "links": [
            (text_of(one, "Name"), text_of(one, "DbTo")) for one in database.xpath("LinkList/Link")
        ],
    }
