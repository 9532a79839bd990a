"""What is done to a store, and what is in it: the results of ``ordito store``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from ordito.results.answer import ResultData

if TYPE_CHECKING:
    from ordito.cluster.store import StoreLook


class StorePreparedData(ResultData, frozen=True, tag="ordito.store-init/1"):
    """The tables of a store were made, or brought up to date."""

    store: str
    """Its address, without a password."""

    before: str
    """The version of its tables before, "" where there were none."""

    tables: str
    """The version of its tables."""

    made_key: bool
    """Whether the file with the key of its workers was made."""


class StoredEnsembleData(msgspec.Struct, frozen=True):
    """An ensemble in a store."""

    project: str
    name: str
    status: str
    """How its last job ended, "" before the first one."""

    last_change: str
    """The highest changeId that any of its jobs has reserved."""

    job: str
    """The job that has begun and not ended, "" for none."""

    holder: str
    """Who works on it, "" for nobody."""

    is_alive: bool
    """Whether that process is known to live."""


class StoreStatusData(ResultData, frozen=True, tag="ordito.store-status/1"):
    """What is in a store."""

    store: str
    """Its address, without a password."""

    tables: str
    """The version of its tables."""

    workers: int
    """How many workers live."""

    files: int
    """How many different files it keeps."""

    size: int
    """Their bytes."""

    ensembles: tuple[StoredEnsembleData, ...]


class StoreSettingsData(ResultData, frozen=True, tag="ordito.store-settings/1"):
    """The settings of a store."""

    store: str
    """Its address, without a password."""

    lost_after: float | None
    """For how many seconds jobs wait for a silent machine of which an operation is in doubt; null where that counts as
    ended if its worker ran under a guard."""


class StoreMovedData(ResultData, frozen=True, tag="ordito.store-moved/1"):
    """An ensemble was put into a store, or written from it into a directory."""

    ensemble: str
    """PROJECT/NAME in the store."""

    place: str
    """The directory."""

    jobs: int
    files: int
    is_import: bool
    """Whether it went into the store."""


def store_status(store: str, look: StoreLook) -> StoreStatusData:
    """What is in a store."""
    ensembles = tuple(
        StoredEnsembleData(e.project, e.name, e.status, e.last_change, e.job, e.holder, e.is_alive)
        for e in look.ensembles
    )
    return StoreStatusData(store, look.tables, look.workers, look.blobs, look.size, ensembles)
