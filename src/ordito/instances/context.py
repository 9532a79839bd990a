"""The context in which a value is evaluated, the result of a value without one, and the trace of an evaluation."""

from __future__ import annotations

from collections.abc import Generator, Mapping

import msgspec

from ordito.base.span import Span
from ordito.model.artifacts import IMPLEMENTATION
from ordito.model.operation import Artifact
from ordito.model.service import Relationship
from ordito.syntax.expressions import Value


class Context(msgspec.Struct, frozen=True):
    """The node, the relationship or the topology whose value is evaluated (§4.1). For the outputs of the topology, both
    ``node`` and ``relationship`` are empty."""

    node: str = ""
    """The node template, for a value of a node."""
    instance: str = ""
    """The id of its instance, "" where there is none."""
    relationship: Relationship | None = None
    """The relationship, for a value of one."""
    source: str = ""
    """The id of the instance at its source, "" where it is not known."""
    target: str = ""
    """The id of the instance at its target, "" where it is not known."""
    chosen: Mapping[str, str] = {}
    """For an output of the topology: by node, the instance that the name of the node means."""
    inputs: Mapping[str, object] = {}
    """Inputs of an imperative workflow (§7.3.6), which ``get_input`` finds before those of the topology. They count for
    the values written in the workflow, not for values elsewhere to which these refer."""


class Nothing(msgspec.Struct, frozen=True):
    """The result of evaluating something that has no value (null is a value): ``reason`` says why, in words, ``hint``
    what was probably meant, "" where that is unknown."""

    reason: str
    hint: str = ""


class EvaluationError(Exception):
    """A value cannot be evaluated: ``message`` says why, ``span`` where it is written, ``hint`` what to do."""

    def __init__(self, message: str, span: Span | None = None, hint: str = "") -> None:
        self.message = message
        self.span = span
        self.hint = hint
        where = f"{span}: " if span else ""
        then = f" ({hint})" if hint else ""
        super().__init__(f"{where}{message}{then}")


class NeedsInstance(EvaluationError):
    """A value differs between instances, and the context has none."""


class NeedsInput(EvaluationError):
    """A value depends on an input that has no value yet."""


class ArtifactCopy(msgspec.Struct, frozen=True):
    """A copy of an artifact that ``get_artifact`` needs."""

    file: str
    """The file of the artifact."""
    path: str
    """Where it is copied to."""
    remove: bool
    """Whether it is removed when the operation has ended."""
    own: bool = False
    """Whether the operation gets this copy because it asked only for the path of the artifact."""


OWN_COPIES = "service"
"""The folder in an operation's scratch folder with its own copies of artifacts, with the paths of the service."""


def is_in_place(artifact: Artifact) -> bool:
    """Whether operations get the place of an artifact itself, not of a copy: scripts need the files beside them, and
    an image of a registry is not a file."""
    return IMPLEMENTATION in artifact.kinds or bool(artifact.address)


def own_copy(scratch: str, file: str) -> ArtifactCopy:
    """The copy of an artifact that an operation may read and write."""
    inside = "/".join("__" if part == ".." else part for part in file.split("/") if part not in {"", "."})
    return ArtifactCopy(file, f"{scratch}{OWN_COPIES}/{inside}", remove=True, own=True)


class Trace:
    """What evaluations have read, and the copies that they need.

    ``reads`` names what was read, in the same way as ``Snapshot.changes`` names changes; ``copies`` are the artifacts
    to copy. ``states`` are, by instance, node states that take effect with the step whose values are evaluated.
    """

    __slots__ = ("copies", "reads", "states")

    def __init__(self, states: Mapping[str, str] | None = None) -> None:
        self.reads: set[str] = set()
        self.copies: dict[ArtifactCopy, None] = {}
        self.states: Mapping[str, str] = states or {}


# How one value asks for others: what a step of an evaluation yields, and what it is sent back.

Path = tuple[str | int, ...]


class Ask(msgspec.Struct, frozen=True):
    """A request for a value in a context."""

    value: Value
    context: Context
    name: str = ""
    """The name of the value in messages."""
    key: tuple[object, ...] | None = None
    """Identifies the value, to find cycles and to keep its result; None for one that nothing else can request."""


Answer = object
"""Data, or ``Nothing``."""

Steps = Generator[Ask, Answer, Answer]


class _Missing:
    """The name is not declared where it was looked for."""


MISSING = _Missing()
