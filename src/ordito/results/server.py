"""What is done to a server beside it: the results of ``ordito server``."""

from __future__ import annotations

import msgspec

from ordito.results.answer import ResultData


class AuditVerifiedData(ResultData, frozen=True, tag="ordito.server-audit-verify/1"):
    """The audit log of a server, walked from its first row."""

    home: str
    rows: int
    """How many rows are whole, from the first one on."""

    broken: int
    """The number of the first row that was changed, or before which one is missing; 0 for none."""

    head: str
    """The hash of the last row that is whole, in hex, "" where there is none."""

    witnessed: int | msgspec.UnsetType = msgspec.UNSET
    """The number of the row that has the hash that was asked for, 0 where no row has it; left out where none was."""


class ServerStatusData(ResultData, frozen=True, tag="ordito.server-status/1"):
    """The home of a server."""

    home: str
    process: int
    """The process of the server that runs on it, 0 for none."""

    since: float
    """Since when it runs, in seconds since the epoch, 0 where none does."""

    tables: str
    """The version of the tables in its database, "" where they cannot be read."""

    projects: int
    ensembles: int
    users: int
    audit: int
    """How many rows the audit log has."""

    isolation: str
    """``bubblewrap`` where its projects see nothing of each other, else ``none``."""

    waits: bool
    """Whether it was restored, and resumes nothing until ``ordito server resume``."""

    problems: tuple[str, ...]
    """What is not well, with what to do about it."""


class BackedUpEnsemble(msgspec.Struct, frozen=True, omit_defaults=True):
    """An ensemble in a backup."""

    project: str
    name: str
    directory: str
    """Where it was, or after a restore: where it is now."""

    job: str = ""
    """The job that had not ended, "" for none."""


class BackedUpData(ResultData, frozen=True, tag="ordito.server-backup/1"):
    """A backup that was made."""

    place: str
    files: int
    size: int
    """Bytes of all files."""

    with_keys: bool
    ensembles: tuple[BackedUpEnsemble, ...]
    missing: tuple[str, ...]
    """Ensembles that the server knows and that are not there any more."""

    left_out: tuple[str, ...]
    """Files that hold keys, and are not in the backup."""


class RestoredData(ResultData, frozen=True, tag="ordito.server-restore/1"):
    """A home that was restored."""

    home: str
    made: float
    """When its backup was begun, in seconds since the epoch."""

    files: int
    ensembles: tuple[BackedUpEnsemble, ...]
    waits: bool
    """Whether it resumes nothing until ``ordito server resume``."""

    unreadable: tuple[str, ...]
    """What cannot be read without a key that was not in the backup, and where that key belongs."""


class ServerResumedData(ResultData, frozen=True, tag="ordito.server-resume/1"):
    """A restored server that may go on."""

    home: str
    changed: bool
    """Whether it had to wait until now."""

    forgotten: tuple[str, ...]
    """What was sealed with a key that is lost, and was removed."""
