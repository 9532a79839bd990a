"""`ordito upgrade`: which service is meant, and what is remembered of that."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.program import Run

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  inputs:
    word: { type: string, default: one }
  node_templates:
    api:
      type: tosca.nodes.Root
      interfaces:
        Standard:
          operations:
            create: note.sh
%s
  outputs:
    word: { value: { get_input: word } }
"""

WEB = """\
    web:
      type: tosca.nodes.Root
      interfaces: { Standard: { operations: { create: note.sh } } }
"""


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """Two versions of a service: the second has one node more."""
    for name, more in (("one", ""), ("two", WEB)):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "service.yaml").write_text(SERVICE % more)
        (folder / "note.sh").write_text("true\n")
    (tmp_path / "e").mkdir()
    return tmp_path


def existing(run: Run) -> list[str]:
    return list(run("-e", "e", "status", "-o", "json").json["instances"])


def test_there_must_be_something_to_upgrade(run: Run, two: Path) -> None:
    refused = run("-e", "e", "upgrade", "two", "--yes")
    assert refused.code == 3
    assert "not an ensemble" in refused.err
    assert run("-e", "e", "deploy", "one", "--yes", "-q").code == 0
    assert run("-e", "e", "undeploy", "--yes", "-q").code == 0
    refused = run("-e", "e", "upgrade", "two", "--yes")
    assert refused.code == 3
    assert "not-deployed" in refused.err
    assert "ordito -e e deploy two" in refused.err


def test_the_service_of_an_upgrade_is_remembered_until_the_user_names_another_one(run: Run, two: Path) -> None:
    assert run("-e", "e", "deploy", "one", "--yes", "-q").code == 0
    own = (two / "e" / "ensemble.yaml").read_bytes().partition(b"# ====")[0]
    done = run("-e", "e", "upgrade", "two", "--yes", "-q", "--explain")
    assert done.code == 0
    assert "added  web_1" in done.err
    assert existing(run) == ["api_1", "web_1"]
    assert (two / "e" / "ensemble.yaml").read_bytes().startswith(own)
    # What is deployed without a word is the service of the upgrade, and so it is in every other command.
    shown = run("-e", "e", "plan")
    assert "Nothing to do" in shown.out
    assert "the service is two, which upgrade was given; e/ensemble.yaml names ../one" in shown.err
    assert "Nothing to do" in run("-e", "e", "plan", "upgrade").out
    assert "2 nodes" in run("-e", "e", "validate").out
    assert "web" in run("-e", "e", "compile").out
    refused = run("-e", "e", "deploy", "one", "--yes")
    assert refused.code == 3
    assert "ordito -e e upgrade one" in refused.err
    manifest = two / "e" / "ensemble.yaml"
    manifest.write_text(manifest.read_text().replace('service: "../one"', 'service: "../one/service.yaml"'))
    assert "web_1" in run("-e", "e", "deploy", "--yes").err
    assert "named" not in run("-e", "e", "state", "export", "-o", "json").out


def test_steps_that_were_given_once_and_are_not_given_again_are_said(run: Run, two: Path) -> None:
    (two / "steps.yaml").write_text(
        "components: { api: { delete: { before: [ { fqn: 'ordito.dev/lifecycle/health@v1#WaitForTcp', "
        "config: { host: 127.0.0.1, port: 1 } } ] } } }\n"
    )
    words = ("--lifecycle", "steps.yaml", "--yes", "-q")
    assert run("-e", "e", "deploy", "one", *words).code == 0
    # What removes everything has them from what was deployed.
    assert "api/delete.before[0]" in run("-e", "e", "plan", "undeploy").out
    for asked in (("plan",), ("diff", "two"), ("plan", "upgrade", "two")):
        assert "warning[steps-not-given]: what runs has the lifecycle steps of steps.yaml" in run("-e", "e", *asked).err
    assert "steps-not-given" not in run("-e", "e", "upgrade", "two", *words).err
    assert "api/delete.before[0]" in run("-e", "e", "plan", "undeploy").out
    assert "steps-not-given" in run("-e", "e", "upgrade", "one", "--yes").err
    assert "api/delete.before[0]" not in run("-e", "e", "plan", "undeploy").out
    assert "steps-not-given" not in run("-e", "e", "plan").err


