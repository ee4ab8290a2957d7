"""Attempts to reach an address or a host that policy does not allow, with the expected decisions.

The project's own cases are grouped by category. A longer list outside the repository is read too if
it exists; its header describes its columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from .fetch_harness import ARXIV
from .upstream import PUBLIC

LIST = Path(__file__).parents[3] / "shared" / "reference" / "ssrf-cases.tsv"
#: Of tests that read the list.
NO_LIST = "no ../shared/reference/ssrf-cases.tsv beside the checkout"


@dataclass(frozen=True)
class Case:
    """An attempt and the expected decision."""

    id: str
    url: str
    allowed: bool = False
    answers: dict[str, list[list[str]]] = field(default_factory=dict)
    redirect: str | None = None


def own_cases() -> Iterator[Case]:
    for number, url in enumerate(ALLOWED):
        yield Case(f"allowed-{number}", url, allowed=True)
    for category, urls in REFUSED.items():
        for number, url in enumerate(urls):
            yield Case(f"{category}-{number}", url)
    for number, answers in enumerate(PRIVATE_ANSWERS):
        yield Case(f"answer-{number}", f"https://{ARXIV}/", answers={ARXIV: [answers]})
    for number, location in enumerate(BAD_REDIRECTS):
        yield Case(f"redirect-{number}", f"https://{ARXIV}/start", redirect=location)
    moving = {ARXIV: [[PUBLIC], ["10.0.0.1"]]}
    yield Case("rebind-after-check", f"https://{ARXIV}/", allowed=True, answers=moving)
    yield Case("rebind-at-redirect", f"https://{ARXIV}/", answers=moving, redirect="/next")
    yield Case("redirect-to-itself", f"https://{ARXIV}/a", allowed=True, redirect="/b")


ALLOWED = [
    f"https://{ARXIV}/api/query?id_list=2301.00001",
    f"HTTPS://{ARXIV.upper()}:443/",
    f"https://{ARXIV}./x?u=http://169.254.169.254/#f",
    "https://eutils.ncbi.nlm.nih.gov/entrez/",
    "https://api.crossref.org/works/10.1%2F%3Cx%3E",
]

REFUSED = {
    "unlisted": [
        "https://evil.example/", "https://nih.gov/", "https://a.b.ncbi.nlm.nih.gov/",
        f"https://{ARXIV}.evil.example/", f"https://evil.{ARXIV}/", f"https://x{ARXIV}/",
    ],
    "authority": [
        f"https://{ARXIV}@evil.example/", f"https://evil.example@{ARXIV}/", f"https://:@{ARXIV}/",
        f"https://{ARXIV}\\@evil.example/", f"https://evil.example\\.{ARXIV}/",
        f"https://{ARXIV}%00.evil.example/", f"https://{ARXIV}%2f.evil.example/",
        f"https://{ARXIV}\r\nHost: evil.example/", f"https://{ARXIV}\0/", f"https://{ARXIV} /",
        f"https:\\\\{ARXIV}/", f"https:/{ARXIV}/", f"https://{ARXIV}:80:443/", "https://*/",
    ],
    "scheme-and-port": [
        f"http://{ARXIV}/", f"ws://{ARXIV}/", f"ldap://{ARXIV}/", "about:blank", "",
        f"blob:https://{ARXIV}/", f"https://{ARXIV}:8080/", f"https://{ARXIV}:22/",
        f"https://{ARXIV}:00443/", f"https://{ARXIV}:+443/", f"https://{ARXIV}:4 43/",
    ],
    "address": [
        "https://127.0.0.1/", "https://127.1/", "https://0/", "https://2130706433/",
        "https://0x7f.0.0.1/", "https://0177.1/", "https://169.254.169.254./",
        "https://8.8.8.8/", "https://[::ffff:7f00:1]/", "https://[fe80::1%25en0]/",
        "https://[::]:443/", "https://127\u30020\u30020\u30021/", "https://\u2460\u2461\u2466.1/",
    ],
    "spelling": [
        f"https://\uff45{ARXIV[1:]}/", f"https://{ARXIV}\u3002/", f"https://ex\u00adport{ARXIV[6:]}/",
        f"https://{ARXIV[:-1]}\u0262/", f"https://{ARXIV}\u200b/", "https://xn--/",
    ],
    "local-name": [
        "https://localhost/", "https://metadata.google.internal/", "https://printer.local/",
        "https://127.0.0.1.nip.io/", "https://kubernetes.default.svc/",
    ],
}  # fmt: skip

PRIVATE_ANSWERS = [
    [], ["10.0.0.1"], ["127.0.0.1"], ["169.254.169.254"], ["100.64.0.1"], ["168.63.129.16"],
    ["0.0.0.0"], ["224.0.0.1"], ["255.255.255.255"], ["::1"], ["fd00::1"], ["fe80::1%eth0"],
    ["::ffff:10.0.0.1"], ["64:ff9b::7f00:1"], ["2002:7f00:1::1"], ["2001::1"], ["fec0::1"],
    [PUBLIC, "192.168.0.1"], [PUBLIC, "::1"], ["2a04:4e42::42", PUBLIC, "10.1.1.1"],
]  # fmt: skip

BAD_REDIRECTS = [
    "", "https://evil.example/", f"http://{ARXIV}/", "//evil.example/", "https://10.0.0.1/",
    "https://[::1]/", "https://2130706433/", f"https://{ARXIV}@evil.example/",
    f"https://{ARXIV}:8443/", "\\\\evil.example/", "/\\evil.example/", "file:///etc/passwd",
    "data:text/plain,x", "javascript:x", f"https://{ARXIV}%0d%0a/", "https:evil.example", "/start",
]  # fmt: skip


def listed_cases() -> Iterator[Case]:
    if not LIST.is_file():
        return
    for line in LIST.read_text(encoding="utf-8").splitlines():
        row = line.split("\t")
        if line.startswith("#") or row[0] == "id" or row[1] == "manifest-entry":
            continue
        name, _, url, _, dns, redirect, verdict, _ = row
        answers = {}
        for entry in filter(None, dns.split(";")):
            host, _, spelled = entry.partition("=")
            answers[host] = [list(filter(None, turn.split(","))) for turn in spelled.split("|")]
        yield Case(
            name,
            unescape(url),
            allowed=verdict == "allow",
            answers=answers,
            redirect={"": None, "<empty>": ""}.get(redirect, unescape(redirect)),
        )


def listed_entries() -> Iterator[tuple[str, bool]]:
    if LIST.is_file():
        for line in LIST.read_text(encoding="utf-8").splitlines():
            row = line.split("\t")
            if len(row) > 6 and row[1] == "manifest-entry":
                yield unescape(row[2]), row[6] == "allow"


def unescape(text: str) -> str:
    return text.encode("ascii").decode("unicode_escape")
