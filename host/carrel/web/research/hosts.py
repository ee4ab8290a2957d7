"""Says what is known of an address by its host alone."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

#: Hosts of publishers, registries and repositories, with all names below them. A page on another
#: host that has the title of a work may be a copy, or an imitation.
_PUBLISHERS: Final = frozenset(
    str.split("""
    aaas.org acm.org acs.org aip.org aps.org arxiv.org asm.org biomedcentral.com biorxiv.org
    bmj.com cambridge.org cell.com chemrxiv.org copernicus.org dataverse.org degruyter.com
    doaj.org doi.org dryad.org elifesciences.org elsevier.com emerald.com europepmc.org
    f1000research.com figshare.com frontiersin.org handle.net hal.science ieee.org iop.org
    iucr.org jamanetwork.com jmlr.org jstor.org karger.com liebertpub.com lww.com mdpi.com
    medrxiv.org mit.edu nature.com nejm.org ncbi.nlm.nih.gov openalex.org openreview.net osf.io
    oup.com oxfordjournals.org peerj.com plos.org pnas.org preprints.org psyarxiv.com pubpub.org
    researchsquare.com royalsociety.org royalsocietypublishing.org rsc.org sagepub.com
    science.org sciencedirect.com scielo.br scielo.org semanticscholar.org siam.org springer.com
    springernature.com ssrn.com tandfonline.com thelancet.com uchicago.edu usenix.org wiley.com
    worldscientific.com zenodo.org
""")
)
#: Sites that are searched where no scholarly source answers.
ACADEMIC_SITES: Final = (
    "arxiv.org", "pubmed.ncbi.nlm.nih.gov", "ieeexplore.ieee.org", "dl.acm.org", "nature.com",
    "sciencedirect.com", "link.springer.com", "plos.org", "frontiersin.org", "mdpi.com",
    "wiley.com", "jstor.org", "semanticscholar.org", "biorxiv.org", "medrxiv.org",
)  # fmt: skip


def host_of(url: str) -> str:
    """Returns the host of an address in lower case, without `www.`; empty if it has none."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return ""
    return host.rstrip(".").removeprefix("www.")


def is_below(host: str, names: frozenset[str]) -> bool:
    """Returns whether a host is one of the names, or below one."""
    labels = host.split(".")
    return any(".".join(labels[start:]) in names for start in range(len(labels)))


def is_publisher(url: str) -> bool:
    """Returns whether an address is at a publisher, a registry or a repository of papers."""
    return is_below(host_of(url), _PUBLISHERS)