def test_going_back_to_the_users_service_forgets_the_other(run: Run, two: Path) -> None:
    assert run("-e", "e", "deploy", "one", "--yes", "-q").code == 0
    assert run("-e", "e", "upgrade", "two", "--yes", "-q").code == 0
    assert "named:" in (two / "e" / "ensemble.yaml").read_text()
    assert run("-e", "e", "upgrade", "one", "--yes", "-q").code == 0
    assert "named:" not in (two / "e" / "ensemble.yaml").read_text()


def test_an_upgrade_without_changes_does_nothing(run: Run, two: Path) -> None:
    assert run("-e", "e", "deploy", "one", "--yes", "-q").code == 0
    before = sorted((two / "e" / "jobs").iterdir())
    done = run("-e", "e", "upgrade", "--yes")
    assert (done.code, "Nothing to change" in done.err) == (0, True)
    assert sorted((two / "e" / "jobs").iterdir()) == before


def test_a_saved_plan_of_an_upgrade_is_carried_out_as_it_is(run: Run, two: Path) -> None:
    assert run("-e", "e", "deploy", "one", "--yes", "-q").code == 0
    assert run("-e", "e", "plan", "upgrade", "two", "--out", "p.plan").code == 0
    refused = run("-e", "e", "apply", "p.plan", "--prune", "early", "--yes")
    assert (refused.code, "leave out --prune" in refused.err) == (64, True)
    refused = run("-e", "e", "upgrade", "p.plan", "--yes")
    assert (refused.code, "ordito apply p.plan" in refused.err) == (64, True)
    assert run("-e", "e", "apply", "p.plan", "--yes", "-q").code == 0
    assert existing(run) == ["api_1", "web_1"]
    assert run("-e", "e", "apply", "p.plan", "--yes").code == 3


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--replace", "apu"], 3, 'did you mean "api"'),
        (["--max-unavailable", "0"], 64, "neither a number of instances"),
        (["--max-unavailable", "101%"], 64, "neither a number of instances"),
        (["--prune", "early", "--no-prune"], 64, "exclude each other"),
        (["--hooks", "some"], 64, "none"),
    ],
)
def test_bad_words_are_refused_and_nothing_runs(run: Run, two: Path, words: list[str], code: int, said: str) -> None:
    assert run("-e", "e", "deploy", "one", "--yes", "-q").code == 0
    refused = run("-e", "e", "upgrade", "two", *words, "--yes")
    assert (refused.code, said in refused.err) == (code, True), refused.err
    assert existing(run) == ["api_1"]


def test_a_diff_says_what_an_upgrade_would_do_and_changes_nothing(run: Run, two: Path) -> None:
    assert run("-e", "e", "deploy", "one", "--yes", "-q").code == 0
    before = {p: p.read_bytes() for p in (two / "e").rglob("*") if p.is_file()}
    same = run("-e", "e", "diff", "--detailed-exitcode")
    assert (same.code, same.out) == (0, "No differences: what is recorded as deployed is what one/service.yaml says.\n")
    shown = run("-e", "e", "diff", "two")
    assert shown.code == 0
    assert "added  web_1" in shown.out
    assert "runs: create" in shown.out
    assert "Instances: 1 added, 1 unchanged." in shown.out
    assert "ordito -e e upgrade two" in shown.err
    told = run("-e", "e", "diff", "two", "-i", "word=two", "--detailed-exitcode", "-o", "json")
    assert told.code == 2
    assert told.json["format"] == "ordito.diff/1"
    assert told.json["inputs"] == [{"name": "word", "before": "one", "after": "two"}]
    assert told.json["totals"] == {"added": 1}
    assert told.json["nodes"] == [
        {
            "node": "web",
            "class": "added",
            "instances": ["web_1"],
            "reason": told.json["nodes"][0]["reason"],
            "declared": "two/service.yaml:12:5",
            "causes": [],
            "operations": ["Standard.create"],
        }
    ]
    assert {p: p.read_bytes() for p in (two / "e").rglob("*") if p.is_file()} == before
    refused = run("-e", "nowhere", "diff", "two")
    assert refused.code == 3


def test_a_diff_shows_no_secret(run: Run, two: Path) -> None:
    for name in ("one", "two"):
        path = two / name / "service.yaml"
        path.write_text(path.read_text().replace("default: one }", "default: one, metadata: { sensitive: true } }"))
    assert run("-e", "e", "deploy", "one", "-i", "word=canary-a", "--yes", "-q").code == 0
    shown = run("-e", "e", "diff", "two", "-i", "word=canary-b")
    assert shown.code == 0
    assert "word: (sensitive) -> (sensitive)" in shown.out
    told = run("-e", "e", "diff", "two", "-i", "word=canary-b", "-o", "json")
    assert not any("canary" in text for text in (shown.out, shown.err, told.out, told.err))


