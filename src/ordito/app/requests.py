"""The requests of all workflows, as a command line or another program makes them.

A request is plain data. Its fields are declared once, with their options and help (`base/options.py`); the command
line, the saved plan, the record of the job and proposed commands are derived from that. What a request would do is
planned by the module that it names (``planned_by``), with a function ``propose(request, context)``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, ClassVar, Self

import msgspec

from ordito.base.allowable import ALLOWABLE, not_allowable
from ordito.base.options import Argument, Option, words
from ordito.base.portion import ALL
from ordito.work.options import (
    AUTO,
    EARLY,
    INSTANCE_ONLY,
    WHOLE_HOST,
    ChangeOptions,
    HookOptions,
    MaxUnavailable,
    MayLose,
)
from ordito.work.workflows import DEPLOY, NAMED, ROLLBACK, RUN, SCALE, UNDEPLOY, UPGRADE, is_written

NODE, INSTANCE = "node:", "instance:"
"""Prefixes of a name that is only that of a node, or only that of an instance."""

# ------------------------------------------------------------------------------------------------- groups of options


class GivenInputs(msgspec.Struct, frozen=True):
    """Values of inputs: later files win over earlier ones, and texts over files."""

    files: tuple[str, ...] = ()
    """Names of files with values."""
    texts: Mapping[str, str] = {}
    """Values as texts, by input."""
    values: Mapping[str, object] = {}
    """Values that were already read and bound, by input: those of a saved plan."""
    forgotten: Annotated[
        tuple[str, ...],
        Option(
            "--forget-input",
            "Forget the value that an earlier command has given for this input; may be repeated.",
            metavar="INPUT",
            is_recorded=False,
        ),
    ] = ()
    """Inputs whose values from earlier commands are forgotten."""

    def __post_init__(self) -> None:
        if both := self.texts.keys() & set(self.forgotten):
            raise ValueError(f"-i and --forget-input of {', '.join(sorted(both))} exclude each other")

    @property
    def is_empty(self) -> bool:
        """Whether no value is given."""
        return not self.files and not self.texts and not self.values


class ChoiceOptions(msgspec.Struct, frozen=True):
    """What is chosen if a service leaves a choice."""

    substitutes: Annotated[
        Mapping[str, str],
        Option(
            "--substitute",
            "The topology that substitutes a node, if several can; may be repeated.",
            metavar="NODE=NAME",
            is_recorded=False,
        ),
    ] = {}
    """By node template, the topology that substitutes it."""
    allow: Annotated[
        tuple[str, ...],
        Option(
            "--allow",
            "Accept this finding as a warning: " + ", ".join(ALLOWABLE) + "; may be repeated.",
            metavar="CODE",
            is_recorded=False,
        ),
    ] = ()
    """The codes of findings that become warnings (`base/allowable.py`)."""
    inventory: Annotated[
        str,
        Option(
            "--inventory",
            "A service template with nodes that exist already, which select may choose.",
            metavar="FILE",
            is_path=True,
            is_recorded=False,
        ),
    ] = ""
    """The path of a service whose nodes exist already, "" for none."""

    def __post_init__(self) -> None:
        if wrong := not_allowable(self.allow):
            raise ValueError(f"--allow: {wrong}")


class PartOptions(msgspec.Struct, frozen=True):
    """Which part of the service is meant; all of it, if neither nodes nor instances are named."""

    nodes: Annotated[tuple[str, ...], Option("--node", "{part} only this node; may be repeated.", metavar="NODE")] = ()
    """Nodes, with all their instances."""
    instances: Annotated[
        tuple[str, ...], Option("--instance", "{part} only this instance; may be repeated.", metavar="ID")
    ] = ()
    """Instances of other nodes."""
    skip_new: Annotated[bool, Option("--skip-new", "Create no new instances.")] = False
    """Whether no new instances are created."""

    @property
    def is_all(self) -> bool:
        """Whether the whole service is meant."""
        return self == EVERYTHING


EVERYTHING = PartOptions()


class InstanceFilters(msgspec.Struct, frozen=True):
    """The instances that pass every kind of filter; an empty filter lets everything pass."""

    nodes: Annotated[
        tuple[str, ...], Option("--node", "On instances of this node; may be repeated.", metavar="NODE")
    ] = ()
    """Names of node templates."""
    instances: Annotated[tuple[str, ...], Option("--instance", "On this instance; may be repeated.", metavar="ID")] = ()
    """Ids of instances."""
    types: Annotated[
        tuple[str, ...],
        Option(
            "--type",
            "On instances of nodes of this type, or of a derived type; may be repeated.",
            metavar="TYPE",
        ),
    ] = ()
    """Node types by their full names or the last part of these; types derived from them count too."""

    def __str__(self) -> str:
        return " ".join(words(self))


Force = Annotated[bool, Option("--force", "Skip nothing: carry out everything again, done or not.")]
AllowChanged = Annotated[bool, Option("--allow-changed", "With --yes: also lose what somebody else has changed.")]
AllowLarge = Annotated[
    bool,
    Option(
        "--allow-large",
        "Plan even more than 200,000 instances, or 100,000 relationship operations of one requirement.",
    ),
]
Fetch = Annotated[
    bool,
    Option("--fetch", "Fetch what the service names by URL; without it nothing is fetched.", is_recorded=False),
]
IncludeProtected = Annotated[bool, Option("--include-protected", "Also remove what is protected (ordito.protected).")]
IncludeUnmanaged = Annotated[bool, Option("--include-unmanaged", "Also remove what this ensemble did not create.")]

# ---------------------------------------------------------------------------------------------------------- requests


INSTEAD = ": use --on-failure abort, or continue"


class Request(msgspec.Struct, frozen=True):
    """The request of a workflow."""

    WORKFLOW: ClassVar[str]
    """The name of the workflow, if it is the same for all requests of a class."""
    planned_by: ClassVar[str]
    """The module of room `app` that plans what it would do."""
    makes_ensemble: ClassVar[bool] = False
    """Whether a directory that is not an ensemble yet may become one."""
    about: ClassVar[str] = ""
    """Its part of the help of `ordito plan`."""
    wording: ClassVar[Mapping[str, str]] = {}
    """The words for the placeholders in the help of options (``Option.help``)."""
    without: ClassVar[frozenset[str]] = frozenset()
    """The fields of its groups that it does not take."""
    stays: ClassVar[str] = ""
    """Why a failed job of it cannot be rolled back, and what to do instead; "" if it can."""

    @property
    def workflow(self) -> str:
        """The name of the workflow, as the job's record has it."""
        return self.WORKFLOW

    @classmethod
    def of_words(cls, given: Mapping[str, Any]) -> Self:
        """The request from the values of a command line, by field. Raises ``ValueError`` for what makes no sense."""
        return cls(**given)

    @property
    def words(self) -> tuple[str, ...]:
        """The command that asks for this; values of inputs are left out."""
        return (self.workflow, *words(self))


