"""The inventory of a batch: the topology's instances as Ansible's hosts, with groups and variables.

Every instance is a host with its id as name, and is reached as the Compute is on which it is. Groups are ``SELF`` (the
instances of the batch; ``SOURCE`` or ``TARGET`` too, for operations of relationships), one for each node template, each
type and each group of the topology, with ``_`` for what Ansible takes in no name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from ordito.base.sensitive import revealed
from ordito.base.text import shell_name
from ordito.executors.ansible.connection import KeepFile, connection_of
from ordito.work.inventory import Listed, Subject, Topology
from ordito.work.invocation import SCRATCH, Invocation
from ordito.work.targets import Target, Unreachable

SELF = "SELF"
MOST_HOSTS = 2_000
"""Instances that a topology may have for all of them to be in every inventory; of a larger one the batch's are."""

VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


def inventory_of(
    batch: Sequence[tuple[Invocation, Subject]], keep: KeepFile, work: str, area: str = ""
) -> tuple[dict[str, object], dict[str, str]]:
    """The inventory of a batch, and by instance why those cannot take part that cannot. ``work`` is the folder that
    stands for ``SCRATCH``; below ``area`` the ensemble keeps its files on hosts."""
    topology = batch[0][1].topology
    own = {subject.instance: (invocation, subject) for invocation, subject in batch}
    connections = _Connections(keep, work, area)
    unfit = {name: why for name, (i, _) in own.items() if (why := connections.add(name, i.host, i.target))}
    listed = [topology.listed(name) for name in own if name not in unfit]
    others = [] if len(topology) > MOST_HOSTS else [e for e in topology.everything() if e.instance not in own]
    others = [e for e in others if not _problem(connections, topology, e)]
    variables = {e.instance: _variables(*own[e.instance], work) for e in listed}
    common = _common(list(variables.values()))
    hosts = {e.instance: {**connections.of(e.instance), **_rest(variables[e.instance], common)} for e in listed}
    hosts |= {e.instance: dict(connections.of(e.instance)) for e in others}
    groups: dict[str, list[str]] = {}
    for entry in (*listed, *others):
        for name in dict.fromkeys((entry.node, *entry.kinds, *entry.groups)):
            groups.setdefault(shell_name(name), []).append(entry.instance)
    # These names are ours, whatever else has them.
    for name in (SELF, batch[0][1].side.upper()):
        if name:
            groups[name] = [e.instance for e in listed]
    return {"hosts": hosts, "groups": groups, "common": common}, unfit


class _Connections:
    """The connection variables of instances, worked out once for each target."""

    def __init__(self, keep: KeepFile, work: str, area: str) -> None:
        self._keep = keep
        self._work = work
        self._area = area
        self._by_host: dict[str, dict[str, object] | str] = {}
        self._hosts: dict[str, str] = {}

    def add(self, instance: str, host: str, target: Target | None) -> str:
        """An instance that is on a host; gives why it cannot be reached, "" if it can."""
        self._hosts[instance] = host
        if host not in self._by_host:
            try:
                self._by_host[host] = connection_of(target, self._keep, self._work, self._area)
            except Unreachable as problem:
                self._by_host[host] = str(problem)
        found = self._by_host[host]
        return found if isinstance(found, str) else ""

    def of(self, instance: str) -> Mapping[str, object]:
        """The variables of an instance that can be reached."""
        found = self._by_host[self._hosts[instance]]
        assert not isinstance(found, str)
        return found

    def knows(self, host: str) -> bool:
        """Whether a host's variables have been worked out."""
        return host in self._by_host


def _problem(connections: _Connections, topology: Topology, entry: Listed) -> str:
    """Why an instance of the topology that is not of the batch cannot be reached."""
    target = None
    if entry.host and not connections.knows(entry.host):
        try:
            target = topology.target(entry.host)
        except Unreachable as problem:
            return str(problem)
    return connections.add(entry.instance, entry.host, target)


def _variables(invocation: Invocation, subject: Subject, work: str) -> dict[str, object]:
    """The variables of one step: those of the environment as texts, inputs as the data they are."""
    texts = {**invocation.large, **invocation.environment}
    found: dict[str, object] = {name: _placed(text, work) for name, text in texts.items() if VARIABLE.fullmatch(name)}
    for name, value in subject.inputs.items():
        found[shell_name(name)] = _placed(revealed(value), work)
    return found


def _placed(value: object, work: str) -> object:
    """A value with the scratch folder's path where its placeholder stood. Data nests no deeper than documents do."""
    if isinstance(value, str):
        return value.replace(SCRATCH, f"{work}/") if SCRATCH in value else value
    if isinstance(value, Mapping):
        return {key: _placed(one, work) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_placed(one, work) for one in value]
    return value


def _common(every: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """The variables that are the same for all, which are said once."""
    if not every:
        return {}
    first, *others = every
    return {n: v for n, v in first.items() if all(_is_same(o, n, v) for o in others)}


def _is_same(variables: Mapping[str, object], name: str, value: object) -> bool:
    # True is no 1.
    return name in variables and variables[name] == value and type(variables[name]) is type(value)


def _rest(variables: Mapping[str, object], common: Iterable[str]) -> dict[str, object]:
    left = set(common)
    return {name: value for name, value in variables.items() if name not in left}
