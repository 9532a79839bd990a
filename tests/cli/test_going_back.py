"""`ordito rollback`, and jobs that take themselves back: what ran before runs again, and the comparison says so."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from tests.cli.program import Run

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
imports: [ profile:ordito ]
data_types:
  my.Config: { properties: { note: { type: string } } }
policy_types:
  my.org/life@v1#Note: &step
    { derived_from: ordito.policies.LifecycleStep, version: 1.0.0, properties: { config: { type: my.Config } } }
  my.org/life@v1#Kept: *step
node_types:
  my.org/life@v1#Note:
    derived_from: ordito.nodes.LifecycleBlock
    version: 1.0.0
    interfaces: { Block: { operations: { execute: hook.sh, undo: undo.sh } } }
  my.org/life@v1#Kept:
    derived_from: ordito.nodes.LifecycleBlock
    version: 1.0.0
    interfaces: { Block: { operations: { execute: hook.sh } } }
  my.Node:
    derived_from: tosca.nodes.Root
    properties: { word: { type: string } }
    interfaces:
      Standard:
        operations:
          create: { implementation: op.sh, inputs: { op: create } }
          configure: { implementation: op.sh, inputs: { op: configure, word: { get_property: [ SELF, word ] } } }
          start: { implementation: op.sh, inputs: { op: start, word: { get_property: [ SELF, word ] } } }
          stop: { implementation: op.sh, inputs: { op: stop, word: { get_property: [ SELF, word ] } } }
          delete: { implementation: op.sh, inputs: { op: delete, word: { get_property: [ SELF, word ] } } }
topology_template:
  node_templates:
"""
OP = """\
echo "$INSTANCE.$op $word" >>HOME/log
if [ -e HOME/fail.$INSTANCE.$op ]; then exit 1; fi
"""
HOOK = """\
echo "WHAT $CONFIG_note" >>HOME/log
if [ -e "HOME/fail.$CONFIG_note" ]; then exit 1; fi
"""


class Versions:
    """A service in several versions, and what its operations have written down."""

    def __init__(self, home: Path, run: Run) -> None:
        self.home = home
        self.run = run

    def write(self, name: str, nodes: dict[str, tuple[str, str]], policies: str = "") -> str:
        """A version of the service: each node with its word and what it requires; gives its folder."""
        folder = self.home / name
        folder.mkdir()
        text = SERVICE
        for node, (word, required) in nodes.items():
            needs = f", requirements: [ {{ dependency: {required} }} ]" if required else ""
            text += f"    {node}: {{ type: my.Node, properties: {{ word: '{word}' }}{needs} }}\n"
        (folder / "service.yaml").write_text(text + policies)
        (folder / "op.sh").write_text(OP.replace("HOME", str(self.home)))
        for what in ("hook", "undo"):
            (folder / f"{what}.sh").write_text(HOOK.replace("HOME", str(self.home)).replace("WHAT", what))
        return name

    def __call__(self, *words: str, code: int = 0) -> str:
        """Run a command about the ensemble that is to end with this code; gives all that it printed."""
        done = self.run("-e", "e", *words)
        assert done.code == code, done.out + done.err
        return done.out + done.err

    def log(self) -> list[str]:
        """What was written down since this was asked last."""
        path = self.home / "log"
        found = path.read_text().splitlines() if path.exists() else []
        path.unlink(missing_ok=True)
        return found


@pytest.fixture
def versions(tmp_path: Path, run: Run) -> Versions:
    return Versions(tmp_path, run)


ONE = {"api": ("1", ""), "web": ("1", "api")}
TWO = {"api": ("2", ""), "cache": ("1", "")}


def failing(versions: Versions, *words: str, code: int) -> list[str]:
    """An upgrade from the first to the second version of which the last step fails; gives what it has done."""
    versions("deploy", versions.write("one", ONE), "--yes", "-q")
    versions.write("two", {**TWO, "last": ("1", "api")})
    (versions.home / "fail.last_1.start").touch()
    versions.log()
    versions("upgrade", "two", "--yes", "-q", *words, code=code)
    return versions.log()


