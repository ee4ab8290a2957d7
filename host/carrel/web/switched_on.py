"""Says whether the toolset `web` is on."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from carrel.config import Config


def is_on(config: Config) -> bool:
    """Returns whether the operator switched the toolset on: by the grant of the public web, or
    without it by `web.research`.
    """
    return config.web.hosts is not None or config.web.research
