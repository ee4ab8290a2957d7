"""Recorded exchanges with invented works, for tests of the library.

Each work is known to one or two of Crossref, arXiv, PubMed and Open Library. A test records the
exchanges that its inputs need into a folder, and opens a Carrel that replays them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.sax.saxutils import escape

from carrel.api import Carrel
from carrel.config import Config, DocumentsConfig, LibraryConfig, builtin

from .surfaces import recording

#: URL, media type and body.
Exchange = tuple[str, str, bytes]
PLUGINS = ("arxiv", "crossref", "eutils", "openlibrary")
ISBN = "9780306406157"


def crossref_work(doi: str, **members: Any) -> dict[str, Any]:
    """Returns a work as Crossref has it."""
    return {
        "DOI": doi,
        "type": "journal-article",
        "title": ["The tidy desk and its drawers"],
        "author": [
            {"given": "Ada", "family": "Marlow", "sequence": "first"},
            {"given": "Jan", "family": "Okafor", "sequence": "additional"},
        ],
        "container-title": ["Annals of Desks"],
        "publisher": "Furniture Press",
        "issued": {"date-parts": [[2019, 5, 2]]},
        "volume": "12",
        "issue": "3",
        "page": "737-748",
        "URL": f"https://doi.org/{doi}",
        **members,
    }


def crossref(doi: str, work: Mapping[str, Any] | None) -> list[Exchange]:
    """Returns what Crossref and PMC's converter answer about a DOI; None is unknown to both."""
    url = f"https://api.crossref.org/works/{quote(doi, safe='')}"
    body = {"status": "ok", "message-type": "work", "message": work}
    found = (
        (url, "", b"Resource not found.")
        if work is None
        else (url, "application/json", json.dumps(body).encode())
    )
    return [found, *not_in_pmc(doi)]


def crossref_search(query: str, *works: Mapping[str, Any]) -> list[Exchange]:
    """Returns what Crossref, PubMed and arXiv find for a citation."""
    url = f"https://api.crossref.org/works?query={quote(query, safe='')}&rows=20"
    body = {
        "status": "ok",
        "message-type": "work-list",
        "message": {"total-results": len(works), "items": list(works)},
    }
    return [(url, "application/json", json.dumps(body).encode())]


def not_in_pmc(*ids: str, idtype: str = "doi") -> list[Exchange]:
    """Returns what PMC's converter answers about identifiers that it does not know."""
    listed = ",".join(quote(one, safe="/:") for one in ids)
    url = (
        f"https://pmc.ncbi.nlm.nih.gov/tools/idconv/api/v1/articles/?ids={listed}"
        f"&idtype={idtype}&format=json&versions=no"
    )
    records = [
        {"requested-id": one, "status": "error", "errmsg": "Identifier not found in PMC"}
        for one in ids
    ]
    body = {"status": "ok", "records": records}
    return [(url, "application/json", json.dumps(body).encode())]


def not_in_pubmed(retmax: int, *dois: str) -> Exchange:
    """Returns what ESearch answers about DOIs that PubMed does not have."""
    terms = "%20OR%20".join(f"%22{one}%22%5Bdoi%5D" for one in dois)
    url = (
        "https://eutils.ncbi.nlm.nih.gov/entrez/eutils/esearch.fcgi?db=pubmed"
        f"&term={terms}&retmax={retmax}"
    )
    body = b"""<?xml version="1.0" encoding="UTF-8" ?>
<eSearchResult><Count>0</Count><RetMax>0</RetMax><RetStart>0</RetStart><IdList/></eSearchResult>"""
    return url, "text/xml; charset=utf-8", body


def no_notices(doi: str) -> Exchange:
    """Returns what Crossref answers about notices of a DOI: there are none."""
    url = f"https://api.crossref.org/works?filter=updates:{doi}&rows=100"
    body = {
        "status": "ok",
        "message-type": "work-list",
        "message": {"total-results": 0, "items": []},
    }
    return url, "application/json", json.dumps(body).encode()


def in_pmc(pmcid: str, pmid: str) -> list[Exchange]:
    """Returns what PMC's converter answers about a PMCID."""
    url = (
        f"https://pmc.ncbi.nlm.nih.gov/tools/idconv/api/v1/articles/?ids={pmcid}"
        "&idtype=pmcid&format=json&versions=no"
    )
    record = {"requested-id": pmcid, "pmcid": pmcid, "pmid": int(pmid)}
    body = {"status": "ok", "records": [record]}
    return [(url, "application/json", json.dumps(body).encode())]


