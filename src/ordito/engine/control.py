"""The handle by which a running job is cancelled."""

from __future__ import annotations

from collections.abc import Callable


class JobControl:
    """Cancels a job: the first request lets running steps finish and starts no others, the second ends them.

    The methods are called in the thread of the event loop (``loop.add_signal_handler`` does that).
    """

    def __init__(self) -> None:
        self._requests = 0
        self._wake: Callable[[], None] | None = None

    def request_cancel(self, *, at_once: bool = False) -> None:
        """Ask once more, or for all that can be asked for; may be called before the job begins."""
        self._requests = max(self._requests + 1, 2 if at_once else 1)
        if self._wake is not None:
            self._wake()

    @property
    def requests(self) -> int:
        """How often cancelling was asked for."""
        return self._requests

    def attach(self, wake: Callable[[], None] | None) -> None:
        """Let the driver hear of requests."""
        self._wake = wake