def test_what_an_upgrade_was_told_is_kept_and_holds_for_retrying_it(run: Run, two: Path) -> None:
    assert run("-e", "e", "deploy", "one", "--yes", "-q").code == 0
    (two / "two" / "bad.sh").write_text("exit 1\n")
    service = two / "two" / "service.yaml"
    service.write_text(service.read_text().replace("{ create: note.sh }", "{ create: bad.sh }"))
    words = ("--prune", "early", "--max-unavailable", "50%", "--hooks", "none")
    assert run("-e", "e", "upgrade", "two", *words, "--yes", "-q").code == 1
    record = run("-e", "e", "jobs", "show", "-o", "json").json
    assert record["job"]["options"]["told"] == {"prune": "early", "max_unavailable": "50%", "hooks": "none"}
    assert run("-e", "e", "jobs", "retry", "--yes", "-q").code == 1
    again = run("-e", "e", "jobs", "show", "-o", "json").json
    assert again["job"]["options"]["told"] == record["job"]["options"]["told"]


def test_nothing_is_gone_back_to_where_nothing_was_completed(run: Run, two: Path) -> None:
    (two / "one" / "note.sh").write_text("exit 1\n")
    assert run("-e", "e", "deploy", "one", "--yes", "-q").code == 1
    refused = run("-e", "e", "rollback", "--yes")
    assert (refused.code, "ordito -e e undeploy" in refused.err) == (3, True), refused.err
    assert run("-e", "e", "revisions").out == "none\n"


def test_revisions_are_listed_and_gone_back_to(run: Run, two: Path) -> None:
    assert run("-e", "e", "deploy", "one", "--yes", "-q").code == 0
    assert run("-e", "e", "upgrade", "two", "-i", "word=two", "--yes", "-q").code == 0
    listed = run("-e", "e", "revisions", "-o", "json").json["revisions"]
    assert [(r["revision"], r["workflow"], r["is_current"]) for r in listed] == [
        (2, "upgrade", True),
        (1, "deploy", False),
    ]
    assert listed[0]["inputs"] == {"word": "two"}
    refused = run("-e", "e", "rollback", "7", "--yes")
    assert (refused.code, "there is no revision 7; there are 1, 2" in refused.err) == (3, True)
    done = run("-e", "e", "rollback", "--yes")
    assert (done.code, done.out) == (0, "word = one\n"), done.err
    assert existing(run) == ["api_1"]
    # The service and the inputs that came with the upgrade are not meant any more.
    assert "Nothing to do" in run("-e", "e", "deploy", "--yes").err
    refused = run("-e", "e", "rollback", "--yes")
    assert (refused.code, "no revision before" in refused.err) == (3, True)
    again = run("-e", "e", "rollback", "2", "--yes")
    assert (again.code, again.out) == (0, "word = two\n"), again.err
    assert existing(run) == ["api_1", "web_1"]
    assert "Nothing to do" in run("-e", "e", "rollback", "2", "--yes").err


def test_a_rollback_is_planned_and_saved_as_any_other_job(run: Run, two: Path) -> None:
    assert run("-e", "e", "deploy", "one", "--yes", "-q").code == 0
    assert run("-e", "e", "upgrade", "two", "--yes", "-q").code == 0
    shown = run("-e", "e", "plan", "rollback", "1", "--out", "p.plan")
    assert (shown.code, "web_1" in shown.out) == (0, True), shown.err
    assert run("-e", "e", "rollback").code == 64
    assert run("-e", "e", "apply", "p.plan", "--yes", "-q").code == 0
    assert existing(run) == ["api_1"]


def test_a_service_that_was_only_moved_beside_its_scripts_is_adopted(run: Run, two: Path) -> None:
    """What is carried out is the same, though its way from the service is another."""
    assert run("-e", "e", "deploy", "one", "--yes", "-q").code == 0
    deep = two / "one" / "deep"
    deep.mkdir()
    (deep / "service.yaml").write_text((SERVICE % "").replace("create: note.sh", "create: ../note.sh"))
    (found,) = run("-e", "e", "diff", "one/deep", "-o", "json").json["nodes"]
    assert (found["class"], found["operations"]) == ("adopt", [])
    (deep / "service.yaml").write_text(SERVICE % "")
    (deep / "note.sh").write_text("true now\n")
    (found,) = run("-e", "e", "diff", "one/deep", "-o", "json").json["nodes"]
    assert found["class"] == "replace"


