"""Implements `carrel web research`: what the tools of research do, for a person."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from carrel.cli.command import AS_JSON, EXCHANGE, ExampleGroup, command
from carrel.cli.output import write_json_text, write_text
from carrel.cli.progress import Progress
from carrel.cli.report import OK, complain
from carrel.cli.session import Session
from carrel.errors import ArgumentError, StorageError
from carrel.text.printable import printable, printable_lines

#: Bytes of the largest bibliography that is read.
_MOST = 2 * 2**20

research = ExampleGroup(
    "research", help="Export sessions of research, check citations.", no_args_is_help=True
)
research.example = "web research verify 10.5555/desk"


@command(
    "export",
    example="web research export 2f1c7a52-8f5e-4c83-9d3c-6f0a6f1f7c11",
    options=(AS_JSON, *EXCHANGE),
)
@click.argument("session_id", metavar="SESSION")
@click.option("--verify-links", is_flag=True, help="Check whether each source can be read.")
def export_command(session: Session, session_id: str, verify_links: bool, as_json: bool) -> int:
    """Write a session of research as a Markdown report.

    Of the sessions that a server on this machine has recorded over stdio, the last four hours. JSON
    output: the whole session.
    """
    arguments = {"session_id": session_id, "verify_links": verify_links}
    export, _ = _called(
        session, "research_export", {**arguments, "format": "json" if as_json else "markdown"}
    )
    if as_json:
        import json

        write_json_text(json.dumps(export["document"], ensure_ascii=False))
    else:
        write_text(printable_lines(export["document"]))
    return OK


@command(
    "verify",
    example="web research verify 10.5555/desk --claim 'walls keep noise out'",
    options=(AS_JSON, *EXCHANGE),
)
@click.argument("citation", metavar="CITATION")
@click.option("--claim", metavar="TEXT", help="What it is cited for; sentences about it are shown.")
def verify_command(session: Session, citation: str, claim: str | None, as_json: bool) -> int:
    """Collect evidence about a citation: a DOI, an address, or a reference.

    Evidence, never a verdict. JSON output: the result of the tool citation_verify.
    """
    arguments = {"citation": citation} | ({"claim": claim} if claim else {})
    evidence, text = _called(session, "citation_verify", arguments)
    if as_json:
        write_json_text(text)
        return OK
    write_text("\n".join(printable(line, 1000) for line in _evidence(evidence)) + "\n")
    return OK


@command("audit", example="web research audit references.bib", options=(AS_JSON, *EXCHANGE))
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False))
def audit_command(session: Session, file: Path, as_json: bool) -> int:
    """Check every entry of a bibliography: CSL-JSON, RIS or BibTeX.

    Entries with flags are listed. Evidence, never a verdict: unchecked says nothing against an
    entry. JSON output: the result of the tool bibliography_audit.
    """
    report, text = _called(session, "bibliography_audit", {"bibliography": _read(file)})
    if as_json:
        write_json_text(text)
        return OK
    for entry in report["entries"]:
        if entry["flags"]:
            name = entry.get("title") or entry.get("doi") or entry.get("url") or "an entry"
            reason = f": {entry['reason']}" if "reason" in entry else ""
            line = f"{entry['index'] + 1}. {name} [{', '.join(entry['flags'])}]{reason}"
            write_text(printable(line, 1000) + "\n")
    for note in (report.get("skipped_note"), *report.get("unread", ())):
        if note:
            complain(f"carrel: {printable(note, 500)}")
    counts = ", ".join(f"{count} {name}" for name, count in report["summary"].items() if count)
    complain(f"carrel: {counts or 'no entries'}")
    return OK


def _called(session: Session, tool: str, arguments: dict[str, Any]) -> tuple[Any, str]:
    """Returns the result of a tool, as data and as text. The toolset need not be on."""
    config = session.config()
    config = replace(config, web=config.web._replace(research=True))
    with session.open(config) as host, Progress(tool.replace("_", " ")) as progress:
        result = host.call(tool, arguments, on_progress=progress.update)
    return result.data, result.text


def _evidence(evidence: dict[str, Any]) -> list[str]:
    lines = [f"{evidence['verification_status']}, confidence {evidence['match_confidence']}"]
    for name, label in (("matched_record", "work"), ("possible_match", "perhaps")):
        record = evidence.get(name)
        if record is not None:
            year = f" ({record['year']})" if "year" in record else ""
            lines.append(f"{label}: {record['title']}{year} {record['url']}")
    optional = {
        "title": evidence.get("title_match"),
        "reason": evidence.get("reason"),
        "claim": evidence.get("claim_support"),
    }
    lines += [f"{label}: {value}" for label, value in optional.items() if value]
    notice = evidence.get("retraction_status")
    if notice is not None:
        day = f", {notice['date']}" if "date" in notice else ""
        lines.append(f"notice: {notice['kind']} according to {notice['source']}{day}")
    lines += [f"  {sentence}" for sentence in evidence.get("claim_evidence", ())]
    return [*lines, *(f"- {step}" for step in evidence["provenance"])]


def _read(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            data = opened.read(_MOST + 1)
    except OSError as error:
        raise StorageError(str(file), error.strerror or str(error)) from None
    if len(data) > _MOST:
        raise ArgumentError([f"{file.name}: more than {_MOST // 2**20} MiB; divide it"])
    return data.decode("utf-8-sig", "replace")


for subcommand in (export_command, verify_command, audit_command):
    research.add_command(subcommand)
