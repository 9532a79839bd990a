"""What users do to an ensemble and to paths, on purpose or not: the truth is told, and nothing is done on a guess."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.program import ordito

HEAD = "tosca_definitions_version: tosca_simple_yaml_1_3\n"
HELLO = """\
topology_template:
  node_templates:
    hello:
      type: tosca.nodes.Root
      interfaces: { Standard: { operations: { create: scripts/hello.sh } } }
"""


def service(home: Path, text: str = HELLO) -> None:
    (home / "service.yaml").write_text(HEAD + text)
    (home / "scripts").mkdir(exist_ok=True)
    (home / "scripts/hello.sh").write_text('echo "$INSTANCE" >> "$HOME/done"\n')


@pytest.mark.parametrize("place", ["../outside", "./here", "deep/../down", "deep/er"])
def test_an_ensemble_may_be_named_in_any_way(tmp_path: Path, place: str) -> None:
    home = tmp_path / "home"
    (home / "deep").mkdir(parents=True)
    service(home)
    deployed = ordito(home, "deploy", "service.yaml", "-e", place, "--yes")
    assert deployed.code == 0, deployed.both
    undeployed = ordito(home, "undeploy", "-e", place, "--yes")
    assert undeployed.code == 0, undeployed.both


@pytest.mark.parametrize("damage", ["cut", "instance", "status", "gone"])
def test_a_damaged_status_is_not_taken_for_nothing(tmp_path: Path, damage: str) -> None:
    """No verb says that nothing exists, and nothing is deployed over what runs."""
    service(tmp_path)
    assert ordito(tmp_path, "deploy", "service.yaml", "-e", "ensemble", "--yes").code == 0
    manifest = tmp_path / "ensemble" / "ensemble.yaml"
    text = manifest.read_text()
    match damage:
        case "cut":
            manifest.write_text(text[: text.index("  instances:")])
        case "instance":
            start, end = text.index("  instances:"), text.index("# ==== The status ends here")
            manifest.write_text(text[:start] + text[end:])
        case "status":
            manifest.write_text(text.replace("local: ok", "local: bogus"))
        case "gone":
            manifest.unlink()
    for verb in (["status"], ["output"], ["deploy", "--yes"], ["undeploy", "--yes"]):
        answer = ordito(tmp_path, *verb, "-e", "ensemble")
        assert answer.code == 3, (verb, answer.both)
        assert "Traceback" not in answer.both
    assert (tmp_path / "done").read_text() == "hello_1\n"


def test_types_in_a_folder_beside_bring_their_scripts(tmp_path: Path) -> None:
    """R-2.3-2: paths are relative to the file that contains them, also above the service's own folder."""
    for folder in ("app", "common"):
        (tmp_path / folder).mkdir()
    (tmp_path / "common/types.yaml").write_text(
        HEAD
        + """\
node_types:
  my.Node:
    derived_from: tosca.nodes.Root
    artifacts: { note: { type: tosca.artifacts.File, file: note.txt } }
    interfaces:
      Standard:
        type: tosca.interfaces.node.lifecycle.Standard
        operations:
          create:
            implementation: { primary: make.sh, dependencies: [ lib/more.sh ] }
            inputs: { copy: { default: { get_artifact: [ SELF, note, LOCAL_FILE ] }, type: string } }
"""
    )
    (tmp_path / "common/make.sh").write_text(
        '#!/bin/bash -e\n. "$(dirname "$0")/more.sh"\ncat "$note" "$copy" > "$HOME/made"\n'
    )
    (tmp_path / "common/lib").mkdir()
    (tmp_path / "common/lib/more.sh").write_text("set -u\n")
    (tmp_path / "common/note.txt").write_text("note ")
    (tmp_path / "app/service.yaml").write_text(
        HEAD + "imports: [ ../common/types.yaml ]\ntopology_template:\n  node_templates:\n    it: { type: my.Node }\n"
    )
    deployed = ordito(tmp_path, "deploy", "app", "-e", "ensemble", "--yes")
    assert deployed.code == 0, deployed.both
    assert (tmp_path / "made").read_text() == "note note "


