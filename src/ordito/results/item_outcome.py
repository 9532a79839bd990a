"""What a worker leaves of an item that it has carried out."""

from __future__ import annotations

import msgspec

from ordito.results.failure import Trouble

NONE = msgspec.Raw(b"null")


class ItemOutcome(msgspec.Struct, frozen=True, omit_defaults=True):
    """What has become of an item."""

    status: str
    """That of its job; or ``known`` where its job had ended long before, ``nothing`` where there was nothing to do, and
    ``refused`` where it was not carried out."""

    job: str = ""
    report: msgspec.Raw = NONE
    """The report of its job (``app.job.report.JobReport``), null where there is none."""

    trouble: Trouble | None = None
    """Why it was not carried out."""
