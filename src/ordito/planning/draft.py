"""The draft of a plan: what transforms read and write until the plan is frozen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import msgspec

from ordito.base.diagnostics import Diagnostics
from ordito.instances import hosting
from ordito.instances.records import Applied, Instance, Snapshot
from ordito.model.service import NodeTemplate, Service
from ordito.planning.differences import Differences
from ordito.planning.forms import Formed, FormsOfPlan
from ordito.planning.operation_sequence import Where
from ordito.planning.options import PlanOptions
from ordito.planning.planned_instances import InstanceAction, PlannedInstance
from ordito.planning.policy_targets import PLACEMENT, SCALING, policies_by_node
from ordito.planning.step_graph import StepGraph
from ordito.work.hooks import DoneHook, Hook
from ordito.work.plan import KeptCount, Scope
from ordito.work.workflows import workflow_of

# A name of a module is found seven times as fast as a member of an enumeration (up to Python 3.11), which counts where
# it is done for every step or every instance. Other files do so as well.
HOST, FAR, ORCHESTRATOR = Where.HOST, Where.FAR, Where.ORCHESTRATOR


class Draft(StepGraph):
    """A plan in the making. Its fields stand in groups, by who writes them (``order.DraftPart``).

    A draft may have several *stages*, one after the other, each with actions of its own for the instances: ``members``
    are those of the one in the making, and of all once ``end_stages`` was called.
    """

    def __init__(
        self, workflow: str, service: Service, snapshot: Snapshot, inputs: Mapping[str, object], options: PlanOptions
    ) -> None:
        super().__init__()
        # What is given, and what is found out of it when it is first asked for.
        self.workflow = workflow_of(workflow)
        self.service = service
        self.snapshot = snapshot
        self.inputs = inputs
        self.options = options
        self.scaling = policies_by_node(service, SCALING)
        self.placement = policies_by_node(service, PLACEMENT)

        # What every transform says.
        self.diagnostics = Diagnostics()
        #: Errors about what runs, after which planning goes on so that all of the plan is seen.
        self.refusals = Diagnostics()
        #: Words with which the same command is not refused so, and what it does then.
        self.way_out: tuple[tuple[str, ...], str] = (), ""

        # What steps refer to, each once.
        self.scopes: list[Scope] = []
        self.forms = FormsOfPlan(service, inputs, options, self.diagnostics, self.scopes)
        own = self.forms.own
        self.static, self.digests, self.calls, self.sequences = own.static, own.digests, own.calls, own.sequences
        self.differences = Differences(self.forms, options)

        # NODES and COUNTS.
        #: The nodes, each after those that it requires.
        self.ordered: list[NodeTemplate] = []
        #: The wanted number of instances, by node.
        self.counts: dict[str, int] = {}
        #: Where each of these comes from.
        self.origins: dict[str, str] = {}
        #: What later plans keep of them.
        self.kept_counts: dict[str, KeptCount] | None = None

        # INSTANCES and ACTIONS: which there are, and what becomes of them.
        self.members: dict[str, PlannedInstance] = {}
        #: The instances of a node, by their numbers.
        self.of_node: dict[str, list[PlannedInstance]] = {}
        self.created: list[Instance] = []
        #: What was found to be absent and is made once more, as it was.
        self.absent: list[Instance] = []
        #: What placement has found out of its policies, by their names.
        self.placed: dict[str, object] = {}
        #: What stays though all else of its kind is removed or replaced, and is told of.
        self.kept: list[PlannedInstance] = []
        #: Whether a node takes turns though nobody has said so.
        self.rolls = False

        # REPAIRS: the stages that come first.
        #: What is replaced is so only if not all that is to be healed is found to be ok.
        self.repairs_first = False
        self._stages: list[dict[str, PlannedInstance]] = []
        self._is_aside = False

        # UP, DOWN, PAIRS and BESIDE, besides the steps and edges.
        #: Those of the plan; actions of people say so.
        self.overlaps = self.halts = False
        #: The number of operations of pairs.
        self.linking = 0
        #: The ids of links that steps make in this stage, and in those before it.
        self.linked: set[str] = set()
        self.linked_before: set[str] = set()
        #: The ids of links that stay and are undone and made again.
        self.redone: set[str] = set()
        #: What is recorded of pairs without being carried out, by their ids.
        self.adopted_links: dict[str, dict[str, Applied]] = {}
        #: The sources of these.
        self.linked_alike: set[str] = set()
        #: As in the plan: digests of what inputs of operations were.
        self.observed: dict[str, str] = {}

        # QUESTIONS and WAITS.
        #: What keeps data and is made once more, as was permitted, where its check finds it to be absent.
        self.once_more: set[str] = set()
        #: The joins between the chain down of an instance and its chain up.
        self.again: set[int] = set()

        # PHASES and UNDONE: lifecycle steps, as in the plan.
        self.hooks: list[Hook] = []
        self.undone: list[DoneHook] = []

        # What was found out before, for whoever asks again.
        self._missed_on: dict[str, list[str]] | None = None
        self._is_change: bool | None = None
        self._is_in_one_form: bool | None = None
        self._computes: dict[str, str] = {}
        self._computes_before: dict[str, str] | None = None
        self._inside: tuple[dict[str, str], dict[str, str]] = ({}, {})
        self._first_hosted: dict[str, dict[str, str]] = {}

    def next_stage(self) -> None:
        """Begin a stage: the steps so far stay, and no action is chosen yet for any instance."""
        if self.members:
            self._stages.append(self.members)
        self.members, self.of_node = {}, {}
        self.redone = set()
        self.linked_before |= self.linked
        self._computes, self._computes_before, self._first_hosted = {}, None, {}

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Stages that come before what is planned so far, which then continues."""
        known = self.members, self.of_node, self.redone, self._computes, self._computes_before, self._first_hosted
        self.members, self._is_aside = {}, True
        try:
            yield
            self.next_stage()
        finally:
            self._is_aside = False
            self.members, self.of_node, self.redone, self._computes, self._computes_before, self._first_hosted = known

    def end_stages(self) -> None:
        """Have the members be those of all stages: an instance of several stages is taken from the last one that
        changes it. An operation in several stages has an id of its own in each."""
        if not self._stages:
            return
        self.next_stage()
        self.of_node = {node.name: [] for node in self.ordered}
        for stage in self._stages:
            for name, member in stage.items():
                if name not in self.members or member.action is not InstanceAction.KEEP:
                    self.members[name] = member
        for member in self.members.values():
            self.of_node[member.template.name].append(member)
        for name in self.of_node:
            self.sort(name)
        known: set[str] = set()
        for step in self.steps:
            while step.id in known:
                step.id += ".again"
            known.add(step.id)

    def inside(self, is_up: bool) -> dict[str, str]:
        """The nodes inside substituting topologies that decide the chains of the substituted nodes: each with the node
        that is substituted."""
        return self._inside[is_up]

    def put(self, member: PlannedInstance) -> None:
        """Add an instance."""
        self.members[member.record.id] = member
        of_node = self.of_node.get(member.template.name)
        if of_node is None:
            of_node = self.of_node[member.template.name] = []
        of_node.append(member)

    def sort(self, node: str) -> None:
        """Sort the instances of a node by their slots."""
        self.of_node.setdefault(node, []).sort(key=lambda m: m.record.index)

    def with_hosts(self, member: PlannedInstance) -> tuple[Instance, ...]:
        """The record of an instance, and those of the instances that host it."""
        found = [member.record]
        while (host := self.members.get(found[-1].host)) is not None:  # as ``chain``, and called very often
            found.append(host.record)
        return tuple(found)

    def chain(self, member: PlannedInstance | None) -> Iterator[PlannedInstance]:
        """An instance and those that host it once the plan is carried out, the nearest first."""
        while member is not None:
            yield member
            member = self.host_of(member)

    def host_of(self, member: PlannedInstance, *, falls: bool = False) -> PlannedInstance | None:
        """The instance that hosts another one; with ``falls`` the one before that moves."""
        return self.members.get(member.on(falls=falls))

    def contained(self, instance: str) -> list[str]:
        """An instance with everything that is hosted on it, directly or indirectly, including what is missed there."""
        return hosting.contained(self.snapshot, instance, self.missed_on)

    def first_hosted(self, node: str, host: str) -> str:
        """The first instance of a node that stays on a host, "" where there is none; once all members are chosen."""
        first = self._first_hosted.get(node)
        if first is None:
            first = self._first_hosted[node] = {}
            for member in self.of_node.get(node, ()):
                if not member.goes:
                    first.setdefault(member.record.host, member.id)
        return first.get(host, "")

    def is_left_out(self, member: PlannedInstance) -> bool:
        """Whether an instance is no part of what the plan deploys or removes: it stays as it is, in its present
        form."""
        part = self.options.part
        return part is not None and not part.has(member.record)

    @property
    def is_partial(self) -> bool:
        """Whether the plan is about a part of what exists, and everything else stays as it is, including its links."""
        return self._is_aside or self.options.is_partial

    @property
    def is_forming(self) -> bool:
        """Whether the plan brings instances into the wanted form."""
        return not self._is_aside and self.workflow.forms

    @property
    def heals(self) -> bool:
        """Whether the plan heals instances."""
        return self._is_aside or self.workflow.heals

    @property
    def missed_on(self) -> Mapping[str, list[str]]:
        """The ids of the instances that are missed, by the host on which they were."""
        if self._missed_on is None:
            self._missed_on = {}
            for record in self.snapshot.instances.values():
                if not record.exists and record.is_missed:
                    self._missed_on.setdefault(record.host, []).append(record.id)
        return self._missed_on

    @property
    def is_change(self) -> bool:
        """Whether something exists already, so that the plan changes it."""
        if self._is_change is None:
            self._is_change = any(i.exists for i in self.snapshot.instances.values())
        return self._is_change

    @property
    def is_in_one_form(self) -> bool:
        """Whether every existing instance is in the wanted form of the service, as is nearly always so."""
        if self._is_in_one_form is None:
            is_in_another = self.forms.has_base or any(i.form for i in self.snapshot.instances.values())
            self._is_in_one_form = not is_in_another
        return self._is_in_one_form

    def falling(self, member: PlannedInstance) -> Formed:
        """The form of the service by which an instance is stopped, unlinked and removed: its present one."""
        return self.forms.of(member.record)

    def rising(self, member: PlannedInstance) -> Formed:
        """The form by which an instance is created, started and linked: the wanted one, but for a workflow that only
        maintains instances the present one."""
        return self.forms.own if self.workflow.forms else self.forms.of(member.record)

    def move(self, member: PlannedInstance, onto: str) -> None:
        """Have an instance be hosted on another one, "" for none, once it is created again."""
        member.was_on = member.record.host
        member.record = msgspec.structs.replace(member.record, host=onto)
        self._computes_before = {}

    def runs_on(self, where: Where, instance: str, far: str = "", *, falls: bool = False) -> str:
        """The Compute instance on which an operation runs, "" for the orchestrator. What takes an instance down
        (``falls``) runs on its host from before it moves."""
        if where is ORCHESTRATOR:
            return ""
        at = far if where is FAR else instance
        if where is HOST:
            at = self.members[instance].on(falls=falls)
        return self.compute_of(at, falls=falls)

    def replaceable_host(self, instance: str) -> str:
        """The nearest Compute among an instance and its hosts, else the instance itself."""
        return hosting.replaceable_host(self.service, self.snapshot, self.snapshot.instances[instance])

    def compute_of(self, instance: str, *, falls: bool = False) -> str:
        """The nearest Compute instance among an instance and its hosts, "" for none. With ``falls`` the hosts are those
        from before instances move."""
        before = self._computes_before if falls else None
        known = self._computes if before is None else before
        if (found := known.get(instance)) is not None:
            return found
        path: list[str] = []
        current = instance
        while current and (found := known.get(current)) is None:
            path.append(current)
            member = self.members.get(current)
            if member is None:
                break
            if member.template.is_compute:
                found = current
                break
            current = member.record.host if before is None else member.on(falls=True)
        found = found or ""
        for passed in path:
            known[passed] = found
        return found
