"""Papers in all the forms they come in: which there are, how to make others, how to compare.

Of the captured papers, two come as a PDF and as TEI, and sample documents as LaTeX and as LaTeXML's
HTML. Eight real papers come as LaTeX alone: pdfTeX and LaTeXML make a PDF and HTML of them where
these programs are installed.
"""

from __future__ import annotations

import gzip
import os
import re
import shutil
import subprocess
import tarfile
import unicodedata
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from support.office_files import eprint

#: The captured papers that come in two forms, by their name in the files.
PAIRS = ("2020.acl-main.207", "N18-3011")
#: LaTeX papers: name → file, and the main file inside an archive.
SOURCES: Mapping[str, tuple[str, str]] = {
    "1707.08043": ("engrafo/tests-integration-papers-1707.08043-main.tex.gz", ""),
    "1708.00137": ("engrafo/tests-integration-papers-1708.00137-main.tex.gz", ""),
    "1803.07574": ("engrafo/tests-integration-papers-1803.07574-main.tex.gz", ""),
    "1911.02782": ("arxiv/1911.02782.tar.gz", "main.tex"),
    "2004.14974": ("arxiv/2004.14974.tar.gz", "emnlp2020.tex"),
    "ckorzen-1": ("ckorzen/input1.tex", ""),
    "ckorzen-2": ("ckorzen/input2.tex", ""),
    "ckorzen-3": ("ckorzen/input3.tex", ""),
}
#: What is made of them in one run: LaTeXML takes minutes for some. CARREL_TEST_PAPERS=all is all.
MADE = tuple(SOURCES) if os.environ.get("CARREL_TEST_PAPERS") == "all" else ("ckorzen-1",)
#: Classes and fonts that few installations have, and what pdfTeX is given instead.
_INSTEAD = (
    (re.compile(r"\\documentstyle\[[^\]]*\]\{revtex\}"), r"\\documentclass[aps]{revtex4-1}"),
    (re.compile(r"\\documentclass\[[^\]]*\]\{quantumarticle\}"), r"\\documentclass{article}"),
    (re.compile(r"\\usepackage\{(dsfont|bbm)\}"), r"\\newcommand{\\math\1}[1]{\\mathbb{#1}}"),
    (re.compile(r"mathdsfont"), "mathds"),
    (re.compile(r"\\usepackage(\[[^\]]*\])?\{ulem\}"), r"\\newcommand{\\sout}[1]{#1}"),
)


class Agreement(NamedTuple):
    """How far two forms agree: words of one that the other has, both ways, and headings."""

    first_in_second: float
    second_in_first: float
    headings_missing: list[str]


def source(corpus: Path, name: str) -> bytes:
    """The LaTeX of a paper as an e-print."""
    file, _ = SOURCES[name]
    path = corpus / "tex" / file
    if path.name.endswith(".tar.gz"):
        return path.read_bytes()
    content = path.read_bytes()
    files: dict[str, str | bytes] = {
        "main.tex": gzip.decompress(content) if path.suffix == ".gz" else content
    }
    beside = path.with_name(path.name.removesuffix(".tex.gz") + ".bbl")
    if beside.exists():
        files["main.bbl"] = beside.read_bytes()
    return eprint(files)


def typeset(corpus: Path, name: str, folder: Path) -> bytes | None:
    """The PDF that pdfTeX makes of a paper; `None` when it makes none."""
    main = _unpack(corpus, name, folder)
    for path in folder.rglob("*.tex"):
        text = path.read_text("latin-1")
        for pattern, instead in _INSTEAD:
            text = pattern.sub(instead, text)
        path.write_text(text, "latin-1")
    command = ["pdflatex", "-interaction=nonstopmode", "-no-shell-escape", main]
    for _ in range(3):
        subprocess.run(command, cwd=folder, capture_output=True, timeout=300, check=False)
    made = folder / main.replace(".tex", ".pdf")
    return made.read_bytes() if made.exists() else None


def as_html(corpus: Path, name: str, folder: Path) -> bytes | None:
    """The HTML that LaTeXML makes of a paper; `None` when it makes none."""
    main = _unpack(corpus, name, folder)
    steps = (
        ["latexml", "--quiet", "--destination=made.xml", main],
        ["latexmlpost", "--quiet", "--destination=made.html", "made.xml"],
    )
    for step in steps:
        try:
            subprocess.run(step, cwd=folder, capture_output=True, timeout=900, check=False)
        except subprocess.TimeoutExpired:
            return None
    made = folder / "made.html"
    return made.read_bytes() if made.exists() else None


def programs() -> str:
    """Why no other forms can be made; empty when they can."""
    missing = [one for one in ("pdflatex", "latexml", "latexmlpost") if shutil.which(one) is None]
    if not missing:
        return ""
    return f"{', '.join(missing)}: not installed (Debian: texlive-publishers, latexml)"


def _unpack(corpus: Path, name: str, folder: Path) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    archive = folder / "source.tar.gz"
    archive.write_bytes(source(corpus, name))
    with tarfile.open(archive) as files:
        files.extractall(folder, filter="data")
    return SOURCES[name][1] or "main.tex"


def words(markdown: str) -> Counter[str]:
    """Words of four letters and more, without formulas and addresses."""
    return Counter(re.findall(r"[^\W\d_]{4,}", _plain(markdown).lower()))


def headings(markdown: str) -> list[str]:
    """The headings of sections and subsections, without numbers and formulas.

    Not those over abstract and references: some classes print none.
    """
    found = []
    for heading in re.findall(r"^#{2,3} (.+)$", markdown, re.MULTILINE):
        # A label is printed in front: 2.1, IV, A, Appendix B.
        plain = re.sub(r"^(appendix )?([\divxlc]+|[a-z])(\.[\da-z]+)*\.? ", "", heading.lower())
        if "$" not in heading:
            found.append(re.sub(r"\W", "", plain))
    return [one for one in found if one not in {"abstract", "references"}]


def _plain(markdown: str) -> str:
    text = re.sub(r"\$\$.*?\$\$", " ", markdown, flags=re.DOTALL)
    text = re.sub(r"(?<!\\)\$[^$\n]*(?<!\\)\$", " ", text)
    text = re.sub(r"\]\([^)\n]*\)", " ", text)
    return unicodedata.normalize("NFKC", re.sub(r"<?https?://\S+", " ", text))


def compare(first: str, second: str) -> Agreement:
    """Compares the Markdown of two forms of a paper."""
    one, other = words(first), words(second)
    shared = sum((one & other).values())
    known = " ".join(headings(second))
    missing = [one for one in headings(first) if one not in known]
    return Agreement(shared / sum(one.values()), shared / sum(other.values()), missing)
