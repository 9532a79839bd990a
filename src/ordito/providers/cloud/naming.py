"""By what something in a cloud is known again: labels where the cloud has them, else its name alone.

Both are part of the very request that makes it, so that no crash can leave anything behind that nobody knows.
"""

from __future__ import annotations

import hashlib
import re

import msgspec

from ordito.work.providing import Delegation

ENSEMBLE, INSTANCE, NODE, JOB = "ordito-ensemble", "ordito-instance", "ordito-node", "ordito-job"
PREFIX = "ordito"
LONGEST = 40


class Who(msgspec.Struct, frozen=True):
    """For whom something is made: the deployment, its instance, the node, and the job that makes it."""

    ensemble: str
    instance: str
    node: str = ""
    job: str = ""

    @property
    def labels(self) -> dict[str, str]:
        """What is attached to it. By the first two it is found."""
        return {ENSEMBLE: self.ensemble, INSTANCE: self.instance, NODE: self.node, JOB: self.job}

    @property
    def name(self) -> str:
        """Its name: of small letters, digits and ``-``, at most 63, unlike that of any other instance anywhere."""
        return name_of(self.ensemble, self.instance)

    @property
    def token(self) -> str:
        """What makes two requests of one job the same to a cloud that knows such tokens."""
        return _digest(self.ensemble, self.instance, self.job, length=40)


def who_of(asked: Delegation) -> Who:
    """For whom a provider is asked."""
    return Who(asked.ensemble, asked.instance, asked.node, asked.job)


def name_of(ensemble: str, instance: str) -> str:
    """The name of what is made for an instance: readable, and not to be mistaken for another's by its end."""
    readable = re.sub(r"[^a-z0-9]+", "-", instance.lower()).strip("-")[:LONGEST].strip("-")
    return f"{prefix_of(ensemble)}{readable or 'x'}-{_digest(ensemble, instance, length=8)}"


def prefix_of(ensemble: str) -> str:
    """What the names of everything begin with that belongs to a deployment."""
    return f"{PREFIX}-{_digest(ensemble, length=6)}-"


def _digest(*parts: str, length: int) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:length]
