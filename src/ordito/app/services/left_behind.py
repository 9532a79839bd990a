"""Orphans: nodes that a service has lost while instances of them exist; found in the records, and read from the files
with which they were deployed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from ordito.app.place import Place
from ordito.app.services.files import artifact_files
from ordito.app.services.pinned import read_pinned
from ordito.app.services.read import ReadService
from ordito.app.services.step_blocks import in_pin
from ordito.base.diagnostics import InvalidDocument
from ordito.base.paths import below
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.pins import pinned_digests
from ordito.ensemble.status import Status, is_complete
from ordito.instances.records import Snapshot
from ordito.model.left_behind import Left, with_left_behind
from ordito.model.service import Service
from ordito.work.hooks import Block
from ordito.work.records import Form, JobHeader, LeftBehind


class ServiceWithOrphans(msgspec.Struct, frozen=True):
    """A service with orphans."""

    service: Service
    left: dict[str, LeftBehind] = {}
    """How the orphans were deployed, by the digest of their pinned service."""

    nodes: frozenset[str] = frozenset()
    """The names of the orphaned nodes, with nodes that they require and that have no instances any more."""

    digests: Mapping[str, str] = {}
    """The digests of the files that they name."""

    names: Mapping[str, str] = {}
    """The paths of these files in the deployed service."""

    blocks: Mapping[str, Block] = {}
    """The blocks of the lifecycle steps about these nodes, by ids of the steps."""


def with_removed(service: Service, snapshot: Snapshot, status: Status) -> dict[str, LeftBehind]:
    """The orphans of a service, with those that attempts at an incomplete revision have removed, because lifecycle
    steps after the removal may not have run yet."""
    gone: set[str] = set()
    if not is_complete(status):
        records = snapshot.instances.values()
        gone = {r.node for r in records if not r.exists and r.last_config_change > status.base}
        gone &= {node for left in status.left.values() for node in left.nodes}
    return left_behind(service, snapshot, status, frozenset(gone))


def left_behind(
    service: Service, snapshot: Snapshot, status: Status | JobHeader, gone: frozenset[str] = frozenset()
) -> dict[str, LeftBehind]:
    """The nodes with instances that a service does not have, by the digest of the pinned service with which they were
    deployed; nodes without a known one are left out. ``status`` has what was deployed last, or is being deployed;
    ``gone`` are nodes that count even without instances."""
    missing = ({i.node for i in snapshot.instances.values() if i.exists} | gone) - set(service.nodes)
    found: dict[str, LeftBehind] = {}
    for digest, left in status.left.items():
        if nodes := tuple(sorted(missing.intersection(left.nodes))):
            found[digest] = msgspec.structs.replace(left, nodes=nodes)
            missing.difference_update(nodes)
    if missing and status.service:
        found[status.service] = LeftBehind(tuple(sorted(missing)), status.main, status.inputs, status.choices)
    return found


def whole_service(place: Place, service: Service, left: Mapping[str, LeftBehind], root: str) -> ServiceWithOrphans:
    """A service with its orphans; ``root`` is the absolute folder in which its files are or will be pinned. Orphans
    that can no longer be read are left out."""
    forms: list[Left] = []
    digests: dict[str, str] = {}
    names: dict[str, str] = {}
    blocks: dict[str, Block] = {}
    for digest, item in left.items():
        try:
            read = read_pinned(place, Form(digest, item.main, item.inputs, item.choices))
        except (EnsembleError, InvalidDocument):
            continue
        before = os.path.abspath(read.package.root)  # noqa: PTH100  (links are not followed: roots are compared as texts)
        way = os.path.relpath(before, os.path.abspath(root))  # noqa: PTH100
        nodes = frozenset(item.nodes).intersection(read.service.nodes)
        forms.append(Left(digest[:12], read.service, item.inputs, nodes, way))
        prefix = Path(before).relative_to(place.layout.artifacts / digest).as_posix()
        for step, block in in_pin(read.steps.blocks, digest, prefix).items():
            blocks |= {step: block, f"{digest[:12]}:{step}": block}
        for file, found in file_digests(place, digest, read).items():
            seen = below(way, file)
            digests[seen], names[seen] = found, file
    joined = with_left_behind(service, forms)
    own = {step: block for step, block in blocks.items() if step in joined.hooks and step not in service.hooks}
    # What was left behind may require what was removed already, and that is not to be made again for it.
    nodes = frozenset(joined.nodes.keys() - service.nodes.keys())
    return ServiceWithOrphans(joined, dict(left), nodes, digests, names, own)


def file_digests(place: Place, digest: str, read: ReadService) -> dict[str, str]:
    """The digests of the files that the artifacts of a pinned service name. Raises ``EnsembleError``."""
    root = os.path.abspath(read.package.root)  # noqa: PTH100  (links are not followed: roots are compared as texts)
    prefix = Path(root).relative_to(place.layout.artifacts / digest)
    return pinned_digests(place.layout, digest, prefix, artifact_files(read))