def test_an_upgrade_that_fails_takes_itself_back(versions: Versions) -> None:
    done = failing(versions, "--on-failure", "rollback", code=7)
    forth, back = done[: done.index("last_1.start 1") + 1], done[done.index("last_1.start 1") + 1 :]
    assert [line for line in forth if line.startswith("api")] == ["api_1.stop 1", "api_1.configure 2", "api_1.start 2"]
    assert [line for line in back if line.startswith("last")] == ["last_1.stop 1", "last_1.delete 1"]
    assert [line for line in back if line.startswith("api")] == ["api_1.stop 2", "api_1.configure 1", "api_1.start 1"]
    # What would have been removed last was never touched, though it requires what was changed.
    assert [line for line in done if line.startswith("web")] == []
    # Neither the service nor its forms are others than before.
    assert "No differences" in versions("diff", "one")
    assert "No differences" in versions("diff")
    assert [r["revision"] for r in versions.run("-e", "e", "revisions", "-o", "json").json["revisions"]] == [1]
    assert set(versions.run("-e", "e", "status", "-o", "json").json["instances"]) >= {"api_1", "web_1"}
    assert "exactly what ensemble.yaml says" in versions("jobs", "replay")


def test_what_a_rollback_has_made_again_is_said(versions: Versions) -> None:
    versions("deploy", versions.write("one", {"api": ("1", "")}), "--yes", "-q")
    versions.write("two", {"api": ("1", ""), "last": ("1", "api")})
    (versions.home / "fail.last_1.start").touch()
    words = ("upgrade", "two", "--yes", "--replace", "api", "--on-failure", "rollback")
    said = versions(*words, code=7)
    assert "a failure would roll back over what is replaced: api_1" in said
    assert "What it did was rolled back, except for this:\n  api_1 was created again, and its data is lost" in said
    assert "Everything that it did" not in said
    shown = versions("jobs", "show")
    assert "made again  api_1: the data there is lost" in shown
    assert versions.run("-e", "e", *words, "-o", "json").json["again"] == ["api_1"]
    assert "exactly what ensemble.yaml says" in versions("jobs", "replay")
    # Of what is changed in place nothing is lost.
    versions.write("three", {"api": ("2", ""), "last": ("1", "api")})
    said = versions("upgrade", "three", "--yes", "--on-failure", "rollback", code=7)
    assert "Everything that it did was rolled back." in said
    assert "replaced" not in said


def test_what_was_lost_since_is_said_before_going_back(versions: Versions) -> None:
    versions("deploy", versions.write("one", {"api": ("1", ""), "web": ("1", "api")}), "--yes", "-q")
    two = versions.write("two", {"api": ("2", ""), "web": ("1", "api"), "new": ("1", "")})
    versions("upgrade", two, "--yes", "-q", "--replace", "api")
    lost = "api_1 was removed and created again since revision 1: what it held then is not restored"
    assert lost in versions("rollback", "--strict", "--yes", code=3)
    said = versions("plan", "rollback")
    assert lost in said
    assert "  ~ api_1" in said
    # Of what came since, and of what stayed, nothing is lost.
    assert "new_1 was" not in said
    assert "web_1 was" not in said
    versions("rollback", "--yes", "-q")
    versions("upgrade", versions.write("three", {"api": ("3", ""), "web": ("1", "api")}), "--yes", "-q")
    # Since the revision that going back has made nothing was made again.
    assert "made again" not in versions("plan", "rollback")


def test_the_outputs_after_going_back_are_those_of_what_runs(versions: Versions) -> None:
    versions("deploy", versions.write("one", ONE, "  outputs: { is: { value: the first } }\n"), "--yes")
    versions.write("two", {**TWO, "last": ("1", "api")}, "  outputs: { is: { value: the second } }\n")
    (versions.home / "fail.last_1.start").touch()
    said = versions("upgrade", "two", "--yes", "--on-failure", "rollback", code=7)
    assert "is = the first" in said
    assert "the second" not in said


