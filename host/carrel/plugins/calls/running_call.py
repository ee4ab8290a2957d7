"""A call in progress: a tool, a resource, a prompt, a completion or a lookup that has started."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

from carrel.awaiting import wait_until_done
from carrel.errors import CarrelError

if TYPE_CHECKING:
    from carrel.exchange import Call
    from carrel.runtime.pending import Pending

R = TypeVar("R")


class RunningCall(Generic[R]):
    """Waits for a call that has started, and reads what it returned.

    Args:
        call: its clocks and limits.
        pending: the text that it will return.
        read: checks and decodes that text.
        as_error: translates an exception that is no `CarrelError`.

    Attributes:
        call: as given; cancels the call.
    """

    __slots__ = ("_as_error", "_pending", "_read", "call")

    def __init__(
        self,
        call: Call,
        pending: Pending,
        read: Callable[[bytes], R],
        as_error: Callable[[Exception, Call], CarrelError],
    ) -> None:
        self.call = call
        self._pending = pending
        self._read = read
        self._as_error = as_error

    @property
    def is_done(self) -> bool:
        """Whether the call has ended."""
        return self._pending.done

    def when_done(self, callback: Callable[[], None]) -> None:
        """Calls `callback` once the call has ended, in the thread it ran in, or at once."""
        self._pending.when_done(callback)

    def result(self) -> R:
        """Waits for the call and returns its checked result; `KeyboardInterrupt` cancels the call.

        Raises:
            CarrelError: the error that the call ended with.
        """
        try:
            text = self._pending.utf8()
        except CarrelError:
            raise
        except KeyboardInterrupt:
            self.call.cancel()
            raise
        except Exception as fault:  # noqa: BLE001 - `as_error` distinguishes its kinds
            raise self._as_error(fault, self.call) from None
        return self._read(text)

    async def wait(self) -> R:
        """As `result`, without blocking the event loop. Cancelling the task cancels the call."""
        await wait_until_done(self._pending, self.call)
        return self.result()
