"""Office documents and books: what others see in them, and how long they take."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from bench.measure import Figure, Row
from bench.office_truth import SEEN_BY, STRICT, missing
from bench.workbench import Workbench

#: Beside the checkout; its files stay there.
CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus" / "office"
_PEERS = {".docx": "python-docx", ".pptx": "python-pptx", ".epub": "lxml"}
_FLOOR = 0.995


def pieces(bench: Workbench) -> Sequence[Row]:
    """Every paragraph, heading and cell of every file, and the time of both, file by file."""
    rows: list[Row] = []
    for ending, peer in _PEERS.items():
        files = sorted(path for path in CORPUS.glob(f"*/*{ending}") if path.name not in STRICT)
        case, what = f"office{ending.replace('.', '-')}", f"pieces that {peer} sees"
        if not files:
            rows.append(Row(case, what, missing="no Office documents beside the checkout"))
            continue
        if bench.quick:
            files = files[::10]
        try:
            rows += _compared(bench, case, peer, ending, files)
        except ImportError:
            rows.append(Row(case, what, missing="not installed: pip install --group bench"))
    return rows


def _compared(
    bench: Workbench, case: str, peer: str, ending: str, files: Sequence[Path]
) -> Sequence[Row]:
    host, see = bench.host, SEEN_BY[ending]
    # The first file pays for loading the program.
    host.parse("office", ending[1:], files[0].read_bytes())
    list(see(files[0]))
    pieces, lost, ours, theirs = 0, 0, 0.0, 0.0
    for path in files:
        start = time.perf_counter()
        document = host.parse("office", ending[1:], path.read_bytes())
        between = time.perf_counter()
        seen = list(see(path))
        ours, theirs = ours + between - start, theirs + time.perf_counter() - between
        pieces += len(seen)
        lost += len(missing(document, seen))
    share = Figure(((pieces - lost) / pieces,), "F1")
    return [
        Row(
            case, f"share of {pieces:,} pieces in {len(files)} files: ours : {peer}",
            share, Figure((1.0,), "F1"), floor=_FLOOR,
        ),
        Row(
            f"{case}-time", f"the same files in the sandbox : {peer}",
            Figure((ours,)), Figure((theirs,)), faster=True,
        ),
    ]  # fmt: skip