def test_an_upgrade_that_failed_is_gone_back_from_or_carried_on(versions: Versions) -> None:
    failing(versions, code=1)
    assert "did not complete" in versions("revisions")
    # What was begun is meant now, and what is left of it is all that is different.
    assert "last_1" in versions("diff")
    assert "upgrade --no-prune --catalog blocks" in versions("diff", "--no-prune", "--catalog", "blocks")
    assert "api_1" not in versions("plan", "upgrade", "--summary")
    (versions.home / "fail.last_1.start").unlink()
    versions("jobs", "retry", "--yes", "-q")
    done = versions.log()
    assert done == ["last_1.stop 1", "last_1.start 1", "web_1.stop 1", "web_1.delete 1"]
    assert "No differences" in versions("diff")
    (versions.home / "fail.last_1.stop").touch()
    versions("rollback", "1", "--yes", "-q", code=1)
    (versions.home / "fail.last_1.stop").unlink()
    versions("jobs", "retry", "--yes", "-q")
    assert "No differences" in versions("diff", "one")
    assert [
        (r["revision"], r["workflow"]) for r in versions.run("-e", "e", "revisions", "-o", "json").json["revisions"]
    ] == [(3, "rollback"), (2, "upgrade"), (1, "deploy")]
    assert "exactly what ensemble.yaml says" in versions("jobs", "replay")


def test_going_back_again_lets_no_more_instances_be_down_than_it_was_told(versions: Versions) -> None:
    for name, word in (("one", "1"), ("two", "2")):
        path = versions.home / versions.write(name, {"api": (word, "")}) / "service.yaml"
        many = "capabilities: { scalable: { properties: { max_instances: 9, default_instances: 8 } } }"
        text = path.read_text().replace("{ type: my.Node,", f"{{ type: my.Node, {many},")
        type_of = "  my.Node:\n    derived_from: tosca.nodes.Root\n"
        path.write_text(
            text.replace(type_of, f"{type_of}    capabilities: {{ scalable: tosca.capabilities.Scalable }}\n")
        )
    versions("deploy", "one", "--yes", "-q")
    versions("upgrade", "two", "--yes", "-q")
    (versions.home / "fail.api_1.configure").touch()
    versions("rollback", "--max-unavailable", "1", "--yes", "-q", code=1)
    (versions.home / "fail.api_1.configure").unlink()
    versions.log()
    versions("jobs", "retry", "--yes", "-q")
    turns = [line.split()[0] for line in versions.log()]
    one_by_one = [f"api_{n}.{operation}" for n in range(2, 9) for operation in ("stop", "configure", "start")]
    assert turns == ["api_1.configure", "api_1.start", *one_by_one]


def test_the_status_says_what_was_begun_and_not_completed(versions: Versions) -> None:
    versions("deploy", versions.write("one", ONE), "--yes", "-q")
    versions.write("two", TWO, STEPS)
    (versions.home / "fail.b").touch()
    versions("upgrade", "two", "--yes", "-q", "--no-prune", code=1)
    said = versions("status")
    # Every instance is as it should be, and yet it is no revision: a step that comes after them has failed.
    assert "  ok  (3 instances, revision 1)\nan attempt at revision 2 is not complete: job " in said
    versions("status", "--detailed-exitcode", code=2)
    assert "ordito -e e upgrade" in said
    assert "ordito -e e rollback" in said
    shown = versions.run("-e", "e", "status", "-o", "json").json
    assert (shown["status"], shown["revision"]) == ("ok", 1)
    attempt = shown["attempt"]
    assert attempt.pop("job") == shown["last_job"]["id"]
    assert attempt == {
        "workflow": "upgrade",
        "status": "failed",
        "revision": 2,
        "complete": 1,
        "repairs": False,
        "back": 1,
    }
    # Other jobs since say nothing of it.
    versions("restart", "api_1", "--yes", "-q")
    assert "an attempt at revision 2 is not complete: job " in versions("status")
    versions("rollback", "--yes", "-q")
    assert "  ok  (2 instances, revision 1)\n" in versions("status")
    assert versions.run("-e", "e", "status", "-o", "json").json["attempt"] is None


