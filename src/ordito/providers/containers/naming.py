"""How containers are called, and known again: by the deployment and the instance that they were made for."""

from __future__ import annotations

import hashlib
import re

from ordito.providers.containers.engine import Container
from ordito.work.providing import Delegation

ENSEMBLE, INSTANCE, JOB = "ordito.ensemble", "ordito.instance", "ordito.job"
"""The labels of a container: the id of the deployment, the instance, and the job that has made it."""

_UNFIT = re.compile(r"[^a-zA-Z0-9_.-]")
_LONGEST = 100


def name_of(asked: Delegation) -> str:
    """The name of an instance's container: the same every time, and no other instance's."""
    told = f"ordito-{asked.ensemble}-{asked.instance}" if asked.ensemble else f"ordito-{asked.instance}"
    fit = _UNFIT.sub("-", told)[:_LONGEST]
    return fit if fit == told else f"{fit}-{hashlib.sha256(told.encode()).hexdigest()[:8]}"


def labels_of(asked: Delegation) -> list[str]:
    """The words that give a container its labels."""
    labels = {ENSEMBLE: asked.ensemble, INSTANCE: asked.instance, JOB: asked.job}
    return [word for name, value in labels.items() for word in ("--label", f"{name}={value}")]


def is_of(container: Container, asked: Delegation) -> bool:
    """Whether a container was made for an instance, and not by somebody else under the same name."""
    labels = container.labels
    return labels.get(ENSEMBLE) == asked.ensemble and labels.get(INSTANCE) == asked.instance


def is_made_by(container: Container, asked: Delegation) -> bool:
    """Whether the very job has made it that makes the instance now, before it was cut off."""
    return is_of(container, asked) and container.labels.get(JOB) == asked.job