class DescriptionRequest(Request, frozen=True):
    """To change what runs into what a service describes."""

    planned_by = "proposals.description"

    service: Annotated[str, Argument("[SERVICE]", is_path=True)] = ""
    """The path of the service, "" for that of the ensemble."""
    force: Force = False
    """Whether everything is carried out again, even what is done."""
    allow_changed: AllowChanged = False
    """Whether what somebody else has changed may be lost without a question."""
    allow_large: AllowLarge = False
    """Whether very many instances, or relationship operations of one requirement, may be planned."""
    fetch: Fetch = False
    """Whether what the service names by URL is fetched."""
    choices: ChoiceOptions = ChoiceOptions()
    """What is chosen if the service leaves a choice; an earlier choice is valid until a new one is made."""
    changes: ChangeOptions = ChangeOptions()
    """How what runs is changed."""
    hooks: HookOptions = HookOptions()
    """Which lifecycle steps there are."""
    part: PartOptions = EVERYTHING
    """Which part of the service is meant."""
    inputs: GivenInputs = GivenInputs()
    """The values of inputs."""
    reset_counts: Annotated[
        bool, Option("--reset-counts", "Use the numbers of instances in the template, not those set by scale.")
    ] = False
    """Whether the numbers of instances are those of the template again, not those set by scaling."""


GIVEN_AGAIN = ("lifecycle", "catalogs", "nodes", "instances", "skip_new", "allow_large")
"""The fields that a command which continues a deployment or upgrade gives again: without them it would mean a service
without these lifecycle steps, or another part of it, or would be refused."""


class DeployRequest(DescriptionRequest, frozen=True):
    """To deploy a service. The first deployment makes the ensemble."""

    WORKFLOW = DEPLOY
    makes_ensemble = True
    about = "SERVICE is required if there is no ensemble yet. If a saved plan is given instead, it is shown."
    wording = {"prunes": "default: it is kept", "part": "Deploy"}


