"""Downloads the PDFs of papers into the store, with provenance.

`candidates` orders the copies of a work, `host_lists` has the hosts that copies are downloaded
from, `mining` the publishers' interfaces for text mining. `copies` downloads one copy, `pdf_sink`
receives its file, `wrong_page` names what came in place of one, `denial` words refusals. `run`
fetches one paper, `batch` many, `plan` says what would be done, and `tools` offers `paper_fetch`
and `paper_batch_fetch`.
"""

from __future__ import annotations

from .run import FetchedPaper, PaperFetcher

__all__ = ["FetchedPaper", "PaperFetcher"]
