"""What `ordito check` proposes where something is not well."""

import json
from pathlib import Path

import pytest

from tests.cli.program import Run

SERVICE = """
tosca_definitions_version: tosca_simple_yaml_1_3
imports: [ "profile:ordito" ]
topology_template:
  node_templates:
    web:
      type: tosca.nodes.Root
      occurrences: [ 1, 13 ]
      instance_count: 13
      interfaces:
        Maintain:
          type: ordito.interfaces.Maintain
          operations: { check: { implementation: check.sh, inputs: { place: PLACE } } }
"""


def test_what_is_in_error_is_proposed_to_be_healed(run: Run, tmp_path: Path) -> None:
    place = tmp_path / "marks"
    place.mkdir()
    (tmp_path / "service.yaml").write_text(SERVICE.replace("PLACE", str(place)))
    (tmp_path / "check.sh").write_text('[ ! -e "$place/$INSTANCE" ]\n')
    assert run("deploy", "service.yaml", "--yes").code == 0
    assert "ordito heal" not in run("check").err
    (place / "web_2").touch()
    assert "ordito heal web_2 " in run("check").err
    for number in range(1, 14):
        (place / f"web_{number}").touch()
    found = run("check")
    assert "ordito deploy " in found.err, "of many the verb that repairs them all"
    assert "ordito heal" not in found.err
    assert "  it says: exit 1\n" in found.out


PRINTING = """
tosca_definitions_version: tosca_simple_yaml_1_3
imports: [ "profile:ordito" ]
topology_template:
  inputs: { token: { type: string, metadata: { sensitive: "true" }, default: hunter2hunter2 } }
  node_templates:
    web:
      type: tosca.nodes.Root
      interfaces:
        Standard: { operations: { create: start.sh } }
        Maintain:
          type: ordito.interfaces.Maintain
          operations: { check: { implementation: check.sh, inputs: { token: { get_input: token } } } }
"""


def test_the_last_lines_of_a_check_say_why_it_is_not_well(run: Run, tmp_path: Path) -> None:
    """With its exit code; what is secret is hidden in them, and what steers a terminal. The log has all."""
    (tmp_path / "service.yaml").write_text(PRINTING)
    (tmp_path / "start.sh").write_text("true\n")
    (tmp_path / "check.sh").write_text(
        'for i in 1 2 3 4 5; do echo looking $i; done; printf "%0500d\\n" 0; printf "\\033[2Jred\\n"\n'
        'echo "no process knows $token" >&2; echo; exit 1\n'
    )
    assert run("deploy", "service.yaml", "--yes").code == 0
    found = run("check")
    said = found.out.partition("  it says: exit 1\n")[2].splitlines()
    assert [line.strip().partition(" ")[2] for line in said[:2]] == ["looking 4", "looking 5"]
    assert 300 < len(said[2]) < 420
    assert "\\x1b[2Jred" in said[3]
    assert "no process knows " in said[4]
    assert "looking 3" not in found.out
    assert f"ordito jobs logs {found.err.partition('job ')[2][:12]}    read all that the checks printed" in found.err
    told = json.loads(run("check", "-o", "json").out)
    assert told["instances"]["web_1"]["reason"].startswith("exit 1: no process knows ")
    assert "hunter2" not in found.out + found.err + run("jobs", "show").out
    assert "exit 1: no process knows" in run("jobs", "show").out


def test_operations_have_been_carried_out_when_their_tasks_began(run: Run, tmp_path: Path) -> None:
    """Not when their job did, which may be long before."""
    (tmp_path / "service.yaml").write_text(PRINTING)
    (tmp_path / "start.sh").write_text("true\n")
    (tmp_path / "check.sh").write_text("true\n")
    assert run("deploy", "service.yaml", "--yes").code == 0
    history = tmp_path / "jobs.tsv"
    lines = history.read_text().splitlines(keepends=True)
    (number,) = (n for n, line in enumerate(lines) if "\tStandard.create\t" in line)
    change, start = lines[number].split("\t")[0], lines[number].split("\t")[7]
    assert start.startswith("20")
    lines[number] = lines[number].replace(start, "2031-02-03T04:05:06.789Z")
    history.write_text("".join(lines))
    carried_out = run("describe", "web_1").out.partition("Carried out")[2]
    assert f"Standard.create 2031-02-03T04:05:06Z {change}" in " ".join(carried_out.split())
    operations = {o["operation"]: o["at"] for o in run("describe", "web_1", "-o", "json").json["operations"]}
    assert operations["Standard.create"] == "2031-02-03T04:05:06Z"
    history.unlink()
    assert change in run("describe", "web_1").out