class UpgradeRequest(DescriptionRequest, frozen=True):
    """To change what runs into what a service says. A named service replaces that of the ensemble, until the user's
    part of ensemble.yaml names another one than now. What is no longer in the template is removed last."""

    WORKFLOW = UPGRADE
    about = "NEW is the service to upgrade to; without it, the files of the ensemble's service as they are now."
    wording = {"prunes": "default: last", "part": "Upgrade", "service": "[NEW]"}


class RollbackRequest(Request, frozen=True):
    """To go back to an earlier revision."""

    WORKFLOW = ROLLBACK
    planned_by = "proposals.rollback"
    about = (
        "Without REVISION: to the last complete revision if something was begun since then, else to the one before it."
    )
    stays = "a rollback cannot be rolled back" + INSTEAD

    revision: Annotated[int, Argument(least=1, help="The revision to go back to; 0 for the last one before.")] = 0
    """The number of the revision; 0 for the last complete one if something was begun since then, else for the last
    before it that deployed something else."""
    strict: Annotated[bool, Option("--strict", "Refuse, before anything runs, if not everything can be undone.")] = (
        False
    )
    """Whether it is refused if something cannot be undone."""
    max_unavailable: MaxUnavailable = ALL
    without_steps: Annotated[
        bool,
        Option(
            "--without-steps",
            "Go back even if lifecycle steps of the revision were undone since then; they are not carried out again.",
        ),
    ] = False
    """Whether it goes back even if lifecycle steps of the revision were undone since then."""
    may_lose: MayLose = ()
    allow_changed: AllowChanged = False

    @property
    def changes(self) -> ChangeOptions:
        """How what runs is changed: what was added since then is removed first."""
        return ChangeOptions(prune=EARLY, max_unavailable=self.max_unavailable)


class UndeployRequest(Request, frozen=True):
    """To remove everything that exists, except what is protected and what this ensemble has not created."""

    WORKFLOW = UNDEPLOY
    planned_by = "proposals.undeploy"
    about = "What was deployed last is removed, with the files as they were then."
    wording = {"part": "Remove"}
    without = frozenset({"skip_new"})
    stays = "a removal cannot be rolled back" + INSTEAD

    force: Force = False
    """Whether everything is carried out: what was done before, and what removes instances that were never started."""
    include_protected: IncludeProtected = False
    include_unmanaged: IncludeUnmanaged = False
    allow_changed: AllowChanged = False
    part: PartOptions = EVERYTHING
    """Which part of the service is removed."""


MOST_DIGITS = 9


class ScaleRequest(Request, frozen=True):
    """To have more or fewer instances of nodes, and of everything they host."""

    WORKFLOW = SCALE
    planned_by = "proposals.scale"
    about = "What was deployed last is scaled; the service is not read again."

    names: Annotated[
        tuple[str, ...], Argument("NODE|NODE=N...", prefix=NODE, help="Nodes and groups to scale by some instances.")
    ] = ()
    """Nodes and groups that are scaled by ``delta``."""
    counts: Annotated[
        Mapping[str, int],
        Argument("NODE", prefix=NODE, is_read=False, help="How many instances nodes and groups are to have."),
    ] = {}
    """The numbers of instances that nodes and groups are scaled to."""
    node_id: Annotated[str, Option("--node-id", "The same as the argument NODE.", metavar="NODE")] = ""
    """One more of the names."""
    delta: Annotated[
        int | None,
        Option(
            "--delta",
            "How many instances more, or fewer if negative (default: the increment of a scaling policy, else 1).",
            metavar="D",
        ),
    ] = None
    """How many instances more; None for the number of a scaling policy, else one, or as many as ``remove`` names."""
    compute: Annotated[
        bool,
        Option(
            "--scale-compute",
            "Scale the Compute that hosts a node, with everything on it, or only the node.",
            opposite="--no-scale-compute",
            shows_default=True,
        ),
    ] = True
    """Whether the Compute that hosts a node is scaled, with everything on it."""
    remove: Annotated[
        tuple[str, ...], Option("--remove", "An instance to remove; may be repeated.", metavar="INSTANCE")
    ] = ()
    """The instances to remove."""
    include_protected: IncludeProtected = False
    include_unmanaged: IncludeUnmanaged = False
    allow_changed: AllowChanged = False
    allow_large: AllowLarge = False

    @classmethod
    def of_words(cls, given: Mapping[str, Any]) -> Self:
        """The same; a name may be followed by its number, as in ``web=3``."""
        found = cls(**given)
        written = (*found.names, *([found.node_id] if found.node_id else []))
        counts: dict[str, int] = {}
        plain: list[str] = []
        for word in written:
            name, equals, number = word.rpartition("=")
            if not equals and word.isdecimal() and plain:
                raise ValueError(f'"{word}" is not a node: write the number with its node, as in {plain[-1]}={word}')
            if not equals:
                plain.append(word)
            elif not name or not number.isdecimal() or len(number) > MOST_DIGITS:
                raise ValueError(f'"{word}" is not NODE=N with a whole number of instances, 0 or more')
            elif name in counts:
                raise ValueError(f'"{name}" is given twice')
            else:
                counts[name] = int(number)
        if not written:
            raise ValueError("say what to scale: a node or a group, as in web --delta 1, or web=3")
        if counts and found.delta is not None:
            raise ValueError("--delta is for nodes without a number: give web --delta 1, or web=3")
        return msgspec.structs.replace(found, names=tuple(plain), counts=counts, node_id="")