def pubmed(pmid: str, title: str = "Posture at sloped desks", doi: str | None = None) -> Exchange:
    """Returns what EFetch answers about a PMID."""
    url = (
        f"https://eutils.ncbi.nlm.nih.gov/entrez/eutils/efetch.fcgi?db=pubmed&retmode=xml&id={pmid}"
    )
    stated = f'<ELocationID EIdType="doi" ValidYN="Y">{doi}</ELocationID>' if doi else ""
    body = f"""<?xml version="1.0" ?>
<PubmedArticleSet><PubmedArticle><MedlineCitation Status="MEDLINE" Owner="NLM">
<PMID Version="1">{pmid}</PMID><Article PubModel="Print"><Journal><JournalIssue><Volume>4</Volume>
<PubDate><Year>2021</Year></PubDate></JournalIssue><Title>Journal of Seating</Title></Journal>
<ArticleTitle>{escape(title)}.</ArticleTitle>{stated}<AuthorList><Author><LastName>Reyes</LastName>
<ForeName>Lea</ForeName></Author></AuthorList></Article></MedlineCitation><PubmedData><ArticleIdList>
<ArticleId IdType="pubmed">{pmid}</ArticleId></ArticleIdList></PubmedData></PubmedArticle>
</PubmedArticleSet>"""
    return url, "text/xml; charset=utf-8", body.encode()


def arxiv(arxiv_id: str, version: int = 1, doi: str | None = None) -> Exchange:
    """Returns what arXiv answers about an e-print."""
    url = f"https://export.arxiv.org/api/query?id_list={arxiv_id}&start=0&max_results=1"
    stated = f"<arxiv:doi>{doi}</arxiv:doi>" if doi else ""
    body = f"""<?xml version='1.0' encoding='UTF-8'?>
<feed xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/"
 xmlns:arxiv="http://arxiv.org/schemas/atom" xmlns="http://www.w3.org/2005/Atom">
<id>https://arxiv.org/api/Invented</id><title>arXiv Query</title>
<updated>2025-11-21T00:00:00Z</updated><opensearch:itemsPerPage>1</opensearch:itemsPerPage>
<opensearch:totalResults>1</opensearch:totalResults><opensearch:startIndex>0</opensearch:startIndex>
<entry><id>http://arxiv.org/abs/{arxiv_id}v{version}</id><title>Drawers of infinite depth</title>
<updated>2023-08-01T10:00:00Z</updated><summary>They are deep.</summary>
<category term="math.CO" scheme="http://arxiv.org/schemas/atom"/>
<published>2023-07-03T09:00:00Z</published><arxiv:primary_category term="math.CO"/>
<author><name>Kim Abara</name></author>{stated}</entry></feed>"""
    return url, "application/atom+xml; charset=utf-8", body.encode()


def no_eprints(url_query: str) -> Exchange:
    """Returns an empty feed for a search of arXiv."""
    url = f"https://export.arxiv.org/api/query?search_query={url_query}&start=0&max_results=20"
    body = """<?xml version='1.0' encoding='UTF-8'?>
<feed xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/" xmlns="http://www.w3.org/2005/Atom">
<id>https://arxiv.org/api/Invented</id><title>arXiv Query</title>
<updated>2025-11-21T00:00:00Z</updated><opensearch:itemsPerPage>20</opensearch:itemsPerPage>
<opensearch:totalResults>0</opensearch:totalResults><opensearch:startIndex>0</opensearch:startIndex>
</feed>"""
    return url, "application/atom+xml; charset=utf-8", body.encode()


def openlibrary(isbn: str = ISBN, title: str | None = "A history of shelves") -> Exchange:
    """Returns what Open Library answers about an ISBN; without a title it is unknown."""
    url = f"https://openlibrary.org/api/books?bibkeys=ISBN:{isbn}&format=json&jscmd=data"
    book = {
        "title": title,
        "authors": [{"name": "Greta Holm"}],
        "publishers": [{"name": "Drawer House"}],
        "publish_date": "March 2019",
    }
    body = {f"ISBN:{isbn}": book} if title else {}
    return url, "application/json", json.dumps(body).encode()


def library_settings(
    config: Config,
    tmp_path: Path,
    exchanges: Iterable[Exchange] = (),
    *,
    folders: tuple[Path, ...] = (),
    library: LibraryConfig | None = None,
) -> Config:
    """Returns a configuration with a library, that replays exchanges."""
    from dataclasses import replace

    folder = tmp_path / "recorded"
    if not folder.exists():
        recording(folder, exchanges)
    return replace(
        config,
        data_dir=tmp_path / "data",
        plugins=tuple(builtin(name) for name in PLUGINS),
        replay_dir=folder,
        documents=DocumentsConfig(folders),
        library=library or LibraryConfig(tmp_path / "library.json"),
    )


def open_library_api(
    config: Config, tmp_path: Path, exchanges: Iterable[Exchange] = (), **more: Any
) -> Carrel:
    """Returns a Carrel with a library, that replays exchanges."""
    return Carrel(library_settings(config, tmp_path, exchanges, **more))


def item(key: str = "marlow-2019", **members: Any) -> dict[str, Any]:
    """Returns an item of a library."""
    return {
        "id": key,
        "type": "article-journal",
        "title": "The tidy desk and its drawers",
        "author": [{"family": "Marlow", "given": "Ada"}, {"family": "Okafor", "given": "Jan"}],
        "container-title": "Annals of Desks",
        "issued": {"date-parts": [[2019, 5, 2]]},
        "volume": "12",
        "issue": "3",
        "page": "737-748",
        "DOI": "10.5555/tidy.2019",
        **members,
    }


def write_library(path: Path, *items: Mapping[str, Any]) -> Path:
    """Writes a library file."""
    path.write_text(json.dumps(list(items), indent=2), "utf-8")
    return path