CHAIN = """
tosca_definitions_version: tosca_simple_yaml_1_3
imports: [ "profile:ordito" ]
node_types:
  my.Part:
    derived_from: tosca.nodes.Root
    metadata: { ordito.ready: 1 }
    requirements: [ { base: { capability: tosca.capabilities.Node, occurrences: [ 0, 1 ] } } ]
    interfaces:
      Standard: { operations: { start: start.sh, stop: stop.sh, delete: delete.sh } }
      Maintain:
        type: ordito.interfaces.Maintain
        operations: { check: { implementation: check.sh, inputs: { place: PLACE } } }
topology_template:
  node_templates:
    web: { type: my.Part, occurrences: [ 1, 3 ], instance_count: 3, requirements: [ { base: db } ] }
    db: { type: my.Part }
"""


INSIDE = CHAIN.replace(
    "topology_template:",
    """  my.Engine: { derived_from: my.Part, capabilities: { host: tosca.capabilities.Container } }
  my.Inside:
    derived_from: my.Part
    requirements:
      - host: { capability: tosca.capabilities.Container, relationship: tosca.relationships.HostedOn }
topology_template:""",
).replace(
    "{ type: my.Part }", "{ type: my.Inside, requirements: [ { host: engine } ] }\n    engine: { type: my.Engine }"
)


@pytest.fixture
def chain(run: Run, tmp_path: Path, request: pytest.FixtureRequest) -> Run:
    """A database and three that require it; a file ``INSTANCE`` holds the exit code of the check of an instance."""
    (tmp_path / "service.yaml").write_text(getattr(request, "param", CHAIN).replace("PLACE", str(tmp_path)))
    (tmp_path / "start.sh").write_text(":\n")
    (tmp_path / "stop.sh").write_text(f'echo "stop $INSTANCE" >>"{tmp_path}/log"\n')
    (tmp_path / "delete.sh").write_text(f'echo "delete $INSTANCE" >>"{tmp_path}/log"\n')
    (tmp_path / "check.sh").write_text('[ ! -e "$place/$INSTANCE" ] || exit "$(<"$place/$INSTANCE")"\n')
    assert run("deploy", "service.yaml", "--yes").code == 0
    return run


def test_what_is_unknown_is_proposed_to_be_healed_before_what_requires_it(chain: Run, tmp_path: Path) -> None:
    """Alone, what requires it is refused, and nothing is stopped or deleted in vain."""
    (tmp_path / "db_1").write_text("2")
    for number in (1, 2, 3):
        (tmp_path / f"web_{number}").write_text("1")
    assert "ordito heal db_1 web_1 web_2 web_3 " in chain("check").err
    refused = chain("heal", "web_1", "web_2", "--yes")
    assert refused.code == 3
    assert "error[required-first]" in refused.err
    assert "db_1 (unknown)" in refused.err
    assert "ordito heal db_1 web_1 web_2 " in refused.err
    assert not (tmp_path / "log").exists()
    for name in ("db_1", "web_1", "web_2", "web_3"):
        (tmp_path / name).unlink()
    healed = chain("heal", "db_1", "web_1", "web_2", "web_3", "--yes")
    assert healed.code == 0, healed.err
    assert chain("status", "--detailed-exitcode").code == 0


@pytest.mark.parametrize("chain", [INSIDE], indirect=True)
def test_what_lies_on_what_is_healed_is_healed_with_it(chain: Run, tmp_path: Path) -> None:
    """It is not asked for by itself, neither by the proposal nor by what that comes to."""
    for name in ("engine_1", "db_1", "web_1"):
        (tmp_path / name).write_text("3")
    found = chain("check").err
    assert "ordito heal engine_1 web_1 " in found
    assert "error[required-first]: web_1" in chain("heal", "web_1", "--yes").err
    for name in ("engine_1", "db_1", "web_1"):
        (tmp_path / name).unlink()
    assert chain("heal", "engine_1", "web_1", "--yes").code == 0
    assert chain("status", "--detailed-exitcode").code == 0