class HealRequest(Request, frozen=True):
    """To heal instances of what was deployed last."""

    WORKFLOW = "heal"
    planned_by = "proposals.heal"
    about = "What was deployed last is healed; the service is not read again."
    stays = "healing cannot be rolled back" + INSTEAD

    names: Annotated[
        tuple[str, ...],
        Argument("INSTANCE...", is_required=True, prefix=INSTANCE, help="Instances, and nodes with one instance."),
    ]
    """Instances, and nodes with one instance."""
    scope: Annotated[
        str,
        Option(
            "--scope",
            "How far to heal: the host too if it is not ok itself, never the host, or the whole host at once.",
            choices=(AUTO, INSTANCE_ONLY, WHOLE_HOST),
            shows_default=True,
        ),
    ] = AUTO
    """How far it goes at most: to the host if that is not ok itself (``auto``), never to the host (``instance``), or to
    the whole ``host`` at once."""
    reinstall: Annotated[
        bool, Option("--reinstall", "Replace the instances without checking, repairing or restarting them first.")
    ] = False
    """Whether instances are replaced without being checked, repaired or restarted first."""
    may_lose: MayLose = ()
    allow_changed: AllowChanged = False


class MoveRequest(Request, frozen=True):
    """To stop, start or restart instances of what was deployed last, and what depends on them."""

    planned_by = "proposals.move"

    names: Annotated[tuple[str, ...], Argument("[NODE|INSTANCE]...", help="Nodes and instances.")] = ()
    """Nodes and instances."""
    everything: Annotated[bool, Option("--all", "{all}")] = False
    """Whether everything that is deployed is meant."""

    @classmethod
    def of_words(cls, given: Mapping[str, Any]) -> Self:
        """The same, if something is named or everything is meant."""
        found = cls(**given)
        if bool(found.names) == found.everything:
            raise ValueError(f"say what to {cls.WORKFLOW}: nodes and instances by name, or --all")
        return found


class StopRequest(MoveRequest, frozen=True):
    """To stop instances."""

    WORKFLOW = "stop"
    about = "What depends on the named instances is stopped too, before them."
    wording = {"all": "Stop everything that is deployed."}
    stays = "a stop cannot be rolled back" + INSTEAD


class StartRequest(MoveRequest, frozen=True):
    """To start instances."""

    WORKFLOW = "start"
    about = "The named instances are started, once what they require is running."
    wording = {"all": "Start everything that is deployed."}
    stays = "a start cannot be rolled back" + INSTEAD


class RestartRequest(MoveRequest, frozen=True):
    """To stop and start instances in one job."""

    WORKFLOW = "restart"
    about = "What depends on the named instances is restarted too."
    wording = {"all": "Restart everything that is deployed."}
    stays = "a restart cannot be rolled back" + INSTEAD


class LookRequest(Request, frozen=True):
    """To check or discover instances of what was deployed last."""

    planned_by = "proposals.look"
    stays = "what was found cannot be rolled back" + INSTEAD

    names: Annotated[tuple[str, ...], Argument("[NODE|INSTANCE]...", help="Nodes and instances; none for all.")] = ()
    """Nodes and instances, none for all."""


class CheckRequest(LookRequest, frozen=True):
    """To run the check of instances."""

    WORKFLOW = "check"
    about = "Without NAME, every instance that implements check is checked."


class DiscoverRequest(LookRequest, frozen=True):
    """To run the discover operation of instances."""

    WORKFLOW = "discover"
    about = "Without NAME, every instance that implements discover is examined."