def test_a_first_deployment_that_failed_is_an_attempt_at_the_first_revision(versions: Versions) -> None:
    versions.write(
        "one",
        {"api": ("1", "")},
        "  policies:\n    - after: { type: my.org/life@v1#Note, "
        "properties: { phase: install.after, config: { note: b } } }\n",
    )
    (versions.home / "fail.b").touch()
    versions("deploy", "one", "--yes", "-q", code=1)
    said = versions("status")
    assert "  ok  (1 instance, revision 0)\nan attempt at revision 1 is not complete: job " in said
    assert "ordito -e e deploy" in said
    (versions.home / "fail.b").unlink()
    versions("deploy", "--yes", "-q")
    assert "  ok  (1 instance, revision 1)\n" in versions("status")


def test_what_was_begun_is_taken_back_without_a_new_revision(versions: Versions) -> None:
    failing(versions, code=1)
    versions("rollback", "--yes", "-q")
    assert "No differences" in versions("diff", "one")
    assert [r["revision"] for r in versions.run("-e", "e", "revisions", "-o", "json").json["revisions"]] == [1]
    assert "Nothing to do" in versions("deploy", "--yes")


STEPS = """\
  policies:
    - before:
        type: my.org/life@v1#Note
        targets: [ api ]
        properties: { phase: upgrade.before, config: { note: a } }
    - after: { type: my.org/life@v1#Note, properties: { phase: upgrade.after, config: { note: b } } }
    - kept: { type: my.org/life@v1#Kept, properties: { phase: upgrade.after, config: { note: c } } }
"""


def test_lifecycle_steps_are_undone_around_the_resources(versions: Versions) -> None:
    versions("deploy", versions.write("one", {"api": ("1", "")}), "--yes", "-q")
    versions("upgrade", versions.write("two", {"api": ("2", "")}, STEPS), "--yes", "-q")
    versions.log()
    refused = versions("rollback", "--strict", "--yes", code=3)
    assert 'lifecycle step "kept"' in refused
    assert versions.log() == []
    assert " undo before (upgrade.before)" in versions("plan", "rollback")
    said = versions("rollback", "--yes")
    assert "my.org/life@v1#Kept 1.0.0 has no undo" in said
    done = versions.log()
    assert (done[0], done[-1]) == ("undo b", "undo a")
    assert [line for line in done if "start" in line] == ["api_1.start 1"]
    # Forth again by the number: what was undone is not carried out again, so that is refused, and what does it is said.
    for words in (("rollback", "2", "--yes"), ("plan", "rollback", "2")):
        refused = versions(*words, code=3)
        assert "undone-since" in refused
        assert 'lifecycle steps "before", "after" of revision 2 were undone since' in refused
        assert "ordito -e e upgrade two " in refused
    assert versions.log() == []
    assert 'lifecycle step "before"' in versions("rollback", "2", "--without-steps", "--yes")
    assert not any("hook" in line for line in versions.log())
    versions("rollback", "1", "--yes", "-q")
    versions.log()
    versions("upgrade", "two", "--yes", "-q")
    assert [line for line in versions.log() if "hook" in line] == ["hook a", "hook b", "hook c"]


LOOKING = """\
  policies:
    - up:
        type: ordito.dev/lifecycle/health@v1#WaitForTcp
        targets: [ api ]
        properties: { phase: upgrade.after, config: { host: 127.0.0.1, port: PORT, within: 30 s } }
"""


def test_a_step_that_has_only_looked_does_not_hold_up_going_forth_again(versions: Versions) -> None:
    """What such a step did is not lacking, though it was undone."""
    versions("deploy", versions.write("one", {"api": ("1", "")}), "--yes", "-q")
    with socket.create_server(("127.0.0.1", 0)) as server:
        looking = LOOKING.replace("PORT", str(server.getsockname()[1]))
        path = versions.home / versions.write("two", {"api": ("2", "")}, looking) / "service.yaml"
        path.write_text(path.read_text().replace("profile:ordito ]", "profile:ordito, profile:blocks ]"))
        versions("upgrade", "two", "--yes", "-q")
    assert "undo up (upgrade.after)" in versions("rollback", "--yes")
    versions.log()
    assert "undone-since" not in versions("rollback", "2", "--strict", "--yes")
    assert versions.log() == ["api_1.stop 1", "api_1.configure 2", "api_1.start 2"]