def test_what_requires_what_could_not_be_healed_is_left_as_it_is(chain: Run, tmp_path: Path) -> None:
    (tmp_path / "db_1").write_text("1")
    (tmp_path / "web_1").write_text("1")
    chain("check")
    healed = chain("heal", "web_1", "db_1", "--yes")
    assert healed.code == 1
    assert "web_1 cannot be healed before what it requires is ok: db_1 (error); it was not healed" in healed.err
    assert "web_1" not in (tmp_path / "log").read_text()


def test_an_instance_that_is_missed_counts(chain: Run, tmp_path: Path) -> None:
    """The headline is not ok, and what repairs it is proposed."""
    (tmp_path / "web_2").write_text("3")
    found = chain("check", "--detailed-exitcode")
    assert found.code == 2
    assert "  web_1  ok=1\n  web_2  says absent=1\n" in found.err
    assert "ordito heal web_2 " in found.err
    shown = chain("status", "--detailed-exitcode")
    assert shown.code == 2
    assert "service  degraded" in shown.out
    (tmp_path / "web_2").unlink()
    assert chain("heal", "web_2", "--yes").code == 0
    assert "service  ok" in chain("status").out


BARE = """
tosca_definitions_version: tosca_simple_yaml_1_3
interface_types:
  my.Poking: { derived_from: tosca.interfaces.Root, operations: { poke: {} } }
topology_template:
  node_templates:
    bare:
      type: my.Bare
node_types:
  my.Bare:
    derived_from: tosca.nodes.Root
    interfaces: { My: { type: my.Poking, operations: { poke: poke.sh } } }
"""


def test_what_is_unknown_does_not_become_ok_where_nothing_is_asked_or_run(run: Run, tmp_path: Path) -> None:
    """A deployment fails there, and says what helps."""
    (tmp_path / "service.yaml").write_text(BARE)
    (tmp_path / "poke.sh").write_text("exit 4\n")
    assert run("deploy", "service.yaml", "--yes").code == 0
    assert run("run", "My.poke", "--yes").code == 1
    failed = run("deploy", "--yes")
    assert failed.code == 1
    assert "its status is not known" in failed.err
    assert "ordito heal bare_1 " in failed.err.partition("Next:")[2].splitlines()[1]
    assert "bare_1  started  unknown" in run("status").out
    healed = run("heal", "bare_1", "--yes")
    assert (healed.code, "no operation can check it" in healed.out) == (0, True)
    assert "bare_1  started  ok" in run("status").out


LINKED = """
tosca_definitions_version: tosca_simple_yaml_1_3
imports: [ "profile:ordito" ]
node_types:
  my.Part:
    derived_from: tosca.nodes.Root
    metadata: { ordito.ready: 1 }
    interfaces:
      Standard: { operations: { configure: fine.sh, start: start.sh } }
      Maintain: { type: ordito.interfaces.Maintain, operations: { check: { implementation: check.sh } } }
relationship_types:
  my.Link:
    derived_from: tosca.relationships.DependsOn
    interfaces: { Configure: { operations: { add_target: link.sh } } }
topology_template:
  node_templates:
    db: { type: tosca.nodes.Root }
    web: { type: my.Part, requirements: [ { dependency: { node: db, relationship: my.Link } } ] }
"""


@pytest.fixture
def linked(run: Run, tmp_path: Path) -> Run:
    (tmp_path / "service.yaml").write_text(LINKED)
    for name in ("fine", "start", "link"):
        (tmp_path / f"{name}.sh").write_text(f'[ ! -e "{tmp_path}/{name}" ]\n')
    (tmp_path / "check.sh").write_text("exit 2\n")
    return run


def test_healing_where_only_a_link_has_failed_names_what_makes_it(linked: Run, tmp_path: Path) -> None:
    (tmp_path / "check.sh").write_text(":\n")
    (tmp_path / "link").touch()
    assert linked("deploy", "service.yaml", "--yes").code == 1
    healed = linked("heal", "web", "--yes")
    assert "web_1  is ok itself, but its relationship with db_1 has failed" in healed.out
    assert "ordito deploy " in healed.err
    assert "nothing to heal" not in healed.out
    (tmp_path / "link").unlink()
    assert linked("deploy", "--yes").code == 0
    assert "web_1  is ok: nothing to heal" in linked("heal", "web", "--yes").out


def test_what_was_stopped_stays_pending(linked: Run) -> None:
    """A check that cannot say how it is does not make it unknown."""
    assert linked("deploy", "service.yaml", "--yes").code == 0
    assert linked("stop", "web", "--yes").code == 0
    linked("check")
    assert "web_1  configured  pending" in linked("status").out
