"""`python -m bench`: runs the cases and prints the table."""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from carrel.runtime.memory import own_process

from .cases import CASES
from .measure import Row
from .report import as_json, busy, machine, markdown, table, update_readme
from .workbench import Workbench


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures and prints.

    Returns:
        0; with `--check` 1 if a bar is missed or could not be measured.
    """
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.quick and (options.check or options.update_readme):
        parser.error("--quick measures too little for --check or --update-readme")
    if options.only and options.update_readme:
        parser.error("--update-readme needs all cases")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # for the table's characters
    # As in an installation, every program's modules are already compiled.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    own_process()  # as the command line and the server do; both sides of a ratio share it
    names = list(dict.fromkeys(options.only or CASES))
    where = machine()
    print(where)
    if busy():
        print(busy(), file=sys.stderr)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        bench = Workbench(Path(folder), quick=options.quick)
        try:
            for name in names:
                start = time.monotonic()
                print(f"measuring {name} …", end=" ", file=sys.stderr, flush=True)
                rows += CASES[name](bench)
                print(f"{time.monotonic() - start:.0f} s", file=sys.stderr)
        finally:
            bench.close()
    print(markdown(rows, where) if options.markdown else table(rows, verdicts=not options.quick))
    if options.quick:
        print("every case ran; figures of so few measurements decide nothing")
    if options.json:
        options.json.write_text(json.dumps(as_json(rows, where), indent=2) + "\n", "utf-8")
    if options.update_readme:
        update_readme(rows, where)
    behind = [row.case for row in rows if row.promised and row.verdict != "met"]
    return 1 if options.check and behind else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description="Measures Carrel against its counterparts and prints the ratios.",
    )
    parser.add_argument(
        "--only", action="append", choices=list(CASES), metavar="CASE",
        help=f"measure this case alone; may be repeated; one of {', '.join(CASES)}",
    )  # fmt: skip
    parser.add_argument(
        "--quick", action="store_true", help="see that every case runs, in under a minute"
    )
    parser.add_argument(
        "--check", action="store_true", help="exit 1 when a bar is missed or was not measured"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures to FILE")
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    parser.add_argument(
        "--update-readme", action="store_true", help="put the table into bench/README.md"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
