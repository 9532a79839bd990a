"""Plans and environments of written templates: the samples of the specification and of the normative lifecycle."""

from __future__ import annotations

from pathlib import Path

import pytest

from ordito.base.diagnostics import Diagnostics
from ordito.model.inputs import bind_inputs
from ordito.model.resolve import resolve_service
from ordito.operations.operations import PlanOperations
from ordito.operations.preparing import PreparedStep
from ordito.source.opening import open_package
from ordito.work.plan import Step
from tests.support.runs import World, assert_order, is_before, steps_of


class Written(World):
    """A world of a template as it is written; keeps what was prepared for each step."""

    def __init__(self, folder: Path, text: str) -> None:
        (folder / "service.yaml").write_text(f"tosca_definitions_version: tosca_simple_yaml_1_3\n{text}")
        for name in ("do.sh", "do.py"):
            (folder / name).write_text("")
        diagnostics = Diagnostics()
        package = open_package(str(folder), diagnostics)
        service = resolve_service(package, diagnostics) if package else None
        assert service is not None, [str(d) for d in diagnostics]
        inputs = bind_inputs(service, {}, diagnostics)
        assert not diagnostics.has_errors, [str(d) for d in diagnostics]
        super().__init__(service, inputs)
        self.prepared: dict[str, PreparedStep] = {}

    def deploy(self, outputs: dict[str, dict[str, object]]) -> Written:
        """``outputs`` are given by the ends of step ids; ``{instance}`` in a text is the instance."""
        original = PlanOperations.prepare

        def patched(this: PlanOperations, step: Step, attempt: int) -> PreparedStep:
            prepared = self.prepared[step.id] = original(this, step, attempt)
            return prepared

        def answer(step: Step, _: str) -> dict[str, object] | None:
            given = next((o for end, o in outputs.items() if step.id.endswith(end)), None)
            number = step.instance.rpartition("_")[2]
            return {n: str(v).replace("{number}", number) for n, v in given.items()} if given else None

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(PlanOperations, "prepare", patched)
            self.run(answers=answer)
        assert self.failed == []
        return self

    def env(self, step: str) -> dict[str, str]:
        invocation = self.prepared[step].invocation
        assert invocation is not None, self.prepared[step].refusal
        return invocation.environment


LOAD_BALANCER = """
node_types:
  Member:
    derived_from: tosca.nodes.Root
    attributes: {ip_address: {type: string}}
    interfaces:
      Standard:
        type: tosca.interfaces.node.lifecycle.Standard
        operations:
          create:
            implementation: do.sh
            outputs: {ip: [SELF, ip_address]}
  some.vendor.LoadBalancer:
    derived_from: tosca.nodes.Root
    requirements:
      - member: {capability: tosca.capabilities.Node, occurrences: [0, UNBOUNDED]}
relationship_types:
  some.vendor.LoadBalancerToMember:
    derived_from: tosca.relationships.ConnectsTo
    valid_target_types: [tosca.capabilities.Node]
topology_template:
  node_templates:
    node:
      type: Member
      instance_count: 5
      occurrences: [1, 10]
    load_balancer:
      type: some.vendor.LoadBalancer
      requirements:
        - member:
            node: node
            relationship:
              type: some.vendor.LoadBalancerToMember
              interfaces:
                Configure:
                  operations:
                    add_target:
                      inputs:
                        member_ip: {get_attribute: [TARGET, ip_address]}
                      implementation: do.py
"""


def test_the_load_balancer_of_the_specification(tmp_path: Path) -> None:
    """R-4.2-1, R-4.2-2, R-4.2-7, R-4.2-8: the example of §4.2.1, as the template writes it."""
    run = Written(tmp_path, LOAD_BALANCER).deploy({"Standard.create": {"ip": "10.0.0.{number}"}})
    env = run.env("load_balancer_1.member.node_5.Configure.add_target")
    wanted = {"TARGET": "node_5", "TARGETS": "node_1,node_2,node_3,node_4,node_5", "member_ip": "10.0.0.5"}
    wanted |= {f"node_{n}_member_ip": f"10.0.0.{n}" for n in range(1, 6)}
    assert wanted.items() <= env.items()


LOG_IP = """
node_types:
  Logger:
    derived_from: tosca.nodes.SoftwareComponent
    attributes:
      log_attr: {type: string, default: {get_operation_output: [SELF, Standard, create, LOG_OUT]}}
    interfaces:
      Standard:
        operations:
          create:
            inputs:
              SELF_IP: {type: string, value: {get_attribute: [HOST, ip_address]}}
            implementation: do.sh
topology_template:
  node_templates:
    log_host_ip:
      type: Logger
      requirements:
        - host: compute
    compute:
      type: tosca.nodes.Compute
  outputs:
    log: {value: {get_attribute: [log_host_ip, log_attr]}}
"""