def test_what_diff_proposes_is_what_it_has_shown(run: Run, two: Path) -> None:
    assert run("-e", "e", "deploy", "one", "--yes", "-q").code == 0
    words = ("--replace", "api", "--no-prune", "--hooks", "none", "--max-unavailable", "1")
    shown = run("-e", "e", "diff", "two", *words)
    assert shown.code == 0
    assert "ordito -e e upgrade two --no-prune --replace api --max-unavailable 1 --hooks none" in shown.err


def test_what_was_put_somewhere_is_taken_away_from_there(run: Run, two: Path) -> None:
    """An artifact goes to another place, and then the service has lost it: nothing of it stays."""
    api = "    api:\n      type: tosca.nodes.Root\n"
    for name, place in (("one", "a/file"), ("two", "b/file")):
        put = f"{{ type: tosca.artifacts.File, file: note.sh, deploy_path: {two}/{place} }}"
        text = (SERVICE % "").replace(api, f"{api}      artifacts: {{ note: {put} }}\n")
        (two / name / "service.yaml").write_text(text)
    assert run("-e", "e", "deploy", "one", "--yes", "-q").code == 0
    (moved,) = run("-e", "e", "diff", "two", "-o", "json").json["nodes"]
    assert (moved["class"], len(moved["causes"])) == ("replace", 1)
    cause = moved["causes"][0]
    assert cause["what"] == "artifact.note.deploy: deploy_path of its artifact"
    assert (cause["before"], cause["after"]) == (f"{two}/a/file", f"{two}/b/file")
    assert run("-e", "e", "upgrade", "two", "--yes", "-q").code == 0
    assert (two / "b" / "file").exists()
    assert not (two / "a" / "file").exists()
    (two / "two" / "service.yaml").write_text(SERVICE % "")
    lost = run("-e", "e", "diff", "two")
    assert "what artifact.note.deploy runs: note.sh -> (nothing)" in lost.out
    assert "stop" not in lost.out
    assert "runs: note.undeploy, create" in lost.out
    assert run("-e", "e", "upgrade", "two", "--yes", "-q").code == 0
    assert not (two / "b" / "file").exists()


LINKED = """\
tosca_definitions_version: tosca_simple_yaml_1_3
relationship_types:
  my.Link:
    derived_from: tosca.relationships.DependsOn
    interfaces: { Configure: { operations: { add_target: PLACElink.sh, remove_target: PLACEunlink.sh } } }
topology_template:
  node_templates:
    db: { type: tosca.nodes.Root }
    api: { type: tosca.nodes.Root, requirements: [ dependency: { node: db, relationship: my.Link } ] }
"""


def test_what_is_linked_by_scripts_at_another_place_is_not_linked_anew(run: Run, tmp_path: Path) -> None:
    for name, place in (("one", ""), ("two", "deep/")):
        scripts = tmp_path / name / place
        scripts.mkdir(parents=True)
        (tmp_path / name / "service.yaml").write_text(LINKED.replace("PLACE", place))
        for script in ("link.sh", "unlink.sh"):
            (scripts / script).write_text("true\n")
    assert run("-e", "e", "deploy", "one", "--yes", "-q").code == 0
    found = run("-e", "e", "diff", "two", "-o", "json").json
    assert {(node["class"], tuple(node["operations"])) for node in found["nodes"]} == {("adopt", ())}
    assert run("-e", "e", "upgrade", "two", "--yes", "-q").code == 0
    assert not run("-e", "e", "diff", "-o", "json").json["different"]
    # From then on it is undone from there, and linked again for another content.
    (tmp_path / "two" / "deep" / "link.sh").write_text("echo other\n")
    (node,) = run("-e", "e", "diff", "-o", "json").json["nodes"]
    assert (node["class"], node["operations"]) == (
        "relink",
        ["Configure.remove_target -> db", "Configure.add_target -> db"],
    )
    assert run("-e", "e", "rollback", "1", "--yes", "-q").code == 0
    assert run("-e", "e", "jobs", "replay").code == 0
