"""Compares an engine with citeproc-js over the 300 works, or over any items.

    cd tests
    python -m citations requests FOLDER      FOLDER/STYLE.json, a request of the `csl` plugin for
                                             each style; FOLDER/expected/STYLE.json, the oracle's
    … the engine turns FOLDER/STYLE.json into RESULTS/STYLE.json …
    python -m citations compare FOLDER RESULTS

    --items FILE     CSL-JSON items instead of the 300 works (with `requests`)
    --style NAME     only this style, or a path of a `.csl` file; repeatable
    --locale NAME    as `carrel cite --locale`
    --format html    (with `requests`)
    --examples N     of each kind of difference (with `compare`)
    --write FILE     the list of differences, instead of standard output

A result is the `csl` plugin's ({"bibliography": [{"id", "text"}]}), or a list of entries, or lines
of {"id", "text"}, as `carrel cite --jsonl` writes them.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from citations import oracle
from citations.differences import compare, listing, summary
from citations.works import works


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m citations",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("action", choices=("requests", "compare"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("results", type=Path, nargs="?")
    parser.add_argument("--items", type=Path)
    parser.add_argument("--style", action="append", dest="styles")
    parser.add_argument("--locale")
    parser.add_argument("--format", default="text")
    parser.add_argument("--examples", type=int, default=3)
    parser.add_argument("--write", type=Path)
    given = parser.parse_args()
    styles = tuple(given.styles or oracle.FIFTEEN)
    if given.action == "requests":
        return _requests(given, styles)
    if given.results is None:
        parser.error("compare needs the folder of results")
    return _compare(given, styles)


def _requests(given: argparse.Namespace, styles: tuple[str, ...]) -> int:
    items = json.loads(given.items.read_text("utf-8")) if given.items else works()
    more = {"format": given.format} | ({"locale": given.locale} if given.locale else {})
    paths = [Path(style) if style.endswith(".csl") else style for style in styles]
    asked = [oracle.request(path, items, **more) for path in paths]
    expected = given.folder / "expected"
    expected.mkdir(parents=True, exist_ok=True)
    for style, request, result in zip(styles, asked, oracle.run(asked), strict=True):
        name = f"{Path(style).stem}.json" if style.endswith(".csl") else f"{style}.json"
        if "error" in result:
            print(f"{style}: citeproc-js failed: {result['error']}", file=sys.stderr)
        (given.folder / name).write_text(json.dumps(request, ensure_ascii=False), "utf-8")
        (expected / name).write_text(json.dumps(result, ensure_ascii=False, indent=1), "utf-8")
    return 0


def _compare(given: argparse.Namespace, styles: tuple[str, ...]) -> int:
    agreements = []
    for style in styles:
        name = f"{Path(style).stem if style.endswith('.csl') else style}.json"
        if not (given.results / name).is_file():
            print(f"{style}: no {given.results / name}", file=sys.stderr)
            continue
        expected = _entries(given.folder / "expected" / name)
        agreements.append(compare(style, _entries(given.results / name), expected))
    text = listing(
        [one for found in agreements for one in found.differences], examples=given.examples
    )
    table = summary(agreements)
    if given.write:
        given.write.write_text(f"```\n{table}\n```\n\n{text}\n", "utf-8")
    else:
        print(text)
    print(table)
    return 0


def _entries(path: Path) -> list[dict[str, Any]]:
    text = path.read_text("utf-8")
    try:
        found = json.loads(text)
    except json.JSONDecodeError:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    entries = found if isinstance(found, list) else found.get("bibliography", [])
    assert isinstance(entries, list)
    return entries


if __name__ == "__main__":
    sys.exit(main())