def test_an_upgrade_that_came_to_nothing_is_tried_again_with_what_it_was_given(versions: Versions) -> None:
    """The ensemble does not know the new service yet: without its name the command would mean the old."""
    versions("deploy", versions.write("one", {"api": ("1", "")}), "--yes", "-q")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    waiting = LOOKING.replace("PORT", str(port)).replace("30 s", "1 s").replace("upgrade.after", "upgrade.before")
    path = versions.home / versions.write("two", {"api": ("2", "")}, waiting) / "service.yaml"
    path.write_text(path.read_text().replace("profile:ordito ]", "profile:ordito, profile:blocks ]"))
    told = versions("upgrade", "two", "--yes", code=1).partition("Next:")[2]
    assert "continue: nothing was changed so far" in told
    assert " rollback " not in told
    versions.log()
    with socket.create_server(("127.0.0.1", port)):
        versions("jobs", "retry", "--yes", "-q")
    assert versions.log() == ["api_1.stop 1", "api_1.configure 2", "api_1.start 2"]


def test_going_back_over_lifecycle_steps_alone_is_a_revision_of_its_own(versions: Versions) -> None:
    """Also where the service is the same: what its steps did is not."""
    versions("deploy", versions.write("one", {"api": ("1", "")}), "--yes", "-q")
    steps = STEPS.partition("    - kept")[0]
    versions("upgrade", versions.write("two", {"api": ("2", "")}, steps), "--yes", "-q")
    (versions.home / "fail.last_1.start").touch()
    versions("upgrade", versions.write("bad", {"api": ("3", ""), "last": ("1", "api")}), "--yes", "-q", code=1)
    versions.log()
    versions("upgrade", "two", "--yes", "-q")
    forth = [line for line in versions.log() if line.startswith("hook")]
    assert forth == ["hook a", "hook b"]
    versions("rollback", "--yes", "-q")
    assert versions.log() == ["undo b", "undo a"]
    revisions = versions.run("-e", "e", "revisions", "-o", "json").json["revisions"]
    assert [(r["revision"], r["workflow"]) for r in revisions[:2]] == [(4, "rollback"), (3, "upgrade")]
    assert "exactly what ensemble.yaml says" in versions("jobs", "replay")
    # It counts as the second one, before which there is the first.
    versions("rollback", "--yes", "-q")
    assert versions.log() == ["undo b", "api_1.stop 2", "api_1.configure 1", "api_1.start 1", "undo a"]
    assert "revision 5)" in versions("status")


LEAVING = """\
  policies:
    - left: { type: my.org/life@v1#Note, targets: [ web ], properties: { phase: delete.before, config: { note: l } } }
    - gone: { type: my.org/life@v1#Note, targets: [ web ], properties: { phase: delete.after, config: { note: g } } }
    - bye: { type: my.org/life@v1#Note, targets: [ web ], properties: { phase: delete.after, config: { note: h } } }
"""


@pytest.mark.parametrize(
    ("failing", "first", "then"),
    [
        ("l", ["hook l"], ["hook l", "web_1.stop 1", "web_1.delete 1", "hook g", "hook h"]),
        ("g", ["hook l", "web_1.stop 1", "web_1.delete 1", "hook g"], ["hook g", "hook h"]),
    ],
)
def test_the_steps_that_are_left_of_what_an_upgrade_removes_are_carried_out_by_the_next(
    versions: Versions, failing: str, first: list[str], then: list[str]
) -> None:
    """Though of the component itself nothing may be there any more."""
    versions("deploy", versions.write("one", {"api": ("1", ""), "web": ("1", "api")}, LEAVING), "--yes", "-q")
    versions.write("two", {"api": ("1", "")})
    (versions.home / f"fail.{failing}").touch()
    versions.log()
    versions("upgrade", "two", "--yes", "-q", code=1)
    assert versions.log() == first
    # Without pruning nothing is removed, and no step of a removal is carried out.
    assert "delete." not in versions("plan", "deploy")
    versions("upgrade", "two", "--yes", "-q", code=1)
    assert versions.log() == [f"hook {failing}"]
    (versions.home / f"fail.{failing}").unlink()
    versions("upgrade", "two", "--yes", "-q")
    assert versions.log() == then
    assert "Nothing to change" in versions("upgrade", "--yes")
    assert "  ok  (1 instance, revision 2)\n" in versions("status")
    assert "exactly what ensemble.yaml says" in versions("jobs", "replay")