def test_the_shell_script_of_the_specification(tmp_path: Path) -> None:
    """R-4.6.1-1, R-4.6.1-4: §13.4.1."""
    run = Written(tmp_path, LOG_IP)
    made = run.deploy(
        {"delegate.deploy": {"endpoint::ip_address": "192.0.2.1"}, "create": {"LOG_OUT": "the log"}}
    ).plan()
    assert made.is_empty
    assert run.env("log_host_ip_1.Standard.create")["SELF_IP"] == "192.0.2.1"
    assert run.operations is not None
    assert run.operations.topology_outputs() == {"log": "the log"}


LIFECYCLE = """
relationship_types:
  Hosted:
    derived_from: tosca.relationships.HostedOn
    interfaces:
      Configure:
        operations:
          pre_configure_source: do.sh
          post_configure_source: do.sh
          add_target: do.sh
          add_source: do.sh
          remove_target: do.sh
  Connected:
    derived_from: tosca.relationships.ConnectsTo
    interfaces:
      Configure:
        operations:
          pre_configure_source: do.sh
          pre_configure_target: do.sh
          post_configure_source: do.sh
          post_configure_target: do.sh
          add_target: do.sh
          add_source: do.sh
          remove_target: do.sh
node_types:
  Generic:
    derived_from: tosca.nodes.SoftwareComponent
    capabilities: {service: {type: tosca.capabilities.Endpoint}}
    requirements:
      - peer: {capability: tosca.capabilities.Endpoint, relationship: Connected, occurrences: [0, UNBOUNDED]}
    interfaces:
      Standard: {operations: {create: do.sh, configure: do.sh, start: do.sh, stop: do.sh, delete: do.sh}}
topology_template:
  node_templates:
    ComputeA: {type: tosca.nodes.Compute, instance_count: 2, occurrences: [1, 5]}
    ComputeB: {type: tosca.nodes.Compute, instance_count: 2, occurrences: [1, 5]}
    GenericA:
      type: Generic
      requirements: [{host: {node: ComputeA, relationship: Hosted}}, {peer: {node: GenericB, capability: service}}]
    GenericB:
      type: Generic
      requirements: [{host: {node: ComputeB, relationship: Hosted}}]
"""


def test_the_demonstration_of_the_normative_lifecycle(tmp_path: Path) -> None:
    """R-5.8.5-13: the order of the well-known demonstration of the normative lifecycle, A to B, hosted, two each."""
    run = Written(tmp_path, LIFECYCLE)
    made = run.plan()
    for b in ("GenericB_1", "GenericB_2"):
        assert_order(
            made,
            f"{b}.Standard.create",
            f"{b}.GenericA.peer.Configure.pre_configure_target",
            f"{b}.Standard.configure",
            f"{b}.GenericA.peer.Configure.post_configure_target",
            f"{b}.Standard.start",
        )
    for number in (1, 2):
        a = f"GenericA_{number}"
        assert_order(made, f"ComputeA_{number}.delegate.deploy", f"{a}.Standard.create")
        assert not is_before(made, f"ComputeA_{3 - number}.delegate.deploy", f"{a}.Standard.create")
        assert_order(
            made,
            f"{a}.Standard.create",
            f"{a}.GenericA.host.Configure.pre_configure_source",
            f"{a}.GenericA.peer.Configure.pre_configure_source",
            f"{a}.Standard.configure",
            f"{a}.GenericA.host.Configure.post_configure_source",
            f"{a}.GenericA.peer.Configure.post_configure_source",
            f"{a}.Standard.start",
        )
        for b in ("GenericB_1", "GenericB_2"):
            assert_order(made, f"{b}.Standard.start", f"{a}.Standard.create")
            assert_order(made, f"{a}.Standard.start", f"{a}.peer.{b}.Configure.add_target")
            assert f"{a}.peer.{b}.Configure.add_source" in steps_of(made)
    hosting = [s for s in steps_of(made) if ".host." in s and "add_target" in s]
    assert sorted(hosting) == [
        *(f"GenericA_{n}.host.ComputeA_{n}.Configure.add_target" for n in (1, 2)),
        *(f"GenericB_{n}.host.ComputeB_{n}.Configure.add_target" for n in (1, 2)),
    ]
    run.run()
    assert run.failed == []
    assert run.plan().is_empty
    down = run.plan("undeploy")
    for a in ("GenericA_1", "GenericA_2"):
        for b in ("GenericB_1", "GenericB_2"):
            assert_order(
                down,
                f"{a}.peer.{b}.Configure.remove_target",
                f"{a}.Standard.stop",
                f"{a}.Standard.delete",
                f"{b}.Standard.stop",
                f"{b}.Standard.delete",
            )
    run.run("undeploy")
    assert run.existing == []


def test_a_cycle_points_at_its_requirements(tmp_path: Path) -> None:
    from ordito.planning.refused import PlanRefused

    text = """
topology_template:
  node_templates:
    a: {type: tosca.nodes.Root, requirements: [{dependency: b}]}
    b: {type: tosca.nodes.Root, requirements: [{dependency: a}]}
"""
    with pytest.raises(PlanRefused) as caught:
        Written(tmp_path, text).plan()
    found = caught.value.diagnostics[0]
    assert found.code == "requirement-cycle"
    assert found.span is not None
    assert found.span.line == 5
    assert [r.span.line for r in found.related] == [5, 6]
