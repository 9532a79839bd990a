"""The helpers that authors test with: they do what `ordito` does, and need nothing but their own service."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ordito.app.errors import Refused
from ordito.app.requests import ScaleRequest, StopRequest, UpgradeRequest
from ordito.base.diagnostics import InvalidDocument
from ordito.executors.local import local_executors
from ordito.testing import (
    FakeClock,
    MemoryEnsemble,
    RecordingExecutor,
    fails,
    run_block,
    run_operation,
    run_workflow,
    temporary_ensemble,
    unreachable,
)
from ordito.work.events import StepStarted, StepSucceeded
from ordito.work.invocation import Ending, Invocation

CATALOGUE = Path(__file__).parent.parent / "examples" / "catalogue"

SERVICE = """
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  my.Part:
    derived_from: tosca.nodes.Root
    properties: { size: { type: integer, default: 1 } }
    attributes: { at: { type: string } }
    capabilities: { scalable: tosca.capabilities.Scalable }
    interfaces:
      Standard:
        operations:
          create:
            implementation: create.sh
            inputs: { size: { get_property: [ SELF, size ] } }
            outputs: { at: [ SELF, at ] }
          start: start.sh
          stop: stop.sh
          delete: delete.sh
topology_template:
  inputs: { size: { type: integer, default: 2 } }
  node_templates:
    app:
      type: my.Part
      capabilities: { scalable: { properties: { min_instances: 1, max_instances: 3, default_instances: 1 } } }
      requirements: [ dependency: database ]
    database: { type: my.Part, properties: { size: { get_input: size } } }
  outputs: { at: { value: { get_attribute: [ database, at ] } } }
