"""What an ensemble keeps, looked at and changed by hand: records of instances, and secrets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET, UnsetType

from ordito.results.answer import Result, ResultData

if TYPE_CHECKING:
    from ordito.app.state.edit import RecordedEdit
    from ordito.app.state.renew import Renewed


class RecordsData(ResultData, frozen=True, tag="ordito.state-show/1"):
    """The records of instances by id, as in `ensemble.yaml`."""

    instances: Mapping[str, object]


class RenewedData(ResultData, frozen=True, tag="ordito.state-renew/1"):
    """Files of deployed services that were put back, and those that were taken as they are."""

    renewed: tuple[str, ...]
    accepted: tuple[str, ...]


def renewed_data(done: Renewed) -> RenewedData:
    """Files of deployed services that were looked after."""
    return RenewedData(tuple(done.renewed), tuple(done.accepted))


class EditData(Result, frozen=True, kw_only=True):
    """A change of records by hand, which a job of its own has recorded."""

    job: str | None
    """The job; None if there was nothing to change."""

    commit: str | UnsetType = UNSET
    """The commit of the ensemble's own files, "" for none."""

    commits: Mapping[str, str] | UnsetType = UNSET
    """Those of the files from which the job was made, by the path of their tree from the ensemble."""

    not_committed: tuple[str, ...] | UnsetType = UNSET
    """What is not committed, and why."""

    not_shared: str | UnsetType = UNSET
    """Why other clones do not have them yet, though they should."""

    instances: Mapping[str, str] | UnsetType = UNSET
    """For each instance of a node that was renamed its new id."""

    instance: str | UnsetType = UNSET
    """The instance that was recorded."""

    forgotten: tuple[str, ...] | UnsetType = UNSET
    """The instances whose records were removed."""

    remains: tuple[str, ...] | UnsetType = UNSET
    """What may still exist of them, for people."""


def edit_data(
    recorded: RecordedEdit | None,
    *,
    instances: Mapping[str, str] | UnsetType = UNSET,
    instance: str | UnsetType = UNSET,
    forgotten: tuple[str, ...] | UnsetType = UNSET,
    remains: tuple[str, ...] | UnsetType = UNSET,
) -> EditData:
    """A change of records, None for no change, and what was changed."""
    kept = recorded.kept if recorded is not None else None
    return EditData(
        job=recorded.job if recorded is not None else None,
        commit=kept.own if kept is not None else UNSET,
        commits=kept.commits if kept is not None else UNSET,
        not_committed=kept.problems if kept is not None else UNSET,
        not_shared=kept.sharing if kept is not None else UNSET,
        instances=instances,
        instance=instance,
        forgotten=forgotten,
        remains=remains,
    )


class SecretSetData(ResultData, frozen=True, tag="ordito.secrets-set/1"):
    """A secret that is kept; ``changed`` is whether its value is new."""

    name: str
    changed: bool


class SecretValueData(ResultData, frozen=True, tag="ordito.secrets-get/1"):
    """The value of a secret. It is never given over a network."""

    name: str
    value: str


class LastSetData(msgspec.Struct, frozen=True):
    """When a secret was set through a server, and by whom."""

    by: str
    at: str
    """A moment in UTC."""


class SecretNamesData(ResultData, frozen=True, tag="ordito.secrets-list/1"):
    """The names of the secrets that are kept."""

    secrets: tuple[str, ...]
    last: dict[str, LastSetData] | UnsetType = UNSET
    """By name, who has set them through the server that answers. Whoever sets one by the command is not told."""


class SecretsRemovedData(ResultData, frozen=True, tag="ordito.secrets-rm/1"):
    """The names of secrets that were deleted."""

    removed: tuple[str, ...]
