"""Writes papers with their provenance until it is killed, and says what is done.

Arguments: folder of the store, of the cache and of the log, a number, and the number of papers.
"""

from __future__ import annotations

import sys
from pathlib import Path

from carrel.papers.provenance import LogRow, ProvenanceLog
from carrel.papers.store import PaperEntry, PaperStore, StoredPaper, safekey
from carrel.records import parse_id


def content(number: int) -> bytes:
    """Returns the PDF of a paper: some hundred kilobytes."""
    return b"%PDF-1.7\n" + f"{number} ".encode() * 40_000


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    folder, cache, log_folder = (Path(word) for word in sys.argv[1:4])
    start, papers = int(sys.argv[4]), int(sys.argv[5])
    store = PaperStore.open(folder, cache)
    log = ProvenanceLog(log_folder / "access.log", rotate_bytes=20_000)
    say("ready")
    number = start
    while True:
        number += 1
        identifier = parse_id(f"10.1234/Desk.{number % papers}")

        def record(paper: StoredPaper) -> None:
            log.append(
                LogRow(event="store_write", ref=paper.entry.doi, size_bytes=number)  # noqa: B023
            )

        entry = PaperEntry(
            title=f"Desk {number % papers}",
            authors=("Jürgen Müller",),
            year=2024,
            doi=identifier.id,
            fetched={"source": "unpaywall"},
            others={f"seen_{start}": number},
        )
        with store.receive(safekey(identifier)) as file:
            file.begin({"etag": f'"{number % papers}"'}, at=0)
            for piece in range(0, len(content(number % papers)), 2**16):
                file.write(content(number % papers)[piece : piece + 2**16])
            store.write(identifier, entry, file, before=record)
        say(f"done {number % papers}")


main()