@pytest.mark.parametrize(
    ("script", "word"),
    [("/bin/true.sh", "absolute"), ("scripts", "folder"), ("http://127.0.0.1/x.sh", "fetched"), ("none.sh", "no file")],
)
def test_a_script_that_can_never_run_is_refused_before_anything_runs(tmp_path: Path, script: str, word: str) -> None:
    service(
        tmp_path,
        HELLO
        + f"""\
    other:
      type: tosca.nodes.Root
      requirements: [ {{ dependency: hello }} ]
      interfaces:
        Standard:
          operations:
            create:
              implementation: {{ primary: {{ type: tosca.artifacts.Implementation.Bash, file: '{script}' }} }}
""",
    )
    refused = ordito(tmp_path, "deploy", "service.yaml", "-e", "ensemble", "--yes")
    assert refused.code == 3, refused.both
    assert "service.yaml:14" in refused.err
    assert word in refused.err
    assert not (tmp_path / "done").exists()


def test_what_a_machine_that_stays_still_hosts_is_not_forgotten(tmp_path: Path) -> None:
    """Only what a host that is really gone hosted went with it; what could not be removed can be tried
    again."""
    service(
        tmp_path,
        """\
topology_template:
  node_templates:
    machine: { type: tosca.nodes.Compute }
    software:
      type: tosca.nodes.SoftwareComponent
      requirements: [ { host: machine } ]
      interfaces: { Standard: { operations: { create: scripts/hello.sh, delete: scripts/delete.sh } } }
""",
    )
    (tmp_path / "scripts/delete.sh").write_text('test -e "$HOME/allowed"\n')
    assert ordito(tmp_path, "deploy", "service.yaml", "-e", "ensemble", "--yes").code == 0
    failed = ordito(tmp_path, "undeploy", "-e", "ensemble", "--yes")
    assert failed.code == 1, failed.both
    status = ordito(tmp_path, "status", "-e", "ensemble")
    assert "software_1" in status.out
    assert "error" in status.out
    (tmp_path / "allowed").touch()
    again = ordito(tmp_path, "undeploy", "-e", "ensemble", "--yes")
    assert again.code == 0, again.both
    assert "software_1" not in ordito(tmp_path, "status", "-e", "ensemble").out


def test_what_was_deployed_is_removed_by_what_was_deployed_and_nothing_else(tmp_path: Path) -> None:
    """A script that somebody changed in the pinned files is not run, but where things are removed, which says so."""
    service(tmp_path, HELLO.replace("create: scripts/hello.sh", "create: scripts/hello.sh, delete: scripts/hello.sh"))
    assert ordito(tmp_path, "deploy", "service.yaml", "-e", "ensemble", "--yes").code == 0
    (script,) = (tmp_path / "ensemble/artifacts").rglob("hello.sh")
    before = script.read_text()
    script.chmod(0o644)
    script.write_text("touch $HOME/changed\n")
    for verb in ("restart hello", "heal --reinstall hello"):
        refused = ordito(tmp_path, *verb.split(), "-e", "ensemble", "--yes")
        assert refused.code == 3, refused.both
        assert "hello.sh" in refused.err
        assert "state renew" in refused.err
    assert not (tmp_path / "changed").exists()
    planned = ordito(tmp_path, "plan", "undeploy", "-e", "ensemble")
    assert "changed-files" in planned.both
    assert ordito(tmp_path, "state", "renew", "-e", "ensemble").code == 0
    assert script.read_text() == before
    assert ordito(tmp_path, "undeploy", "-e", "ensemble", "--yes").code == 0
    assert not (tmp_path / "changed").exists()


