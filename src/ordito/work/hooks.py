"""Lifecycle steps as a job has them: which block is carried out, where in the plan, and with what result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum

import msgspec

from ordito.instances.states import STARTED


class Transition(StrEnum):
    """What a plan does to a component, or to the module, as a lifecycle step sees it; "" for nothing."""

    NONE = ""
    INSTALL = "install"
    UPGRADE = "upgrade"
    DELETE = "delete"


class Moment(StrEnum):
    """Whether a lifecycle step comes before or after the operations of the resources."""

    BEFORE = "before"
    AFTER = "after"


MODULE = ""
"""Means the whole topology where a component is named."""

DEFAULT_TIMEOUT = 1_800.0
"""The timeout, in seconds, of a lifecycle step that sets none."""


class BlockScript(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a block runs: the file, relative to the block's pinned folder, and the kind of artifact that an executor
    must understand (full type name); ``timeout`` in seconds, None where the block says nothing."""

    artifact: str
    processor: str
    dependencies: tuple[str, ...] = ()
    timeout: float | None = None


class Block(msgspec.Struct, frozen=True, omit_defaults=True):
    """A block of a catalogue as a job has pinned it.

    ``fqn`` and ``version`` name it, ``digest`` is that of all its files, ``root`` that of the pin that holds them ("":
    that of the service itself), ``folder`` its folder there. A block that runs an operation of a component
    (``is_operation``) has no scripts. ``undone_once`` is the node state to which a component has to come
    again, where it comes up again, before what the block did is undone.
    """

    fqn: str
    version: str
    digest: str
    root: str = ""
    folder: str = ""
    execute: BlockScript | None = None
    undo: BlockScript | None = None
    is_operation: bool = False
    undone_once: str = STARTED


class Hook(msgspec.Struct, frozen=True, omit_defaults=True):
    """A lifecycle step of a plan.

    ``id`` is the step's in the service (``Service.hooks``), and unique there; ``component`` the node template, ""
    for the module. ``condition`` is its text, "" for none. ``timeout`` is in seconds and covers ``execute``.
    ``on_failure`` is abort, continue or rollback. ``files`` are the digests of the files and folders of the service's
    archive that its config names, by their paths. ``digest`` stands for all that decides what it does, as far as the
    documents say it: a step that was carried out with this digest in an earlier attempt at the same revision is not
    carried out again. ``declared`` is its place, ``file:line:column``.
    """

    id: str
    block: Block
    transition: Transition
    moment: Moment
    component: str = MODULE
    description: str = ""
    condition: str = ""
    timeout: float = DEFAULT_TIMEOUT
    on_failure: str = "abort"
    files: dict[str, str] = {}
    digest: str = ""
    declared: str = ""

    @property
    def phase(self) -> str:
        """The phase, as in ``upgrade.before``."""
        return f"{self.transition}.{self.moment}"


class HookResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a lifecycle step was carried out with, and its result: everything that its undo is told. Values may be
    sensitive, and are encrypted where they are written. ``condition`` says how the condition was decided: its text, its
    result, and the values that it refers to, as they may be shown."""

    config: Mapping[str, object] = {}
    context: Mapping[str, object] = {}
    outputs: Mapping[str, object] = {}
    condition: Mapping[str, object] = {}


class DoneHook(msgspec.Struct, frozen=True, omit_defaults=True):
    """A lifecycle step that has succeeded and was not undone since: what undoing it needs. ``job`` is the job that did
    it, ``change`` the changeId of its end."""

    hook: Hook
    job: str
    change: str
    result: HookResult = HookResult()


class Decided(msgspec.Struct, frozen=True):
    """The result of a condition: whether it holds, and the values that it refers to, by the text of their paths, as
    they may be shown; or the ``problem``, for people, if it could not be decided."""

    holds: bool = False
    problem: str = ""
    values: Mapping[str, object] = {}


Decides = Callable[[str, Mapping[str, object]], Decided]
"""Decides a condition, given its text, in a context of plain data, parts of which may be sensitive."""
