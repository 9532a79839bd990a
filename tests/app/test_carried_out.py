"""What a service asks for and this version does not carry out is said when a plan is made."""

from __future__ import annotations

from pathlib import Path

import pytest

from ordito.app.plan import PlanRequest, plan
from ordito.app.proposal import Proposal
from ordito.app.requests import DeployRequest
from ordito.base.diagnostics import InvalidDocument

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
interface_types:
  my.Watch: { derived_from: tosca.interfaces.Root, notifications: { raised: {} } }
node_types:
  my.Sensor: { derived_from: tosca.nodes.Root, interfaces: { Watch: { type: my.Watch } } }
topology_template:
  node_templates:
    a: { type: my.Sensor }
    b: { type: Root, requirements: [ dependency: a ] }
"""
GROUP = "  groups:\n    both: { type: tosca.groups.Root, members: [ b, a ] }\n"
POLICY = "  policies:\n    - limits: { type: tosca.policies.Performance, targets: [ a ] }\n"
PORT = """\
    net: { type: tosca.nodes.network.Network, properties: { network_name: inner } }
    box: { type: tosca.nodes.Compute }
    port:
      type: tosca.nodes.network.Port
      properties: { is_default: true }
      requirements: [ link: net, binding: box ]
      OWN
"""
OWN = "interfaces: { Standard: { operations: { create: route.sh } } }"
WORKFLOW = "  workflows:\n    NAME: { steps: { one: { target: a, activities: [ set_state: started ] } } }\n"


def proposal(folder: Path, more: str = "") -> Proposal:
    """What would be deployed."""
    (folder / "service.yaml").write_text(SERVICE + more)
    made = plan(PlanRequest(str(folder / "ensemble"), DeployRequest(str(folder / "service.yaml")))).proposal
    assert made is not None
    return made


def steps(made: Proposal) -> list[str]:
    """The steps of a plan."""
    return [step.id for step in made.plan.steps]


def test_groups_order_nothing(tmp_path: Path) -> None:
    """R-3.8.5-2: the plan is the same with and without them."""
    alone, grouped = proposal(tmp_path), proposal(tmp_path, GROUP)
    assert steps(alone) == steps(grouped)
    assert alone.plan.edges == grouped.plan.edges


def test_other_workflows_replace_nothing(tmp_path: Path) -> None:
    """R-7.1-2: a template that has a workflow of another name is deployed by the generated one."""
    assert steps(proposal(tmp_path, WORKFLOW.replace("NAME", "backup"))) == steps(proposal(tmp_path))


def test_of_two_workflows_that_mean_the_same_one_is_meant(tmp_path: Path) -> None:
    """R-7.1-3: both names mean the same, and only one of them can be heeded."""
    both = WORKFLOW.replace("NAME", "install") + WORKFLOW.replace("NAME", "deploy").partition("\n")[2]
    made = proposal(tmp_path, both.replace("started", "created", 1))
    assert steps(made) == ["one.a_1.set_state.started"]
    assert [d.code for d in made.diagnostics] == ["second-workflow"]


@pytest.mark.parametrize("name", ["deploy", "install"])
def test_a_workflow_takes_the_place_of_the_generated_one(tmp_path: Path, name: str) -> None:
    """R-7.1-1, R-7.1-3: what the template says is planned, and nothing else."""
    made = proposal(tmp_path, WORKFLOW.replace("NAME", name))
    assert steps(made) == ["one.a_1.set_state.started"]
    assert made.workflow == "deploy"


def test_what_is_not_enforced_is_said(tmp_path: Path) -> None:
    """R-12-15: a policy is kept, and a plan says that nothing enforces it."""
    found = {(d.code, str(d.severity)) for d in proposal(tmp_path, POLICY).diagnostics}
    assert found == {("not-enforced", "warning")}


@pytest.mark.parametrize(("own", "codes"), [("", ["not-enforced"]), (OWN, [])])
def test_that_a_port_is_the_default_is_heeded_by_operations_only(tmp_path: Path, own: str, codes: list[str]) -> None:
    """Providers set no routes, which is said; an operation of the port may see to it."""
    (tmp_path / "route.sh").write_text("")
    made = proposal(tmp_path, PORT.replace("OWN", own))
    assert [d.code for d in made.diagnostics] == codes


@pytest.mark.parametrize(
    ("targets", "action", "code"),
    [
        ("targets: [ a ], ", "{ delegate: scale }", "missing-input"),
        ("targets: [ a ], ", "{ delegate: { workflow: scale_out, inputs: { by: 1 } } }", "unknown-input"),
        ("targets: [ a ], ", "{ delegate: { workflow: restart, inputs: { delta: 1 } } }", "unknown-input"),
        ("", "{ delegate: scale_in }", "unknown-target"),
    ],
)
def test_what_no_trigger_could_do_is_refused_before_it_has_to(
    tmp_path: Path, targets: str, action: str, code: str
) -> None:
    """R-12-3: at three in the morning nobody is there to repair the template."""
    policy = f"  policies:\n    - p: {{ type: tosca.policies.Root, {targets}triggers: {{ t: {{ event: raised, "
    with pytest.raises(InvalidDocument) as refused:
        proposal(tmp_path, f"{policy}action: [ {action} ] }} }} }}\n")
    assert [d.code for d in refused.value.diagnostics] == [code]


def test_a_trigger_that_asks_for_more_than_is_remembered_is_refused(tmp_path: Path) -> None:
    """It would never act."""
    more = "condition: { evaluations: 10001 }, action: [ set_state: started ]"
    policy = POLICY.replace("targets: [ a ]", f"targets: [ a ], triggers: {{ t: {{ event: raised, {more} }} }}")
    with pytest.raises(InvalidDocument, match="10000 at most"):
        proposal(tmp_path, policy)


def test_an_event_that_nothing_raises_is_said(tmp_path: Path) -> None:
    """R-12-5: it may be misspelt, or come from somebody who only knows its name."""
    policy = POLICY.replace(
        "targets: [ a ]", "targets: [ a ], triggers: { t: { event: NAME, action: [ set_state: x ] } }"
    )
    for name in ("raised", "Watch.raised", "my.Watch.raised"):
        assert {d.code for d in proposal(tmp_path, policy.replace("NAME", name)).diagnostics} == {"unknown-state"}
    found = {d.code: d.hint for d in proposal(tmp_path, policy.replace("NAME", "Watch.raise")).diagnostics}
    assert found["not-acted-on"] == 'did you mean "Watch.raised"?'
