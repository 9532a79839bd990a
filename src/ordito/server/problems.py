"""Problems: how the API says that something was not done, by RFC 9457, with the codes and texts of the command."""

from __future__ import annotations

import errno
from collections.abc import Mapping, Sequence
from typing import Self

import msgspec

from ordito.results.failure import Failure, NextStep, failure_of, seen_from
from ordito.results.findings import FindingData
from ordito.results.pages import read_page

STATUSES: Mapping[str, int] = {
    **dict.fromkeys(("malformed", "bad-cursor"), 400),
    **dict.fromkeys(("signed-out", "bad-credentials", "expired", "bad-signature", "oidc-refused"), 401),
    **dict.fromkeys(("forbidden", "cross-site", "own-plan", "oidc-user"), 403),
    **dict.fromkeys(("unknown-page", "no-ensemble", "no-jobs"), 404),
    "oidc-state": 400,
    "no-such-method": 405,
    "too-slow": 408,
    "forgotten": 410,
    **dict.fromkeys(("locked", "unfinished-job", "in-use", "exists", "in-progress", "last-admin", "last-owner"), 409),
    **dict.fromkeys(("label-taken", "instances-exist"), 409),
    **dict.fromkeys(("stale-plan", "not-ready", "job-ended", "frozen", "limit-reached", "replayed"), 409),
    "changed": 412,
    "too-large": 413,
    "media-type": 415,
    "match-required": 428,
    "too-many": 429,
    "internal": 500,
    **dict.fromkeys(("draining", "busy", "no-space", "oidc-away"), 503),
}
"""The HTTP status of a code; of what is unknown 404, of all others 422."""


FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Errors of a system that takes no more bytes."""

HINT_OF_FULL = "make room on the disk of the server, then ask again"

FAULT_HINT = "tell an administrator the id of the request: the log of the server says more under it"
"""What helps after a fault of Ordito itself."""


def status_of(code: str) -> int:
    """The HTTP status with which a code is said."""
    return STATUSES.get(code) or (404 if code.startswith("unknown-") else 422)


class ProblemData(msgspec.Struct, frozen=True, kw_only=True):
    """Why something was not done (RFC 9457)."""

    type: str
    """The page that explains the code."""

    title: str
    status: int
    code: str
    """The code, as `ordito explain` explains it."""

    detail: str
    """What is wrong here."""

    hint: str
    """What to do about it, "" where the detail says it."""

    next: tuple[NextStep, ...]
    """What helps: commands, and the requests that do the same."""

    diagnostics: tuple[FindingData, ...]
    """Findings about documents."""

    request_id: str


class ApiProblem(Exception):
    """Something was not done: its code, what is wrong, and what to do about it. ``again_in`` are the seconds after
    which it may be asked again, 0 where that does not help."""

    def __init__(
        self, code: str, detail: str, hint: str = "", *, again_in: int = 0, following: Sequence[NextStep] = ()
    ) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.hint = hint
        self.again_in = again_in
        self.next = tuple(following)
        self.diagnostics: tuple[FindingData, ...] = ()

    @classmethod
    def of(cls, failure: Failure, diagnostics: Sequence[FindingData] = ()) -> Self:
        """The problem with which a failure of a use case is told."""
        made = cls(failure.code, failure.message, failure.hint)
        made.next, made.diagnostics = failure.next, tuple(diagnostics)
        return made

    @classmethod
    def of_error(cls, error: Exception, *folders: str) -> Self:
        """The problem with which an error of reading or writing is told: files are named as seen from the folders, and
        others by their names alone. Who asks is told nothing of the machine; the log of the server has more."""
        if isinstance(error, OSError) and error.errno in FULL:
            return cls("no-space", "the server has no room to keep this", HINT_OF_FULL)
        return cls.of(seen_from(failure_of(error), *folders))

    @property
    def status(self) -> int:
        """The HTTP status."""
        return status_of(self.code)

    def data(self, request_id: str) -> ProblemData:
        """What the API answers."""
        page = read_page(self.code)
        return ProblemData(
            type=f"/problems/{self.code}",
            title=page.title if page is not None else self.code,
            status=self.status,
            code=self.code,
            detail=self.detail,
            hint=self.hint,
            next=self.next,
            diagnostics=self.diagnostics,
            request_id=request_id,
        )
