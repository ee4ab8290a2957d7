"""Measures text from PDF files against other programs: words, order, files read, time."""

from __future__ import annotations

import csv
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from bench import right_to_left
from bench.measure import Bar, Figure, Row
from bench.pdf_scores import Score, mean, score, text_of, text_of_tei, words
from bench.workbench import Workbench

#: Outside the repository; its files are not copied.
CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus"
_NO_CORPUS = "no PDF files beside the checkout (../shared/corpus/pdf)"
_NO_PEER = "not installed: pip install --group bench, apt-get install poppler-utils"
#: The maximum distance of a score below the better one of the two counterparts.
_MARGIN = 0.02
_LEADERS = ("pdftotext", "PyMuPDF")
_PATIENCE = 60
#: The minimum score of words in right-to-left text.
_RIGHT_TO_LEFT = 0.80

#: A program that reads the text of a file.
Reader = Callable[[Path], str]


@dataclass
class _Read:
    """One program's results for all files; None for a file that it cannot read."""

    texts: dict[str, str | None] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)


def texts(bench: Workbench) -> Sequence[Row]:
    """Reads every file with every program, alternately."""
    files = _files()
    if not files:
        return [Row("pdf", "text of PDF files", missing=_NO_CORPUS)]
    if bench.quick:
        files = files[::20]
    host = bench.host

    def ours(path: Path) -> str:
        document = host.parse("pdf", "pdf", path.read_bytes())
        # A page whose fonts do not map codes to characters is read, with a warning.
        codes = {warning["code"] for warning in document.get("warnings", ())}
        if codes & {"encrypted", "no_pages", "broken_stream"} and document["quality"] == "none":
            raise ValueError(document["quality_reason"])
        return text_of(document)

    programs: dict[str, Reader] = {"carrel": ours, **_peers()}
    reads = _read([path for path, _ in files], programs)
    made = bench.folder / "right-to-left"
    return [
        *_score_rows(files, reads),
        *_right_to_left_rows(made, programs),
        *_files_rows(reads),
        *_time_rows(reads),
    ]


def _files() -> list[tuple[Path, Path | None]]:
    """Yields the files of the corpus, each with its truth if it has one."""
    index = CORPUS / "index-documents.tsv"
    if not index.is_file():
        return []
    with index.open(encoding="utf-8", newline="") as lines:
        rows = [row for row in csv.DictReader(lines, delimiter="\t") if row["kind"] == "pdf"]
    found = []
    for row in rows:
        truth = row["ground truth file"]
        found.append((CORPUS / row["file"], CORPUS / truth if truth else None))
    return [(path, truth) for path, truth in found if path.is_file()]


def _peers() -> Mapping[str, Reader]:
    """Returns the installed programs to compare with."""
    found: dict[str, Reader] = {}
    if shutil.which("pdftotext"):
        found["pdftotext"] = _pdftotext
    for name, make in (("PyMuPDF", _pymupdf), ("pypdf", _pypdf), ("pdfminer.six", _pdfminer)):
        try:
            found[name] = make()
        except ImportError:
            continue
    return found


def _pdftotext(path: Path) -> str:
    command = ["pdftotext", "-enc", "UTF-8", str(path), "-"]
    done = subprocess.run(command, check=True, capture_output=True, timeout=_PATIENCE)
    return done.stdout.decode("utf-8", "replace")


def _pymupdf() -> Reader:
    import pymupdf  # type: ignore[import-not-found, unused-ignore]

    pymupdf.TOOLS.mupdf_display_errors(False)

    def read(path: Path) -> str:
        with pymupdf.open(path) as document:
            return "\n".join(page.get_text() for page in document)

    return read


def _pypdf() -> Reader:
    import logging

    import pypdf  # type: ignore[import-not-found, unused-ignore]

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    return lambda path: "\n".join(page.extract_text() for page in pypdf.PdfReader(path).pages)


def _pdfminer() -> Reader:
    import logging

    from pdfminer.high_level import extract_text  # type: ignore[import-not-found, unused-ignore]

    logging.getLogger("pdfminer").setLevel(logging.CRITICAL)
    return lambda path: str(extract_text(path))


def _read(files: Sequence[Path], programs: Mapping[str, Reader]) -> Mapping[str, _Read]:
    reads = {name: _Read() for name in programs}
    for read in programs.values():
        # The first file includes the time to load the program.
        with suppress(Exception):
            read(files[0])
    for path in files:
        for name, read in programs.items():
            start = time.perf_counter()
            try:
                text = read(path)
            except Exception:  # noqa: BLE001 - a file that a program cannot read counts as unread
                text = None
            reads[name].seconds[str(path)] = time.perf_counter() - start
            reads[name].texts[str(path)] = text
    return reads


