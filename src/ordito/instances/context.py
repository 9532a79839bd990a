"""Where a value is evaluated, what it came out as if it has none, and what its evaluation has looked at."""

from __future__ import annotations

from collections.abc import Generator, Mapping

import msgspec

from ordito.base.span import Span
from ordito.model.artifacts import IMPLEMENTATION
from ordito.model.operation import Artifact
from ordito.model.service import Relationship
from ordito.syntax.expressions import Value


class Context(msgspec.Struct, frozen=True):
    """For whom a value is evaluated (§4.1).

    In a node template: ``node`` and, where there is one, the ``instance``. In a relationship: the ``relationship``
    with the ids of the two ends, "" where an end is not known. In the topology's outputs: nothing of these;
    ``chosen`` then gives, by node, the instance that stands for it.
    ``inputs`` are further inputs that ``get_input`` finds before those of the topology: those of an imperative workflow
    (§7.3.6). They hold for what is written there, not for values elsewhere that it refers to.
    """

    node: str = ""
    instance: str = ""
    relationship: Relationship | None = None
    source: str = ""
    target: str = ""
    chosen: Mapping[str, str] = {}
    inputs: Mapping[str, object] = {}


class Nothing(msgspec.Struct, frozen=True):
    """What a value without a value resolves to (not null, which is one): ``reason`` says why, in words, and ``hint``
    what was probably meant, "" where nothing suggests anything."""

    reason: str
    hint: str = ""


class EvaluationError(Exception):
    """A value cannot be evaluated: what failed, where it is written, and what to do about it."""

    def __init__(self, message: str, span: Span | None = None, hint: str = "") -> None:
        self.message = message
        self.span = span
        self.hint = hint
        where = f"{span}: " if span else ""
        then = f" ({hint})" if hint else ""
        super().__init__(f"{where}{message}{then}")


class NeedsInstance(EvaluationError):
    """A value differs from instance to instance, and it was asked for without one."""


class NeedsInput(EvaluationError):
    """A value depends on an input that has no value yet."""


class ArtifactCopy(msgspec.Struct, frozen=True):
    """A copy of an artifact that ``get_artifact`` asks for: the artifact's file, where to, and whether it is removed
    when the operation has ended. ``own`` marks the copy that an operation has of what it is only told the place of."""

    file: str
    path: str
    remove: bool
    own: bool = False


OWN_COPIES = "service"
"""The folder, in an operation's scratch folder, with its own copies of artifacts; they lie in it as in the service."""


def is_in_place(artifact: Artifact) -> bool:
    """Whether operations are told where an artifact itself is: scripts run where they lie, beside what they need, and
    an image of a registry is no file."""
    return IMPLEMENTATION in artifact.kinds or bool(artifact.address)


def own_copy(scratch: str, file: str) -> ArtifactCopy:
    """The copy of an artifact that an operation has for itself, to read and to write."""
    inside = "/".join("__" if part == ".." else part for part in file.split("/") if part not in {"", "."})
    return ArtifactCopy(file, f"{scratch}{OWN_COPIES}/{inside}", remove=True, own=True)


class Trace:
    """What evaluations have looked at, and what they ask for.

    ``reads`` names what was read as ``Snapshot.changes`` names what has changed; ``copies`` are the artifacts to copy.
    ``states`` are node states that take effect with the step for which values are evaluated, by instance.
    """

    __slots__ = ("copies", "reads", "states")

    def __init__(self, states: Mapping[str, str] | None = None) -> None:
        self.reads: set[str] = set()
        self.copies: dict[ArtifactCopy, None] = {}
        self.states: Mapping[str, str] = states or {}


# How one value asks for others: what a step of an evaluation yields, and what it is sent back.

Path = tuple[str | int, ...]


class Ask(msgspec.Struct, frozen=True):
    """A request for a value in a context. ``name`` tells people which value it is; by ``key`` cycles are found, and a
    value that is asked for again is known, None for a value that nobody else can ask for."""

    value: Value
    context: Context
    name: str = ""
    key: tuple[object, ...] | None = None


Answer = object
"""Data, or ``Nothing``."""

Steps = Generator[Ask, Answer, Answer]


class _Missing:
    """The name is not declared where it was looked for."""


MISSING = _Missing()
