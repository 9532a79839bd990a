"""Which Computes are not to share a machine, because a placement policy keeps what is on them apart."""

from __future__ import annotations

from collections.abc import Mapping

from ordito.model.hosting import compute_of
from ordito.model.imperative import Policy
from ordito.model.service import Service

PLACEMENT = "tosca.policies.Placement"
APART = "anti_affinity"


def kept_apart(service: Service) -> Mapping[str, frozenset[str]]:
    """By node template of a Compute, those from whose instances its own are to be apart: itself, where it is about its
    instances, and others. A policy with `anti_affinity` keeps its targets on machines of their own (R-12-10)."""
    found: dict[str, frozenset[str]] = {}
    known: dict[str, str] = {}
    for policy in service.policies.values():
        if not _separates(policy):
            continue
        computes = frozenset(host for name in policy.nodes if (host := compute_of(service.nodes, name, known)))
        for name in computes:
            # One set for all of them, since a policy may name thousands.
            found[name] = found[name] | computes if name in found else computes
    return found


def _separates(policy: Policy) -> bool:
    """Whether a policy keeps its targets on Computes of their own; other containers are no matter of machines."""
    kind = policy.properties.get(APART)
    return PLACEMENT in policy.kinds and isinstance(kind, str) and kind.rpartition(".")[2] == "Compute"
