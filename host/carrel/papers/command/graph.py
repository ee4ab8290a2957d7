"""Implements `carrel papers graph`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from carrel.cli.command import AS_JSON, EXCHANGE, command
from carrel.cli.output import stdout_is_terminal, write_json_text, write_text
from carrel.cli.progress import Progress
from carrel.cli.report import OK, complain
from carrel.papers.errors import exit_code_of
from carrel.text.printable import printable

if TYPE_CHECKING:
    from carrel.cli.session import Session

#: Ending of a file → format.
_ENDINGS: Final[Mapping[str, str]] = {
    ".json": "json",
    ".graphml": "graphml",
    ".xml": "graphml",
    ".mmd": "mermaid",
    ".mermaid": "mermaid",
    ".html": "html",
    ".htm": "html",
}
_REASONS: Final = {
    "max_nodes": "there is no room for more papers; --max-nodes takes up to 100",
    "per_paper": "some papers have more references or citations; --per-paper takes up to 20",
    "max_edges": "only 1,000 citations are kept",
    "deadline": "the time was up; limits.wall_seconds gives more",
    "source_failed": "a source did not answer everything",
}


@command(
    "graph",
    example="papers graph 10.1103/PhysRevLett.130.200601 --output graph.html",
    options=(AS_JSON, *EXCHANGE),
)
@click.argument("ref", metavar="REF")
@click.option(
    "--direction",
    type=click.Choice(("references", "citations", "both")),
    default="both",
    help="Follow what papers cite, what cites them, or both; both by default.",
)
@click.option(
    "--depth",
    metavar="N",
    type=click.IntRange(1, 3),
    default=1,
    help="Links between the paper and the farthest one, up to 3; 1 by default.",
)
@click.option(
    "--max-nodes",
    metavar="N",
    type=click.IntRange(1, 100),
    default=50,
    help="At most so many papers, up to 100; 50 by default.",
)
@click.option(
    "--per-paper",
    metavar="N",
    type=click.IntRange(1, 20),
    default=20,
    help="At most so many of one paper in one direction, up to 20; 20 by default.",
)
@click.option(
    "--format",
    "kind",
    type=click.Choice(("json", "graphml", "mermaid", "html")),
    help="The format; by default that of the file's ending, else json.",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write to this file instead of stdout; an existing file is replaced.",
)
def graph_command(  # noqa: PLR0917 - click passes options by name
    session: Session,
    ref: str,
    direction: str,
    depth: int,
    max_nodes: int,
    per_paper: int,
    kind: str | None,
    output: Path | None,
    as_json: bool,
) -> int:
    """Draw what a paper cites and what cites it, from every source at once.

    REF is as for `papers resolve`. html is one page that needs no network: years across, citations
    as size, abstracts on a click. graphml is for Gephi, yEd, Cytoscape and networkx, mermaid for
    Markdown. What is missing in the graph, and why, is said on stderr. JSON output: {"ok", "root",
    "nodes", "edges", "truncated", "reasons", "attempts"}.
    """
    if output is not None and not output.parent.is_dir():
        complain(f"carrel: {output}: there is no folder {output.parent}")
        return exit_code_of("STORE_ERROR")
    chosen = kind or (_ENDINGS.get(output.suffix.lower(), "json") if output else "json")
    arguments: dict[str, Any] = {
        "ref": ref,
        "direction": direction,
        "depth": depth,
        "max_nodes": max_nodes,
        "per_paper": per_paper,
        "format": chosen,
        "details": True,
    }
    with session.open() as host, Progress("graph") as progress:
        result = host.call("paper_citation_graph", arguments, on_progress=progress.update)
    envelope: dict[str, Any] = result.data
    if not envelope["ok"]:
        if as_json or not stdout_is_terminal():
            write_json_text(result.text)
        complain(f"carrel: {printable(ref, 100)}: {printable(envelope['error']['message'], 500)}")
        return exit_code_of(envelope["error"]["code"])
    try:
        _write(envelope, result.text, output, as_json=as_json)
    except OSError as error:
        if output is None:
            raise
        complain(f"carrel: {output}: {error.strerror}")
        return exit_code_of("STORE_ERROR")
    for line in _remarks(envelope):
        complain(f"carrel: {line}")
    return OK


def _write(graph: Mapping[str, Any], text: str, output: Path | None, *, as_json: bool) -> None:
    if output is not None:
        from carrel.files.atomic_write import write_atomically
        from carrel.text.printable import escaped_json_text

        data = (graph["text"] if "text" in graph else escaped_json_text(text) + "\n").encode()
        write_atomically(output, data, mode=None)
        papers, citations = graph["total_visited"], graph["total_edges"]
        complain(f"carrel: wrote {output}: {papers} papers, {citations} citations")
    elif "text" in graph:
        write_text(graph["text"])
    elif as_json or not stdout_is_terminal():
        write_json_text(text)
    else:
        _show(graph["nodes"])


def _show(nodes: Sequence[Mapping[str, Any]]) -> None:
    from carrel.cli.render import table

    rows = [
        (
            node["id"].partition(":")[2],
            str(node.get("year", "")),
            ", ".join(node["authors"][:2]) + (" et al." if len(node["authors"]) > 2 else ""),
            node.get("title", ""),
            str(node.get("cited_by_count", "")),
            node["reached_by"],
        )
        for node in nodes
    ]
    table(("paper", "year", "authors", "title", "cited", "by"), rows)


def _remarks(graph: Mapping[str, Any]) -> list[str]:
    """Returns a line for each reason why papers are missing, and for each source that failed."""
    lines = [f"the graph is not complete: {_REASONS[reason]}" for reason in graph["reasons"]]
    lines += [
        f"{attempt['source']}: {printable(attempt.get('detail', ''), 300)}"
        for attempt in graph["attempts"]
        if "failed" in attempt["outcome"] or "failed" in attempt.get("detail", "")
    ]
    return [*lines, *(printable(notice, 500) for notice in graph.get("notices", ()))]
