"""What `ordito check` proposes where something is not well."""

from pathlib import Path

from tests.cli.program import Run

SERVICE = """
tosca_definitions_version: tosca_simple_yaml_1_3
imports: [ "profile:ordito" ]
topology_template:
  node_templates:
    web:
      type: tosca.nodes.Root
      occurrences: [ 1, 6 ]
      instance_count: 6
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
    for number in range(1, 7):
        (place / f"web_{number}").touch()
    found = run("check")
    assert "ordito heal web " in found.err, "of many their node"
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


def test_the_last_line_of_a_check_says_why_it_is_not_well(run: Run, tmp_path: Path) -> None:
    """With its exit code; what is secret is hidden in it."""
    (tmp_path / "service.yaml").write_text(PRINTING)
    (tmp_path / "start.sh").write_text("true\n")
    (tmp_path / "check.sh").write_text('echo looking; echo "no process knows $token" >&2; echo; exit 1\n')
    assert run("deploy", "service.yaml", "--yes").code == 0
    found = run("check")
    assert "it says: exit 1: no process knows " in found.out
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
