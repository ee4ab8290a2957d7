"""Formats results of tools and parsers for a terminal.

Shows works as a list, or in full if there are few; citations and documents as texts; anything else
as JSON. In a pipe and with --json, the result's own text is written instead.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

from .render import console, json_value, paragraph, plain, text
from .standing import standings
from .works import ShownWork, is_work, read_work

#: The members under which results list works. Those of `_NAMED` count as works only with a title or
#: a total, because other plugins use these names for other things.
_LISTS = ("entries", "works", "articles", "brief_summaries", "related_articles", "candidates")
_NAMED = ("summaries", "items", "results")
_TOTALS = ("total_results", "total_found", "count")
#: Maximum number of works that are shown in full, if they are the whole result.
_FEW = 5
_SHOWN_AUTHORS = 4
_WARNING = "bold red"
_INDENT = 5


def show_result(data: Mapping[str, Any], *, heading: str | None = None) -> None:
    """Prints a result."""
    if heading:
        console().print(text(heading, "bold underline"))
    found = _find_works(data)
    blocks = data.get("contents", data.get("content"))
    citations, documents = data.get("citations"), data.get("documents")
    if isinstance(citations, dict) and citations:
        _warn(data)
        _show_texts([(name, str(value)) for name, value in citations.items()])
    elif _are(documents, "text"):
        _warn(data)
        _show_texts([(_name_of(document), str(document["text"])) for document in documents])
    elif found is not None:
        _show_works(data, *found)
    elif _are(blocks, "type") or _are(blocks, "uri"):
        _show_blocks(blocks)
    else:
        _warn(data)
        json_value(data)
        return
    _show_rest(data)


def _find_works(data: Mapping[str, Any]) -> tuple[list[Any], bool] | None:
    """Returns the works of a result, and whether they were requested by identifier."""
    if isinstance(data.get("work"), dict):
        return [data["work"]], True
    if "doi" in data and "is_retracted" in data:
        return [data], True
    lists = [key for key in _LISTS if _are_works(data.get(key))]
    lists += [key for key in _NAMED if data.get(key) and _are(data[key], "title")]
    if any(key in data for key in _TOTALS):
        lists += [key for key in _NAMED if data.get(key) == []]
    key = next((key for key in lists if data[key]), next(iter(lists), None))
    if key is None:
        return None
    works = [_unwrapped(item) for item in data[key]]
    listed = {str(work.get("pmid")) for work in works}
    works += [{"pmid": pmid} for pmid in _list(data.get("pmids")) if str(pmid) not in listed]
    return works, key == "articles"


def _are_works(value: object) -> bool:
    return isinstance(value, list) and all(is_work(_unwrapped(item)) for item in value)


def _unwrapped(item: Any) -> Any:
    """Returns the work of an item that wraps it."""
    inner = item.get("work") if isinstance(item, dict) else None
    return inner if isinstance(inner, dict) else item


def _are(value: object, member: str) -> TypeGuard[list[dict[str, Any]]]:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(item, dict) and member in item for item in value)
    )


def _warn(data: Mapping[str, Any]) -> None:
    for line in standings(data):
        paragraph(text(line, _WARNING))


def _show_works(data: Mapping[str, Any], works: Sequence[Any], are_records: bool) -> None:
    total = next((data[key] for key in _TOTALS if isinstance(data.get(key), int)), None)
    is_whole = len(works) <= _FEW and total in {None, len(works)}
    start = data.get("start_index") or data.get("offset") or 0
    number = start + 1 if isinstance(start, int) else 1
    for position, item in enumerate(works, number):
        work = read_work(item)
        _show_work(position, work, in_full=are_records or is_whole)
        if "updates" in item and "is_retracted" in item and not work.notices:
            paragraph("no retraction, correction or concern is on record", indent=_INDENT)
    if "work" in data or works == [data]:
        return
    shown = f"{len(works):,}" if total is None else f"{len(works):,} of {total:,}"
    noun = "result" if (total if total is not None else len(works)) == 1 else "results"
    console().print(text(f"{shown} {noun}", "dim"))


def _show_work(number: int, work: ShownWork, *, in_full: bool) -> None:
    out = console()
    bare = work.title or " · ".join(work.identifiers) or "(no title)"
    title = [text(work.mark, _WARNING)] if work.mark else []
    paragraph(*title, text(bare, "bold"), first=f"{number:>3}", indent=_INDENT, out=out)

    def line(parts: Sequence[str], style: str = "", between: str = " · ") -> None:
        if any(parts):
            joined = between.join(part for part in parts if part)
            paragraph(text(joined, style), indent=_INDENT, out=out)

    more = len(work.authors) - _SHOWN_AUTHORS
    authors = [*work.authors[:_SHOWN_AUTHORS]]
    if authors and more > 0:
        authors[-1] += f" and {more} more"
    line(authors, between=", ")
    identifiers = work.identifiers if work.title else ()
    line([*work.place, *identifiers, work.score], "cyan")
    line([work.url], "dim")
    for notice in work.notices:
        line([notice], "red" if work.mark else "yellow")
    if in_full and work.abstract:
        out.print()
        for part in work.abstract:
            paragraph(part, indent=_INDENT, out=out)
        out.print()


def _name_of(document: Mapping[str, Any]) -> str:
    name = next((f"{key}:{document[key]}" for key in ("pmid", "doi", "id") if key in document), "")
    return " ".join(part for part in (name, str(document.get("media_type", ""))) if part)


def _show_texts(texts: Sequence[tuple[str, str]]) -> None:
    """Prints texts unchanged: a single one alone, several under their names."""
    out = console()
    for number, (name, source) in enumerate(texts):
        if len(texts) > 1:
            if number:
                out.print()
            out.print(text(name, "bold underline"))
        plain(source.rstrip("\r\n"))


def _show_blocks(blocks: Sequence[Mapping[str, Any]]) -> None:
    """Prints the content blocks of an Extism module or of a resource."""
    for block in blocks:
        inner = block.get("resource")
        content = inner if isinstance(inner, dict) else block
        if isinstance(content.get("text"), str):
            _show_text(content["text"])
        else:
            size = len(str(content.get("data") or content.get("blob") or "")) * 3 // 4
            kind = content.get("mimeType") or content.get("type") or "data"
            name = content.get("uri") or content.get("name") or ""
            detail = f" {name}" if name else f" of {size:,} bytes"
            console().print(text(f"[{kind}{detail}; --json has it]", "dim"))


def _show_text(source: str) -> None:
    """Prints a text: JSON indented, anything else unchanged."""
    if source.lstrip()[:1] in {"{", "["}:
        try:
            value = json.loads(source)
        except (ValueError, RecursionError):
            pass
        else:
            json_value(value)
            return
    plain(source.rstrip("\r\n"))


def _show_rest(data: Mapping[str, Any]) -> None:
    """Prints counts, the next page and notices."""
    out = console()
    for facet in _list(data.get("facets")):
        if isinstance(facet, dict):
            counts = [entry for entry in _list(facet.get("values")) if isinstance(entry, dict)]
            summary = "; ".join(
                f"{entry.get('value')} {_count(entry.get('count'))}" for entry in counts
            )
            paragraph(f"{facet.get('name')}: {summary or 'none'}", out=out)
    for key, value in data.items():
        if key.startswith("next_") and isinstance(value, (int, str)):
            paragraph(text(f"next page: {key.removeprefix('next_')}={value}", "dim"), out=out)
    for notice in _list(data.get("notices")):
        paragraph(text(f"notice: {_notice(notice)}", "yellow"), out=out)


def _count(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _notice(notice: object) -> str:
    if isinstance(notice, dict):
        return str(notice.get("message") or json.dumps(notice))
    return str(notice)
