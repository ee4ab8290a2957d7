"""Returns the time for tokens and budgets, and does not follow a clock that is stepped back."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Final

logger = logging.getLogger(__name__)

#: Seconds that the clock may be behind before it is reported.
_TOLERATED: Final = 5.0


class SteadyClock:
    """Seconds since 1970 that never fall behind the time that has passed since the start.

    Without it, setting the clock back would make expired tokens valid again. A clock that was ahead
    at the start and is corrected has the effect that tokens expire early, until a restart.

    Args:
        wall: the machine's clock, which may be set.
        monotonic: seconds that never go back.
    """

    def __init__(
        self,
        *,
        wall: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._wall = wall
        self._monotonic = monotonic
        self._start = wall() - monotonic()
        self._is_behind = False

    def __call__(self) -> float:
        """Returns the time."""
        wall, steady = self._wall(), self._start + self._monotonic()
        is_behind = wall < steady - _TOLERATED
        if is_behind and not self._is_behind:
            logger.warning(
                "the clock was set back by %.0f s; tokens are checked by the time since the start, "
                "until a restart",
                steady - wall,
            )
        self._is_behind = is_behind
        return max(wall, steady)