def _scores(
    files: Sequence[tuple[Path, Path | None]], read: _Read, half: int | None
) -> Mapping[str, Score]:
    """Returns scores by the file's folder: of all files, or of every second one from `half` on."""
    found: dict[str, list[Score]] = {}
    with_truth = [(path, truth) for path, truth in files if truth is not None]
    for number, (path, truth) in enumerate(with_truth):
        if half is not None and number % 2 != half:
            continue
        data = truth.read_bytes()
        expected = text_of_tei(data) if truth.suffix == ".xml" else data.decode("utf-8")
        file_score = score(read.texts[str(path)] or "", expected)
        found.setdefault(path.parent.name, []).append(file_score)
    return {name: mean(scores) for name, scores in found.items()}


def _score_rows(
    files: Sequence[tuple[Path, Path | None]], reads: Mapping[str, _Read]
) -> Sequence[Row]:
    rows = []
    leaders = [name for name in _LEADERS if name in reads]
    # Rules were developed on one half of the files; the other half validates them.
    for half, suffix in ((None, ""), (1, "-other-half")):
        by_program = {name: _scores(files, read, half) for name, read in reads.items()}
        for name, own in by_program["carrel"].items():
            for part in ("words", "order"):
                case, what = f"pdf-{part}-{name}{suffix}", f"{part} of {name}"
                if not leaders:
                    rows.append(Row(case, what, missing=_NO_PEER))
                    continue
                best = max(leaders, key=lambda leader: getattr(by_program[leader][name], part))
                peer = getattr(by_program[best][name], part)
                rows.append(
                    Row(
                        case, f"{what}: ours : the better of two, {best}",
                        Figure((getattr(own, part),), "F1"), Figure((peer,), "F1"),
                        floor=peer - _MARGIN,
                    )
                )  # fmt: skip
    return rows


def _right_to_left_rows(folder: Path, programs: Mapping[str, Reader]) -> Sequence[Row]:
    """Reads files that a browser makes, because the corpus has none of them with a truth."""
    folder.mkdir(exist_ok=True)
    truths = right_to_left.make(folder)
    leaders = [name for name in _LEADERS if name in programs]
    if not truths or not leaders:
        missing = _NO_PEER if truths else "no Chromium, which makes the files"
        return [Row("pdf-words-right-to-left", "words of right-to-left text", missing=missing)]
    reads = _read(list(truths), programs)
    scores = {
        name: mean([score(read.texts[str(path)] or "", text) for path, text in truths.items()])
        for name, read in reads.items()
    }
    rows = []
    for part, floor in (("words", _RIGHT_TO_LEFT), ("order", None)):
        best = max(leaders, key=lambda leader: getattr(scores[leader], part))
        rows.append(
            Row(
                f"pdf-{part}-right-to-left",
                f"{part} of right-to-left text: ours : the better of two, {best}",
                Figure((getattr(scores["carrel"], part),), "F1"),
                Figure((getattr(scores[best], part),), "F1"),
                floor=floor,
            )
        )
    return rows


def _files_rows(reads: Mapping[str, _Read]) -> Sequence[Row]:
    # One rule for all: of the files in which any program finds a word, those where this one does.
    with_words = {
        name: {path for path, text in read.texts.items() if text and words(text)}
        for name, read in reads.items()
    }
    readable = set().union(*with_words.values())

    def share(name: str) -> float:
        return len(with_words[name]) / max(1, len(readable))

    what = "share of files with words that are read: ours : pdftotext"
    if "pdftotext" not in reads:
        return [Row("pdf-read", what, missing=_NO_PEER)]
    ours, theirs = share("carrel"), share("pdftotext")
    return [Row("pdf-read", what, Figure((ours,), "F1"), Figure((theirs,), "F1"), floor=theirs)]


def _time_rows(reads: Mapping[str, _Read]) -> Sequence[Row]:
    rows = []
    bars = {
        "pypdf": Bar(3, at_least=True),
        "PyMuPDF": None,
        "pdftotext": None,
        "pdfminer.six": None,
    }
    for name, bar in bars.items():
        what = f"all files that both read, in the sandbox : {name}"
        if name not in reads:
            rows.append(Row(f"pdf-time-{name}", what, missing=_NO_PEER))
            continue
        both = [
            path
            for path, text in reads["carrel"].texts.items()
            if text is not None and reads[name].texts[path] is not None
        ]
        sums = [sum(reads[program].seconds[path] for path in both) for program in ("carrel", name)]
        ours, theirs = (Figure((seconds,)) for seconds in sums)
        rows.append(Row(f"pdf-time-{name}", what, ours, theirs, bar, faster=True))
    return rows