"""


def test_a_workflow_in_memory_tells_the_order_the_inputs_and_what_there_is() -> None:
    executor = RecordingExecutor({"database_1.Standard.create": {"at": "here"}})
    run = run_workflow(SERVICE, inputs={"size": 7}, executor=executor)
    assert run.status == "ok"
    assert executor.steps == [
        *("database_1.Standard.create", "database_1.Standard.start"),
        *("app_1.Standard.create", "app_1.Standard.start"),
    ]
    assert executor.call("database_1.Standard.create").environment["size"] == "7"
    assert run.ensemble.attributes("database_1") == {"at": "here"}
    assert {i.id: (i.state, i.local) for i in run.ensemble.instances.values()} == {
        "app_1": ("started", "ok"),
        "database_1": ("started", "ok"),
    }
    assert [e.step for e in run.events if isinstance(e, StepSucceeded) and not e.no_op] == executor.steps
    with pytest.raises(LookupError, match="these were: database_1"):
        executor.call("app_1.Standard.stop")


def test_one_workflow_follows_the_other() -> None:
    executor = RecordingExecutor()
    ensemble = MemoryEnsemble(SERVICE, executors=[executor])
    ensemble.run()
    assert ensemble.run("deploy").plan.is_empty
    executor.calls.clear()
    assert ensemble.run("stop", about=["database_1"]).status == "ok"
    assert executor.steps == ["app_1.Standard.stop", "database_1.Standard.stop"]
    assert ensemble.run("deploy").status == "ok"
    assert ensemble.run("scale", scale={"app": 3}).status == "ok"
    assert sorted(ensemble.instances) == ["app_1", "app_2", "app_3", "database_1"]
    assert ensemble.run("undeploy").status == "ok"
    assert not ensemble.instances


def answered(invocation: Invocation) -> dict[str, object]:
    return {"at": f"attempt {invocation.attempt} of {invocation.step}"}


def test_answers_are_by_pattern_and_by_time() -> None:
    executor = RecordingExecutor({"*.start": [fails(3, "no port"), unreachable(), {}], "*.create": answered})
    ensemble = MemoryEnsemble(SERVICE, executors=[executor])
    first = ensemble.run()
    assert (first.status, first.failures[0].outcome.exit_code) == ("failed", 3)
    assert first.failures[0].outcome.message == "no port"
    assert ensemble.run().failures[0].outcome.ending is Ending.UNREACHABLE
    assert ensemble.run().status == "ok"
    assert ensemble.attributes("database_1") == {"at": "attempt 1 of database_1.Standard.create"}


def test_an_operation_lasts_as_long_as_its_answer_lets_the_clock_go_on() -> None:
    def slow(invocation: Invocation) -> dict[str, object]:
        ensemble.clock.advance(3600)
        return {"at": "here"}

    ensemble = MemoryEnsemble(SERVICE, executors=[RecordingExecutor({"database_1.Standard.create": slow})])
    events = ensemble.run().events
    (started,) = [e.at for e in events if isinstance(e, StepStarted) and e.step == "database_1.Standard.create"]
    (ended,) = [e.at for e in events if isinstance(e, StepSucceeded) and e.step == "database_1.Standard.create"]
    assert 3600 <= ended - started < 3700


def test_what_is_wrong_with_a_service_or_an_input_is_said() -> None:
    with pytest.raises(InvalidDocument, match="nowhere"):
        MemoryEnsemble(SERVICE.replace("dependency: database", "dependency: nowhere"))
    with pytest.raises(InvalidDocument, match="size"):
        MemoryEnsemble(SERVICE, {"size": "large"})


def test_a_fake_clock_goes_on_when_it_is_asked_and_told() -> None:
    clock = FakeClock(100.0, step=0.0)
    clock.advance(60)
    assert (clock.now(), clock.monotonic()) == (160.0, 160.0)
    assert FakeClock(100.0).now() == 101.0


def test_an_executor_is_tested_by_itself(tmp_path: Path) -> None:
    (tmp_path / "say.sh").write_text('echo "hello $name"; said="$name"')
    (executor, *_) = [e for e in local_executors(tmp_path / "scratch", "") if e.accepts([BASH], "")]
    ran = run_operation(executor, tmp_path, "say.sh", {"name": "you"}, kind=BASH, outputs=["said"])
    assert ran.outcome.succeeded
    assert ran.outcome.outputs == {"said": "you"}
    assert ran.printed == "hello you\n"
    with pytest.raises(LookupError, match="accepts no"):
        run_operation(executor, tmp_path, "say.sh", kind="my.artifacts.Poem")


BASH = "tosca.artifacts.Implementation.Bash"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "service.yaml").write_text(SERVICE)
    (tmp_path / "create.sh").write_text('at="$size at $INSTANCE"')
    for operation in ("start", "stop", "delete"):
        (tmp_path / f"{operation}.sh").write_text(f'[ "$INSTANCE" != "$(cat "{tmp_path}/{operation}.fails" 2>&1)" ]')
    return tmp_path


def test_an_ensemble_on_disk_is_deployed_changed_and_removed(site: Path) -> None:
    with temporary_ensemble(site, {"size": 4}) as ensemble:
        folder = ensemble.directory
        assert ensemble.outputs == {"at": "4 at database_1"}
        assert ensemble.deploy() is None
        stopped = ensemble.run(StopRequest(("database",)))
        assert stopped is not None
        assert stopped.status == "ok"
        assert ensemble.instances["app_1"].state == "configured"
        ensemble.deploy()
        ensemble.run(ScaleRequest(counts={"app": 2}))
        assert sorted(ensemble.instances) == ["app_1", "app_2", "database_1"]
        (site / "service.yaml").write_text(SERVICE.replace("default: 2", "default: 2, description: d"))
        upgraded = ensemble.run(UpgradeRequest())
        assert upgraded is None or upgraded.status == "ok"
        assert ensemble.attributes("database_1")["at"] == "4 at database_1"
        assert ensemble.events
    assert not folder.parent.exists()


def test_what_a_test_leaves_behind_is_said_and_stays(site: Path) -> None:
    (site / "delete.fails").write_text("app_1")
    with pytest.raises(Refused, match="app_1"), temporary_ensemble(site, {}) as ensemble:
        folder = ensemble.directory
    assert (folder / "ensemble.yaml").exists()


def test_nobody_else_loads_it_and_it_needs_no_test_framework() -> None:
    code = "import sys, ordito.testing; assert not {'pytest', 'hypothesis'} & sys.modules.keys()"
    subprocess.run([sys.executable, "-c", code], check=True)
    code = "import sys, ordito.cli.main; assert 'ordito.testing' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_block_is_carried_out_and_undone_by_itself(tmp_path: Path) -> None:
    lines: list[str] = []
    name = "opm.dev/lifecycle/notify@v0#Slack"
    tested = run_block(CATALOGUE, name, {"text": "done"}, lines=lines)
    assert tested.succeeded, tested
    assert any("done" in line for line in lines)
    with pytest.raises(InvalidDocument):
        run_block(CATALOGUE, name, {"txet": "done"})
    with pytest.raises(Refused):
        run_block(CATALOGUE, "example.org/lifecycle/none@v1#None")


def test_texts_are_given_as_they_are(tmp_path: Path) -> None:
    """Also those that would be read as something else where a command gives them."""
    text = "tosca_definitions_version: tosca_simple_yaml_1_3\ntopology_template:\n"
    text += "  inputs: { word: { type: string } }\n"
    text += "  node_templates: { a: { type: tosca.nodes.Root } }\n  outputs: { word: { value: { get_input: word } } }\n"
    for word in ("plain", '"quoted"', "5", "true", ""):
        with temporary_ensemble(text, {"word": word}) as ensemble:
            assert ensemble.outputs == {"word": word}