class RunRequest(Request, frozen=True):
    """To run one operation on instances of what was deployed last."""

    WORKFLOW = RUN
    planned_by = "proposals.run"
    about = "OPERATION is INTERFACE.OPERATION, or its name alone if only one interface has it."
    without = frozenset({"forgotten"})
    stays = "what an operation did cannot be rolled back" + INSTEAD

    operation: Annotated[
        str,
        Argument(is_required=True, help="Interface.operation, or its name alone if only one interface has it."),
    ]
    """The operation."""
    filters: InstanceFilters = InstanceFilters()
    """The instances on which it is run."""
    in_order: Annotated[
        bool, Option("--dependency-order", "First on what others depend on; without it on all at once.")
    ] = False
    """Whether an instance waits for those it depends on."""
    override: Annotated[bool, Option("--override", "Let -i and -I replace values that the template gives.")] = False
    """Whether the inputs may replace values that the template gives."""
    inputs: GivenInputs = GivenInputs()
    """The inputs of the operation."""


class TemplateWorkflowRequest(Request, frozen=True):
    """To run a workflow of the deployed template."""

    planned_by = "proposals.workflow"
    about = "NAME is a workflow of the deployed template; -i and -I give its inputs."
    without = frozenset({"forgotten"})
    stays = "the workflow itself says what follows a failure (on_failure): leave out --on-failure"

    name: Annotated[str, Argument(is_required=True, help="The workflow of the template.")]
    """The workflow."""
    inputs: GivenInputs = GivenInputs()
    """The inputs of the workflow."""

    @property
    def workflow(self) -> str:
        """Its name in the job's record."""
        return NAMED + self.name

    @property
    def words(self) -> tuple[str, ...]:
        """The command for this request; values of inputs are left out."""
        return ("workflow", "run", self.name)


class RetryRequest(Request, frozen=True):
    """To carry out what a job has not done."""

    WORKFLOW = "jobs retry"
    planned_by = "proposals.retry"

    job: str = ""
    """The id of the job or the beginning of it, "" for the latest."""
    by_hand: str = ""
    """The id of a step that somebody has done by hand, "" for none."""
    may_lose: MayLose = ()
    """The nodes and instances whose data may be lost, in addition to those of the job's own command."""


class TriggerRequest(Request, frozen=True):
    """To carry out one part of a trigger's actions."""

    planned_by = "proposals.trigger"

    policy: str
    """The policy of the trigger."""
    trigger: str
    """The trigger."""
    part: int = 0
    """Which part: the actions that make up one job, counted from 0."""
    instances: tuple[str, ...] = ()
    """The instances from which the event came."""

    @property
    def workflow(self) -> str:
        """The name of the job's workflow."""
        return f"trigger {self.policy}.{self.trigger}"


REQUESTS: Mapping[str, type[Request]] = {
    "deploy": DeployRequest,
    "upgrade": UpgradeRequest,
    "rollback": RollbackRequest,
    "undeploy": UndeployRequest,
    "scale": ScaleRequest,
    "heal": HealRequest,
    "stop": StopRequest,
    "start": StartRequest,
    "restart": RestartRequest,
    "check": CheckRequest,
    "discover": DiscoverRequest,
    "run": RunRequest,
    "workflow": TemplateWorkflowRequest,
}
"""The workflows that can be planned, with their requests; all workflows of templates are one entry."""


def request_type(workflow: str) -> type[Request] | None:
    """The request class of a workflow, by its name in the job's record; None if it is not known."""
    return REQUESTS.get("workflow" if is_written(workflow) else workflow)


# ---------------------------------------------------------------------------- what is kept of a request, and proposed
#
# Jobs that `jobs retry` continues keep the options of their requests one by one (``base.options.recorded``), since
# their rest is planned with them. Others keep the words of their command (``recorded_command``), since all that can be
# done is to give it again.

AGAIN = "again"
"""The key in the record of a job for the words of its command, where that does not continue where it stopped."""


def recorded_command(request: Request) -> dict[str, object]:
    """What the record of a job keeps of a command that does not continue where it stopped."""
    return {AGAIN: list(request.words)}


def command_of(said: Mapping[str, object]) -> tuple[str, ...]:
    """The words of the command to give again, from what the record of a job keeps; empty if there are none."""
    found = said.get(AGAIN)
    return tuple(map(str, found)) if isinstance(found, list | tuple) else ()


def words_of_losing(names: Iterable[str]) -> tuple[str, ...]:
    """The options that name whose data may be lost."""
    return words(ChangeOptions(may_lose=tuple(names)))
