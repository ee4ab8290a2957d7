"""Makes fetch clients that reach an `Upstream` on loopback under public names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from carrel.fetch import FetchClient, FetchSettings
from carrel.fetch.clock import Clock
from support.upstream import Upstream


def loopback_client(
    upstream: Upstream, folder: Path, *, clock: Clock | None = None, **settings: Any
) -> FetchClient:
    """Returns a client whose connections all lead to `upstream`, without jitter.

    Args:
        upstream: trusted by its own authority, which is written into `folder`.
        folder: of the test.
        clock: that waits are made by; real time if None.
        settings: of `FetchSettings`.
    """
    settings.setdefault("ca_bundle", upstream.write_authority(folder))
    return FetchClient(
        FetchSettings(**settings),
        resolver=upstream.names,
        dialer=upstream.dial,
        clock=clock,
        jitter=lambda: 0.0,
    )
