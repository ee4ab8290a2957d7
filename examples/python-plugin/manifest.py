"""The plugin's manifest, as defined by the contract's `manifest.schema.json`."""

#: Default number of works per page.
PAGE = 10

_TEXT = {"type": "string"}
_WORK = {
    "type": "object",
    "required": ["doi", "titles", "authors"],
    "additionalProperties": False,
    "properties": {
        "doi": {"type": "string", "description": "In lower case."},
        "titles": {"type": "array", "items": _TEXT},
        "authors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["name"],
                "additionalProperties": False,
                "properties": {
                    "name": {"type": "string", "description": "As the source writes it."},
                    "family": _TEXT,
                    "given": _TEXT,
                    "orcid": {"type": "string", "description": "Without the address before it."},
                },
            },
        },
        "publisher": _TEXT,
        "year": {"type": "integer"},
        "type": {"type": "string", "description": "DataCite's word, such as Dataset."},
        "abstract": _TEXT,
        "url": {"type": "string", "description": "Where the work is."},
    },
}
_WORKS = {
    "type": "object",
    "required": ["total_results", "works"],
    "additionalProperties": False,
    "properties": {
        "total_results": {"type": "integer", "description": "On all pages."},
        "works": {"type": "array", "items": _WORK},
    },
}

MANIFEST = {
    "contract": "1.1",
    "name": "datacite",
    "version": "0.1.0",
    "title": "DataCite",
    "description": "Finds data sets, software and other works with DataCite DOIs.",
    "licence": "Apache-2.0",
    "hosts": [
        {
            "host": "api.datacite.org",
            "methods": ["GET"],
            "paths": ["/dois"],
            "pace": {"interval_ms": 200, "burst": 5},
            "cache_seconds": 3600,
        }
    ],
    "tools": [
        {
            "name": "search",
            "title": "Search DataCite",
            "description": (
                "Finds works with DataCite DOIs, data sets and software above all, by words in "
                "their metadata. For journal articles, Crossref knows more."
            ),
            "input_schema": {
                "type": "object",
                "required": ["query"],
                "additionalProperties": False,
                "properties": {
                    "query": {"type": "string", "minLength": 1, "description": "Words to find."},
                    "page_size": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": 100,
                        "default": PAGE,
                        "description": "Works to return.",
                    },
                },
            },
            "output_schema": _WORKS,
            "annotations": {
                "read_only": True,
                "destructive": False,
                "idempotent": True,
                "open_world": True,
            },
        }
    ],
    "formats": [
        {
            "name": "works",
            "description": "A page of works, as DataCite's REST API answers.",
            "media_types": ["application/vnd.api+json"],
            "output_schema": _WORKS,
        },
        {
            "name": "works_gz",
            "description": "A page of works in a file that gzip has compressed.",
            "bytes": True,
            "media_types": ["application/gzip"],
            "output_schema": _WORKS,
        },
    ],
}
