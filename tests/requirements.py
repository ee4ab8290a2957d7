"""Lists the promises with their ids. Tests have an id in their `requirement` marker.

A marker may be more specific than a promise (`sandbox:hosts:redirect-off-list`): its first two
parts name the promise. `test_requirements.py` fails if a promise has no test, or if a marker names
no promise.
"""

from __future__ import annotations

PROMISES: dict[str, str] = {
    "sandbox:parse": (
        "No byte from the network is parsed in the host beyond HTTP framing, decompression under a "
        "cap and charset decoding; the host reads one JSON text of a component, capped and checked."
    ),
    "sandbox:hosts": (
        "A plugin reaches only hosts in its manifest and in the grant; https only; every redirect "
        "hop checked again; names resolved once, special addresses refused, the checked one used."
    ),
    "sandbox:ambient": (
        "No files, environment, arguments, sockets, inherited streams; a component that imports "
        "anything outside the contract and the inert part of WASI is refused by name."
    ),
    "sandbox:fresh": (
        "A guest runs in a new instance each time: nothing leaks from one call to the next."
    ),
    "sandbox:limits": (
        "CPU, memory, stack, output, fetches, fetched bytes and wall time have a default cap; "
        "passing one ends that call with a typed error and nothing else."
    ),
    "sandbox:secrets": (
        "Keys and the contact address are attached at the edge, only to declared hosts; guest, "
        "cache, recordings, logs and error texts never contain them."
    ),
    "sandbox:apart": (
        "What a plugin that is not built in asks, is answered or leaves behind (pace, circuit "
        "breakers, connections, cached answers, bytes) changes nothing for another plugin."
    ),
    "plugin:pinned": "A plugin's bytes are checked against its locked digest on every load.",
    "plugin:signed": (
        "A signature counts only if somebody whom the policy names made it over the digest that is "
        "loaded; it is checked in process, as cosign would, on what is cached too."
    ),
    "registry:bytes": (
        "What a registry hands out is held against digests computed here; one that lies, breaks or "
        "never ends costs one typed error."
    ),
    "registry:secrets": (
        "A registry's credentials go to its own site and its named realm; realms, redirects and "
        "places of uploads are followed over https to checked addresses, without them."
    ),
    "registry:store": (
        "What was pulled is there whole or not at all, however a process ended or a disk failed; "
        "a partial download has one writer, is resumed, and is never trusted."
    ),
    "result:typed": (
        "A result conforms to the tool's output schema; a failure is one of a closed list of codes "
        "and says what to do; a source that failed is never shown as no results."
    ),
    "text:own": (
        "What is given as a paper's text is its own words: never an abstract, a page about it, "
        "another version or another paper; a source that failed is never shown as a missing text."
    ),
    "documents:granted": (
        "A tool reads only ordinary files inside the folders that the operator granted: no path, "
        "link, device or race leads out of them, and without a grant there is no such tool."
    ),
    "papers:graph": (
        "A citation graph has one node a work, each citation once, and the same order whatever "
        "answers first; no source makes it exceed its caps, or its page run code or use a network."
    ),
    "citations:styles": (
        "A style, vendored or a file, is rendered in the sandbox as text, HTML, Markdown or LaTeX "
        "in any locale; the host parses no style, and a client names only granted files."
    ),
    "citations:agreement": (
        "Of 300 varied works in fifteen styles at least 99 % of the entries are those of "
        "citeproc-js, character for character, and all bibliographies are in its order."
    ),
    "citations:keys": (
        "The works that a Markdown, LaTeX or Typst text cites are found, and none in code, "
        "comments or addresses; a key that no work has is named with its line and column."
    ),
    "library:kept": (
        "An edit of a library file changes the bytes of what it changes and no others; members "
        "and entries that Carrel does not know survive, in CSL-JSON and in BibTeX."
    ),
    "library:shared": (
        "Several processes and editors change one library at once and lose nothing: a change is "
        "merged, or refused as a conflict with both values; a killed process leaves a whole file."
    ),
    "library:damaged": (
        "A library that cannot be read is never overwritten; the error names the line, the column "
        "and the latest backup."
    ),
    "library:found": (
        "A search of a library returns exactly the entries that the rules of the query language "
        "name, whatever the index has seen before."
    ),
    "identity:required": (
        "The server listens on an address other than loopback only with identity."
    ),
    "identity:tokens": (
        "Only a token that the issuer signed for this server and that is valid now lets anybody "
        "in; no response and no log line has a part of a token."
    ),
    "identity:keys": (
        "When the issuer's keys cannot be downloaded, the old ones are used for a stated time, and "
        "then nobody is let in."
    ),
    "identity:apart": (
        "A principal never sees or uses the sessions, events, log lines, progress, library or "
        "papers of another."
    ),
    "identity:scopes": (
        "Tools, resources and prompts that a token's scopes do not grant are neither listed nor "
        "callable, in any revision."
    ),
    "operate:page": (
        "The page for people shows every text of a plugin as text, runs no script but its own, and "
        "keeps a token in memory only."
    ),
    "operate:secrets": (
        "No log line, span, metric, audit line or page has a secret of the operator or of a client."
    ),
    "operate:denials": (
        "Each request that policy refuses is in the audit log with plugin, host, reason and the "
        "grant that would allow it."
    ),
    "serve:alive": (
        "A plugin that traps, loops, eats memory or hangs costs its own call one error; other "
        "calls, other plugins and the listing of tools go on."
    ),
    "stdio:pure": (
        "stdout carries JSON-RPC frames and nothing else; end of stdin ends the server within 5 "
        "seconds, letting running calls finish."
    ),
    "replay:exact": "A recorded exchange replayed offline gives byte-identical structured output.",
    "library:session": (
        "The library's tools and resources are offered where a library is set; what any process "
        "changes in it is reported to subscribers of every revision."
    ),
    "library:adding": (
        "Each input of `library_add` has its own outcome with a reason; only files of granted "
        "folders are read, and PDFs in the sandbox."
    ),
    "web:parts": (
        "The parts of a page, read one after the other by their position, are joined the page, in "
        "every mode and format; they end between paragraphs."
    ),
    "web:kinds": (
        "A page of any kind of site is its content with its facts; a challenge, a login, a "
        "question about cookies, a paywall and a missing page are named and never content."
    ),
    "web:sites": (
        "A site that a plugin reads is its words or a typed error: an empty transcript, a question "
        "about cookies, a deleted post, a private video or a rate limit is never content."
    ),
    "web:artifacts": (
        "A large result is kept for thirty minutes under the hash of its text, encrypted, and for "
        "its principal alone; what has expired or is another's is not found."
    ),
    "web:sessions": (
        "A session of research survives the conversation and the process, encrypted, for four "
        "hours after its last use, and only its principal finds it."
    ),
    "web:evidence": (
        "About citations evidence is reported and never a verdict: a source that did not answer "
        "is never taken for one that knows no such work."
    ),
    "library:checking": (
        "A check says who states each finding, and a source that did not answer is never taken for "
        "one that states nothing."
    ),
}


def promise_of(requirement: str) -> str:
    """Returns the promise that a marker's id belongs to."""
    return ":".join(requirement.split(":")[:2])
