"""Formats the rows as a table, as Markdown for README.md, and as JSON."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .measure import Figure, Row

README = Path(__file__).parent / "README.md"
_START, _END = "<!-- figures -->", "<!-- end of figures -->"
_HEADINGS = ("case", "ours : counterpart", "ours", "counterpart", "ratio", "at best", "bar", "")


def machine() -> str:
    """Returns the properties of the machine that figures depend on."""
    cores = os.cpu_count() or 1
    parts = [
        f"{cores} core{'s' if cores != 1 else ''}",
        f"{platform.system()} {platform.machine()}",
        f"{platform.python_implementation()} {platform.python_version()}",
    ]
    return ", ".join(parts)


def busy() -> str:
    """Returns a warning if the machine has other load; empty if not, or if that is
    unknown.
    """
    if not hasattr(os, "getloadavg"):
        return ""
    load = os.getloadavg()[0]
    if load < 0.3 * (os.cpu_count() or 1):
        return ""
    return f"the machine is busy (load {load:.1f}): ratios of waiting to computing will be off"


def table(rows: Sequence[Row], *, verdicts: bool = True) -> str:
    """Returns the rows as aligned columns."""
    cells = [_HEADINGS, *(_cells(row) for row in rows)]
    if not verdicts:
        cells = [(*line[:-1], "") for line in cells]
    widths = [max(len(line[column]) for line in cells) for column in range(len(_HEADINGS))]
    lines = [
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in cells
    ]
    return "\n".join([lines[0], "  ".join("─" * width for width in widths), *lines[1:]])


def markdown(rows: Sequence[Row], where: str) -> str:
    """Returns a table for README.md, preceded by the machine's properties."""
    lines = [f"Measured on {where}.", ""]
    lines.append("| " + " | ".join((*_HEADINGS[:-1], "verdict")) + " |")
    lines.append("|---|---|--:|--:|--:|--:|--:|---|")
    lines += ["| " + " | ".join(_cells(row)) + " |" for row in rows]
    return "\n".join(lines)


def update_readme(rows: Sequence[Row], where: str, path: Path = README) -> None:
    """Replaces the table between the markers of README.md."""
    before, start, rest = path.read_text("utf-8").partition(_START)
    _, end, after = rest.partition(_END)
    if not start or not end:
        raise ValueError(f"{path} lacks the line {_START} or {_END}")
    text = f"{before}{_START}\n{markdown(rows, where)}\n{_END}{after}"
    path.write_text(text, "utf-8", newline="\n")


def as_json(rows: Sequence[Row], where: str) -> dict[str, Any]:
    """Returns all measurements."""
    return {"machine": where, "rows": [_row_as_json(row) for row in rows]}


def _row_as_json(row: Row) -> dict[str, Any]:
    return {
        "case": row.case,
        "what": row.what,
        "ours": _figure_as_json(row.ours),
        "counterpart": _figure_as_json(row.counterpart),
        "ratio": row.ratio,
        "ratio_of_best": row.best_ratio,
        "bar": asdict(row.bar) if row.bar else None,
        "floor": row.floor,
        "ceiling": row.ceiling,
        "verdict": row.verdict,
        "missing": row.missing,
    }


def _figure_as_json(figure: Figure | None) -> dict[str, Any] | None:
    if figure is None:
        return None
    return {
        "unit": figure.unit,
        "median": figure.median,
        "best": figure.best,
        "measurements": len(figure.values),
    }


def _cells(row: Row) -> tuple[str, ...]:
    bar = str(row.bar) if row.bar else "-"
    if row.floor is not None:
        bar = f"≥ {row.floor:.3f}"
    if row.ceiling is not None:
        bar = f"≤ {Figure((row.ceiling,)).shown()}"
    if row.ours is None or row.counterpart is None:
        return (row.case, f"{row.what}: {row.missing}", "-", "-", "-", "-", bar, row.verdict)
    return (
        row.case,
        row.what,
        row.ours.shown(),
        row.counterpart.shown(),
        _times(row.ratio),
        _times(row.best_ratio),
        bar,
        row.verdict,
    )


def _times(ratio: float | None) -> str:
    return "-" if ratio is None else f"{ratio:.2f}\N{MULTIPLICATION SIGN}"