def test_the_next_command_is_one_that_can_be_typed(tmp_path: Path) -> None:
    """What runs in another form is replaced; what is not there any more is made."""
    service(tmp_path)
    assert ordito(tmp_path, "deploy", "service.yaml", "-e", "ensemble", "--yes").code == 0
    script = tmp_path / "scripts" / "hello.sh"
    script.write_text(script.read_text() + "# changed\n")
    changed = ordito(tmp_path, "deploy", "-e", "ensemble", "--yes")
    assert changed.code == 0, changed.both
    assert "hello_1" in changed.err
    assert "1 to replace" in changed.err
    assert (tmp_path / "done").read_text() == "hello_1\nhello_1\n"


def test_a_remembered_input_is_named(tmp_path: Path) -> None:
    """The ensemble's file says one thing and an earlier command another: whoever deploys is told."""
    service(
        tmp_path,
        """\
topology_template:
  inputs: { count: { type: integer } }
  node_templates:
    hello: { type: tosca.nodes.Root, occurrences: [ 0, 9 ], instance_count: { get_input: count } }
""",
    )
    deploy = ("deploy", "-e", "ensemble", "--yes")
    assert ordito(tmp_path, "deploy", "service.yaml", "-e", "ensemble", "--yes", "-i", "count=1").code == 0
    assert "remembered-input" not in ordito(tmp_path, *deploy, "-i", "count=3").err
    again = ordito(tmp_path, *deploy)
    assert again.code == 0
    assert '"count" has the value of an earlier command, 3' in again.err


def test_what_was_given_once_can_be_forgotten_and_a_default_is_not_announced(tmp_path: Path) -> None:
    (tmp_path / "service.yaml").write_text(
        """\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  inputs: { count: { type: integer, default: 2 }, unused: { type: string, default: none } }
  node_templates:
    hello: { type: tosca.nodes.Root, occurrences: [ 0, 9 ], instance_count: { get_input: count } }
""",
    )
    deploy = ("deploy", "-e", "ensemble", "--yes")
    assert ordito(tmp_path, "deploy", "service.yaml", "-e", "ensemble", "--yes").code == 0
    ordito(tmp_path, *deploy, "-i", "count=3", "-i", "unused=some")
    told = ordito(tmp_path, *deploy)
    assert '"count" has the value of an earlier command, 3' in told.err
    assert "--forget-input count" in told.err
    assert ordito(tmp_path, *deploy, "-i", "count=2").code == 0
    assert '"count" has' not in ordito(tmp_path, *deploy).err, "it is the default"
    ordito(tmp_path, *deploy, "-i", "count=4")
    saved = ordito(tmp_path, "plan", "-e", "ensemble", "--forget-input", "count", "--out", "less.plan")
    assert "2 to remove" in saved.out, saved.both
    assert ordito(tmp_path, "deploy", "-e", "ensemble", "less.plan", "--yes").code == 0
    assert "count: 4" not in (tmp_path / "ensemble" / "ensemble.yaml").read_text()
    # Nothing that exists changes by it, and it is forgotten all the same.
    assert ordito(tmp_path, *deploy, "--forget-input", "unused").code == 0
    assert "earlier command" not in ordito(tmp_path, *deploy).err
    assert "nothing-forgotten" in ordito(tmp_path, *deploy, "--forget-input", "unused").err
    assert ordito(tmp_path, *deploy, "--forget-input", "count", "-i", "count=1").code == 64
    assert ordito(tmp_path, "jobs", "replay", "-e", "ensemble").code == 0


def test_what_the_user_wrote_is_never_replaced(tmp_path: Path) -> None:
    """A user's part without a service is the user's all the same."""
    service(tmp_path)
    (tmp_path / "ensemble").mkdir()
    manifest = tmp_path / "ensemble/ensemble.yaml"
    for written in ("# a note\n", "spec:\n  inputs: {}\n"):
        manifest.write_text(written)
        refused = ordito(tmp_path, "deploy", "service.yaml", "-e", "ensemble", "--yes")
        assert refused.code == 3, refused.both
        assert "names no service" in refused.err
        assert manifest.read_text() == written
    manifest.write_text("# a note\nspec: { service: ../service.yaml }")
    assert ordito(tmp_path, "deploy", "-e", "ensemble", "--yes").code == 0
    assert manifest.read_text().startswith("# a note\nspec: { service: ../service.yaml }\n# ====")


