"""What implements an operation or a notification: artifacts, and where they run (§3.6.16, §3.6.18)."""

from __future__ import annotations

from collections.abc import Mapping as MappingType

from ordito.base.diagnostics import Diagnostics
from ordito.model.artifacts import FILE, Artifacts
from ordito.model.operation import Artifact
from ordito.model.unit import Unit
from ordito.source.nodes import Scalar
from ordito.syntax import entities

NODE_HOSTS = ("SELF", "HOST", "ORCHESTRATOR")
RELATIONSHIP_HOSTS = ("SOURCE", "TARGET", "ORCHESTRATOR")

Written = Scalar | entities.Implementation | entities.NotificationImplementation


class Implementations:
    """Finds the artifacts that implementations name."""

    def __init__(self, artifacts: Artifacts, diagnostics: Diagnostics) -> None:
        self._artifacts = artifacts
        self._diagnostics = diagnostics

    def find(
        self, given: tuple[Written, Unit] | None, artifacts: MappingType[str, Artifact]
    ) -> tuple[Artifact | None, tuple[Artifact, ...]]:
        """The artifact that implements something, if any, and those that it depends on; ``given`` is what is written,
        with the file that writes it."""
        if given is None:
            return None, ()
        written, unit = given
        if isinstance(written, Scalar):
            return self._primary(written, unit, artifacts), ()
        named = (self._artifact(d, unit, artifacts) for d in written.dependencies or ())
        return self._primary(written.primary, unit, artifacts), tuple(d for d in named if d is not None)

    def host(self, written: Scalar | None, hosts: tuple[str, ...]) -> str:
        """The keyword that says where an operation runs, which must be one of ``hosts``; "" where none is written."""
        if written is None:
            return ""
        if written.text not in hosts:
            self._diagnostics.error(
                "bad-value",
                f'the operation cannot run at "{written.text}"',
                written.span,
                hint=f"operation_host is one of {', '.join(hosts)} here",
            )
            return ""
        return written.text

    def check(self, written: Written | None, unit: Unit, hosts: tuple[str, ...]) -> None:
        """Check what a type writes, whether a template uses it or not. What is named by a text alone may be an artifact
        that only a derived type or a template has."""
        if written is None or isinstance(written, Scalar):
            return
        if isinstance(written, entities.Implementation):
            self.host(written.operation_host, hosts)
        for part in (written.primary, *(written.dependencies or ())):
            if isinstance(part, entities.ArtifactDefinition):
                self._artifacts.read(part, unit)

    def _primary(
        self, written: Scalar | entities.ArtifactDefinition | None, unit: Unit, artifacts: MappingType[str, Artifact]
    ) -> Artifact | None:
        """The artifact that implements an operation; one of no particular type is probably misspelt."""
        found = self._artifact(written, unit, artifacts)
        if found is not None and isinstance(written, Scalar) and found.kinds[:1] == (FILE,):
            self._diagnostics.warning(
                "unknown-extension",
                f'nothing is known to run "{written.text}": its type does not follow from its name',
                written.span,
                hint=f"name it with one of {', '.join(self._artifacts.runnable)}, or declare an artifact with a type",
            )
        return found

    def _artifact(
        self, written: Scalar | entities.ArtifactDefinition | None, unit: Unit, artifacts: MappingType[str, Artifact]
    ) -> Artifact | None:
        """An artifact of that name, an artifact defined in place, or a file."""
        if written is None:
            return None
        if isinstance(written, Scalar):
            return artifacts.get(written.text) or self._artifacts.file(written, unit)
        return self._artifacts.read(written, unit)
