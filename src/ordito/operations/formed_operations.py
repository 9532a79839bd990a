"""The operations of a plan whose calls belong to several forms of the service: each is understood by its own.

The forms see the same snapshot. So what one of them has changed, the others know; what a function gives for a property
is what the form of the operation says, also of nodes that are in another form by now.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ordito.base.masking import Masking
from ordito.instances.records import Delta
from ordito.operations.operations import PlanOperations
from ordito.operations.preparing import PreparedStep
from ordito.work.invocation import Invocation, Outcome
from ordito.work.plan import Plan, Step
from ordito.work.providing import Delegation
from ordito.work.targets import HostTarget

MakesOperations = Callable[[str, Plan, Masking], PlanOperations]
"""Gives the operations of a plan as an earlier form of the service has them, by its id."""


class FormedOperations:
    """The operations of a plan: those of the job's own service, and those of the earlier forms that calls name, made
    when the first of their steps is asked about. What is said about a step is said by the form of its call."""

    def __init__(self, own: PlanOperations, plan: Plan, makes: MakesOperations, job: str = "") -> None:
        """``job`` is the id of the job, by which calls of a rollback name its own form."""
        self.masking = own.masking
        self._own = own
        self._makes = makes
        self._known: dict[str, PlanOperations] = {"": own, job: own}
        self._plan = plan
        self._forms = _forms_of(plan)

    def _of(self, step: Step) -> PlanOperations:
        form = self._forms[step.call]
        return self._known.get(form) or self._made(form)

    def _made(self, form: str) -> PlanOperations:
        made = self._known[form] = self._makes(form, self._plan, self.masking)
        return made

    def without_secrets(self, step: Step, outcome: Outcome) -> Outcome:
        """As ``PlanOperations.without_secrets``."""
        return self._of(step).without_secrets(step, outcome)

    def prepare(self, step: Step, attempt: int) -> PreparedStep:
        """As ``PlanOperations.prepare``."""
        return self._of(step).prepare(step, attempt)

    def shown_inputs(self, step: Step) -> dict[str, object]:
        """As ``PlanOperations.shown_inputs``."""
        return self._of(step).shown_inputs(step)

    def question(self, step: Step, accepts: Callable[[Sequence[str], str], bool]) -> Invocation | None:
        """As ``PlanOperations.question``. Raises ``Unreachable``."""
        return self._of(step).question(step, accepts)

    def delegation(self, step: Step) -> Delegation:
        """As ``PlanOperations.delegation``. Raises ``Unreachable``."""
        return self._of(step).delegation(step)

    def target(self, step: Step) -> HostTarget | None:
        """As ``PlanOperations.target``. Raises ``Unreachable``."""
        return self._of(step).target(step)

    def target_of(self, compute: str) -> HostTarget | None:
        """As ``PlanOperations.target_of``, by the job's own service. Raises ``Unreachable``."""
        return self._own.target_of(compute)

    def on_start(self, step: Step, change: str) -> Delta:
        """As ``PlanOperations.on_start``."""
        return self._of(step).on_start(step, change)

    def on_end(self, step: Step, outcome: Outcome, change: str) -> tuple[Outcome, Delta]:
        """As ``PlanOperations.on_end``."""
        return self._of(step).on_end(step, outcome, change)

    def needless(self, step: Step) -> str:
        """As ``PlanOperations.needless``."""
        return self._of(step).needless(step)

    def on_needless(self, step: Step, change: str) -> Delta:
        """As ``PlanOperations.on_needless``."""
        return self._of(step).on_needless(step, change)

    def extend(self, plan: Plan) -> None:
        """The plan goes on: this is the whole of it."""
        self._plan, self._forms = plan, _forms_of(plan)
        for operations in {id(known): known for known in self._known.values()}.values():
            operations.extend(plan)

    def topology_outputs(self) -> dict[str, object]:
        """The outputs of the topology as the job's own service has them."""
        return self._own.topology_outputs()


def _forms_of(plan: Plan) -> tuple[str, ...]:
    """The form of each call by its number; the last entry, -1, is for what calls nothing."""
    return (*(call.form for call in plan.calls), "")
