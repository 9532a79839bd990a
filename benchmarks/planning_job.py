"""What planning costs, measured from inside: ``planning_job.py SHAPE COUNT FOLDER``.

SHAPE is ``templates`` (so many instances in all, ten of each template: computes, what they host, and what that
requires) or ``instances`` (of one template). Plans a deployment of nothing, then of what that would leave its removal,
the healing of one instance, one instance more, and a deployment with nothing to do. Prints, as JSON, the CPU seconds
and the steps of each, and the most memory that the process had before and with it, in MiB.
"""

from __future__ import annotations

import gc
import json
import resource
import sys
import time
from collections import defaultdict
from pathlib import Path

from ordito.base.diagnostics import Diagnostics
from ordito.instances.records import Applied, Delta, Instance, Snapshot
from ordito.model.resolve import resolve_service
from ordito.model.service import COMPUTE, Service
from ordito.planning.options import Abilities, FileDigests, Goal, PlanOptions, Scaling
from ordito.planning.workflows import plan
from ordito.source.opening import open_package
from ordito.work.plan import Action, Plan

OF_EACH = 10
CHANGE = "A6BKKQCN0001"
HEAD = """\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  bench.Machine:
    derived_from: tosca.nodes.Compute
    interfaces: &life
      Standard:
        type: tosca.interfaces.node.lifecycle.Standard
        operations: { create: do.sh, configure: do.sh, start: do.sh, stop: do.sh, delete: do.sh }
  bench.Part:
    derived_from: tosca.nodes.SoftwareComponent
    interfaces: *life
  bench.Alone:
    derived_from: tosca.nodes.Root
    interfaces: *life
topology_template:
  node_templates:
"""


def templates(count: int) -> str:
    """As many instances, ten of each template: every other one a compute, and on it a part that requires the last."""
    lines = [HEAD]
    for n in range(count // OF_EACH // 2):
        lines.append(f"    m{n}: {{ type: bench.Machine, occurrences: [ 1, 20 ], instance_count: {OF_EACH} }}\n")
        needs = f", dependency: p{n - 1}" if n % 10 else ""
        lines.append(f"    p{n}: {{ type: bench.Part, occurrences: [ 0, 20 ], requirements: [ host: m{n}{needs} ] }}\n")
    return "".join(lines)


def instances(count: int) -> str:
    """As many instances of one template."""
    return f"{HEAD}    m0: {{ type: bench.Alone, occurrences: [ 1, UNBOUNDED ], instance_count: {count} }}\n"


def deployed(made: Plan) -> Snapshot:
    """What carrying out a deployment leaves."""
    applied: dict[str, dict[str, Applied]] = defaultdict(dict)
    for step in made.steps:
        if step.action is not Action.JOIN:
            call = made.calls[step.call]
            applied[step.instance][call.key] = Applied(CHANGE, call.digest)
    records = [
        Instance(i.id, i.node, i.index, i.host, "started", "ok", CHANGE, applied[i.id], {}, CHANGE, CHANGE)
        for i in made.records.new
    ]
    snapshot = Snapshot()
    snapshot.apply(Delta(instances=tuple(records)))
    return snapshot


def most_memory() -> float:
    """The most memory that this process ever had, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measured(workflow: str, service: Service, snapshot: Snapshot, **more: object) -> tuple[Plan, float]:
    """A plan, and the CPU seconds that it took."""
    options = PlanOptions(
        Abilities(
            accepts=lambda kinds: any(k.startswith("tosca.artifacts.Implementation") for k in kinds),
            provides=lambda _, kinds: COMPUTE in kinds,
        ),
        FileDigests({"do.sh": "5b" * 32}),
        **more,  # type: ignore[arg-type]
    )
    # As commands do from text to plan.
    gc.disable()
    began = time.process_time()
    made = plan(workflow, service, snapshot, {}, options)
    taken = time.process_time() - began
    gc.enable()
    return made, taken


def main(shape: str, count: int, folder: str) -> dict[str, object]:
    """The figures."""
    file = Path(folder) / "service.yaml"
    file.write_text(templates(count) if shape == "templates" else instances(count), encoding="utf-8")
    (file.parent / "do.sh").write_text("", encoding="utf-8")
    found = Diagnostics()
    package = open_package(str(file), found)
    service = resolve_service(package, found) if package is not None else None
    assert service is not None, [str(d) for d in found][:3]
    gc.collect()
    gc.freeze()
    figures: dict[str, object] = {"read": most_memory()}

    def note(workflow: str, made: Plan, taken: float) -> None:
        figures[workflow] = {"seconds": taken, "steps": len(made.steps), "memory": most_memory()}

    made, taken = measured("deploy", service, Snapshot())
    assert len(made.records.new) == count
    note("deploy", made, taken)
    snapshot = deployed(made)
    del made
    last = list(service.nodes)[-1]
    for workflow, more in (
        ("undeploy", {}),
        ("heal", {"instances": frozenset({f"{last}_1"})}),
        ("scale", {"scaling": Scaling((Goal(last if shape == "instances" else "m0", delta=1),))}),
        ("deploy again", {}),
    ):
        note(workflow, *measured(workflow.partition(" ")[0], service, snapshot, **more))
    return figures


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], int(sys.argv[2]), sys.argv[3])))
