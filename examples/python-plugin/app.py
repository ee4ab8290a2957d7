"""The plugin's exports, `Source` and `Documents`; the entry point of componentize-py."""

import gzip
import json
import zlib
from urllib.parse import urlencode

import datacite
from componentize_py_types import Err
from manifest import MANIFEST, PAGE
from wit_world.imports import http

WORKS = "https://api.datacite.org/dois"


class Source:
    """The exports of `carrel:plugin/source`, with the class name that componentize-py expects."""

    def describe(self) -> str:
        """Returns the manifest."""
        return json.dumps(MANIFEST)

    def call(self, tool: str, arguments: str) -> str:
        """Runs a tool of the manifest."""
        if tool != "search":
            raise report("invalid_arguments", f"this plugin has no tool {tool!r}")
        asked = json.loads(arguments)
        size = asked.get("page_size", PAGE)
        query = urlencode({"query": asked["query"], "page[size]": size})
        return self.parse("works", fetch(f"{WORKS}?{query}"))

    def parse(self, format: str, document: str) -> str:  # noqa: A002 - the contract's name
        """Reads a document in a format of the manifest."""
        if format != "works":
            raise report("invalid_arguments", f"this plugin has no format {format!r}")
        return works(document)


class Documents:
    """The exports of `carrel:plugin/documents`, for binary formats."""

    def parse_bytes(self, format: str, document: bytes, options: str) -> str:  # noqa: A002
        """Reads a file in a format of the manifest."""
        if format != "works_gz":
            raise report("invalid_arguments", f"this plugin has no binary format {format!r}")
        unknown = sorted(set(json.loads(options)) - {"first"})
        if unknown:
            raise report("invalid_arguments", f"{format} has no option {unknown[0]!r}")
        try:
            text = gzip.decompress(document).decode()
        except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
            message = f"expected a page of works in gzip but found: {error}".lower()
            position = {"position": {"offset": 0, "path": ""}}
            raise report("invalid_document", message, **position) from error
        return works(text, json.loads(options).get("first"))


def works(document: str, first: int | None = None) -> str:
    """Returns a page's works as JSON text, at most `most` of them."""
    try:
        page = datacite.read_works(document)
    except datacite.InvalidDocumentError as error:
        position = {"position": {"offset": error.offset, "path": error.path}}
        raise report("invalid_document", str(error), **position) from error
    page["works"] = page["works"][:first]
    return json.dumps(page, ensure_ascii=False)


def fetch(url: str) -> str:
    """Returns the body of a response with status 200; the host has already retried."""
    accept = [http.Header("accept", "application/vnd.api+json")]
    request = http.Request(http.Method.GET, url, accept, "", http.CacheMode.DEFAULT)
    try:
        response = http.fetch(request)
    except Err as error:
        raise failed(error.value) from error
    if response.status != 200:
        raise report("upstream_unavailable", f"DataCite answered with {response.status}")
    return response.body


def failed(failure: http.FetchFailure) -> Err[str]:
    """Returns the error for a failed request."""
    match failure.error:
        case http.FetchError_Denied():
            return report("denied", failure.message)
        case http.FetchError_Timeout():
            return report("timeout", failure.message)
        case http.FetchError_RateLimited(pause):
            return report("rate_limited", failure.message, retry_after_seconds=pause.seconds)
        case http.FetchError_TooLarge():
            return report("too_large", failure.message)
        case http.FetchError_Undecodable():
            return report("upstream_invalid", failure.message)
    return report("upstream_unavailable", failure.message)


def report(code: str, message: str, **more: object) -> Err[str]:
    """Returns an error of `contract/v1/errors.json`, to be raised."""
    return Err(json.dumps({"code": code, "message": message, **more}))