def test_steps_of_an_attempt_that_changed_nothing_are_undone(versions: Versions) -> None:
    versions("deploy", versions.write("one", {"api": ("1", "")}), "--yes", "-q")
    second = STEPS.replace("- after:", "- next:").replace(
        "upgrade.after, config: { note: b", "upgrade.before, config: { note: b"
    )
    versions.write("two", {"api": ("2", "")}, second.replace("Note, properties", "Note, targets: [ api ], properties"))
    (versions.home / "fail.b").touch()
    versions.log()
    versions("upgrade", "two", "--yes", "-q", code=1)
    assert versions.log() == ["hook a", "hook b"]
    assert "No differences" in versions("diff", "one")
    versions("rollback", "--yes", "-q")
    assert versions.log() == ["undo a"]
    assert "Nothing to do" in versions("rollback", "1", "--yes")


def test_what_was_repaired_is_not_gone_back_to(versions: Versions) -> None:
    """A bad upgrade was repaired, well or not, or its service deployed again: going back leads to the one before it."""
    versions("deploy", versions.write("one", ONE), "--yes", "-q")
    versions("upgrade", versions.write("two", TWO), "--yes", "-q")

    def repair(*, code: int = 0) -> None:
        versions("run", "stop", "--node", "api", "--yes", "-q")
        versions("deploy", "--yes", "-q", code=code)
        versions.log()

    back = ["cache_1.stop 1", "cache_1.delete 1", "api_1.stop 2", "api_1.configure 1", "api_1.start 1"]
    repair()
    assert "*  3  " in versions("revisions")
    versions("rollback", "--yes", "-q")
    assert [line for line in versions.log() if "web" not in line] == back
    versions("rollback", "--yes", "-q", code=3)
    versions("upgrade", "two", "--yes", "-q")
    (versions.home / "fail.api_1.start").touch()
    repair(code=1)
    assert "rollback    go back to revision 4\n" in versions("status")
    assert "rollback    go back to revision 4\n" in versions("revisions")
    assert "(rollback to revision 4)" in versions("plan", "rollback")
    (versions.home / "fail.api_1.start").unlink()
    versions("rollback", "--yes", "-q")
    assert "No differences" in versions("diff", "one")
    assert "exactly what ensemble.yaml says" in versions("jobs", "replay")


def test_what_was_tried_in_vain_is_gone_back_from_even_if_it_changed_nothing(versions: Versions) -> None:
    versions("deploy", versions.write("one", {"api": ("1", "")}), "--yes", "-q")
    versions("upgrade", versions.write("two", {"api": ("2", "")}), "--yes", "-q")
    versions.write("three", {"api": ("3", "")}, STEPS)
    (versions.home / "fail.a").touch()
    versions("upgrade", "three", "--yes", "-q", code=1)
    versions.log()
    assert "Nothing to do" in versions("rollback", "--yes")
    assert "No differences" in versions("diff", "two")
    # With nothing else before it, what is deployed is meant.
    versions("deploy", "--yes", "-q")
    assert versions.log() == []


def test_the_revision_to_which_a_rollback_goes_is_named_by_all_that_speak_of_it(versions: Versions) -> None:
    """The same service fails once more: with no other revision what is deployed is meant, else the one before it."""
    versions("deploy", versions.write("one", ONE), "--yes", "-q")

    def fail(service: str, revision: int) -> None:
        (versions.home / "fail.api_1.start").touch()
        said = versions("upgrade", service, "--replace", "api", "--yes", code=1)
        (versions.home / "fail.api_1.start").unlink()
        for text in (said, versions("status"), versions("revisions")):
            assert f"go back to revision {revision}\n" in text
        assert f"(rollback to revision {revision})" in versions("plan", "rollback")
        assert versions.run("-e", "e", "plan", "rollback", "-o", "json").json["back_to"] == revision

    fail("one", 1)
    assert "Goes back to revision 1.\n" in versions("rollback", "--yes")
    versions("upgrade", versions.write("two", TWO), "--yes", "-q")
    fail("two", 1)