def test_a_service_is_deployed_where_it_lies(tmp_path: Path) -> None:
    """`init` and `deploy` are enough."""
    assert ordito(tmp_path, "init", "mine").code == 0
    deployed = ordito(tmp_path, "deploy", "-e", "mine", "--yes")
    assert deployed.code == 0, deployed.both
    assert "Hello" in ordito(tmp_path, "output", "greeting", "-e", "mine").out


def test_a_changed_pin_is_replaced_where_its_source_is_at_hand(tmp_path: Path) -> None:
    """What runs is what was read: neither somebody's change nor what a script leaves beside itself gets in the way."""
    growing = """\
topology_template:
  inputs: { count: { type: integer, default: 1 } }
  node_templates:
    hello:
      type: tosca.nodes.Root
      occurrences: [ 0, 9 ]
      instance_count: { get_input: count }
      interfaces: { Standard: { operations: { create: scripts/hello.sh, delete: scripts/hello.sh } } }
"""
    service(tmp_path, growing)
    with (tmp_path / "scripts/hello.sh").open("a") as script:
        script.write('mkdir -p "$(dirname "$0")/__pycache__"; touch "$(dirname "$0")/__pycache__/x.pyc"\n')
    assert ordito(tmp_path, "deploy", "service.yaml", "-e", "ensemble", "--yes").code == 0
    (pinned,) = (tmp_path / "ensemble/artifacts").rglob("hello.sh")
    pinned.write_text('touch "$HOME/changed"\n')
    grown = ordito(tmp_path, "deploy", "-e", "ensemble", "--yes", "-i", "count=2")
    assert grown.code == 0, grown.both
    assert (tmp_path / "done").read_text() == "hello_1\nhello_2\n"
    undeployed = ordito(tmp_path, "undeploy", "-e", "ensemble", "--yes")
    assert undeployed.code == 0, undeployed.both
    assert not (tmp_path / "changed").exists()


def test_a_host_stays_while_something_on_it_could_not_be_removed(tmp_path: Path) -> None:
    """Its addresses are still known when it is tried again, and nothing is put on a host that is gone."""
    service(
        tmp_path,
        """\
topology_template:
  inputs: { count: { type: integer, default: 2 } }
  node_templates:
    machine: { type: tosca.nodes.Compute, occurrences: [ 0, 9 ], instance_count: { get_input: count } }
    software:
      type: tosca.nodes.SoftwareComponent
      occurrences: [ 0, 9 ]
      instance_count: { get_input: count }
      requirements: [ { host: machine } ]
      interfaces:
        Standard:
          inputs: { ADDRESS: { get_attribute: [ HOST, private_address ] } }
          operations: { create: scripts/hello.sh, delete: scripts/delete.sh }
""",
    )
    (tmp_path / "scripts/delete.sh").write_text('test -n "$ADDRESS" && test ! -e "$HOME/fail.$INSTANCE"\n')
    assert ordito(tmp_path, "deploy", "service.yaml", "-e", "ensemble", "--yes").code == 0
    (tmp_path / "fail.software_2").touch()
    failed = ordito(tmp_path, "deploy", "-e", "ensemble", "--yes", "-i", "count=1")
    assert failed.code == 1, failed.both
    status = ordito(tmp_path, "status", "-e", "ensemble").out
    assert "machine_2" in status
    assert "software_2" in status
    (tmp_path / "fail.software_2").unlink()
    again = ordito(tmp_path, "deploy", "-e", "ensemble", "--yes", "-i", "count=1")
    assert again.code == 0, again.both
    status = ordito(tmp_path, "status", "-e", "ensemble").out
    assert "machine_2" not in status
    assert "software_2" not in status
    assert ordito(tmp_path, "undeploy", "-e", "ensemble", "--yes").code == 0
