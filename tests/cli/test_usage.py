"""The grammar of the command, its exit codes, and what it says about mistakes."""

from __future__ import annotations

import stat
from pathlib import Path

import click
import pytest

from ordito import __version__
from ordito.cli.border import CrashReport
from ordito.cli.grammar import (
    ACCOUNTS_VERBS,
    ALIASES,
    BLOCKS_VERBS,
    ENSEMBLES_SOURCE_VERBS,
    ENSEMBLES_VERBS,
    GROUPS_VERBS,
    HOSTS_VERBS,
    JOBS_VERBS,
    LIFECYCLE_VERBS,
    OTHER_WORDS,
    PACKAGES_VERBS,
    PLANS_VERBS,
    POLICY_VERBS,
    PROJECTS_VERBS,
    QUEUE_VERBS,
    SCHEDULES_VERBS,
    SECRETS_VERBS,
    SERVER_SETTINGS_VERBS,
    SERVER_VERBS,
    STATE_VERBS,
    STORE_VERBS,
    TOKENS_VERBS,
    USERS_VERBS,
    VERBS,
    WEBHOOKS_VERBS,
    WORKERS_VERBS,
    WORKFLOW_VERBS,
    root,
)
from tests.cli.program import DATA, Run

TINY = DATA / "tiny"
FAILING = DATA / "failing"
ROOT = DATA.parent.parent


def test_the_version(run: Run) -> None:
    assert run("--version").out == f"ordito {__version__}\n"
    assert run("-e", "x", "--version").out == f"ordito {__version__}\n"


def test_help_lists_the_verbs_and_hides_aliases(run: Run) -> None:
    shown = run("--help")
    assert shown.code == 0
    assert all(f"  {name} " in shown.out for name in VERBS)
    assert not any(f"  {name} " in shown.out for name in ALIASES)


GROUPS = {
    "accounts": ACCOUNTS_VERBS,
    "ensembles": ENSEMBLES_VERBS,
    "groups": GROUPS_VERBS,
    "workers": WORKERS_VERBS,
    "queue": QUEUE_VERBS,
    "projects": PROJECTS_VERBS,
    "packages": PACKAGES_VERBS,
    "schedules": SCHEDULES_VERBS,
    "webhooks": WEBHOOKS_VERBS,
    "tokens": TOKENS_VERBS,
    "users": USERS_VERBS,
    "plans": PLANS_VERBS,
    "blocks": BLOCKS_VERBS,
    "jobs": JOBS_VERBS,
    "hosts": HOSTS_VERBS,
    "lifecycle": LIFECYCLE_VERBS,
    "policy": POLICY_VERBS,
    "state": STATE_VERBS,
    "secrets": SECRETS_VERBS,
    "server": SERVER_VERBS,
    "store": STORE_VERBS,
    "workflow": WORKFLOW_VERBS,
}
ALL = (
    [[n] for n in VERBS]
    + [[group, n] for group, verbs in GROUPS.items() for n in verbs]
    + [["server", "audit", "verify"]]
    + [["server", "settings", n] for n in SERVER_SETTINGS_VERBS]
    + [["ensembles", "source", n] for n in ENSEMBLES_SOURCE_VERBS]
)


@pytest.mark.parametrize("words", ALL)
def test_every_verb_has_help_and_the_global_options(run: Run, words: list[str]) -> None:
    shown = run(*words, "--help")
    assert shown.code == 0
    for option in ("--ensemble", "--output", "--json", "--yes", "--no-input", "--quiet", "--verbose", "--color"):
        assert option in shown.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["deplyo"], 'did you mean "deploy"'),
        (["jobs", "resme"], 'did you mean "resume"'),
        (["help"], "--help at the end of any command"),
        (["deploy", "--dry-run"], "`ordito plan` shows what would be done"),
        (["status", "web_1"], "`ordito describe NAME` shows one"),
        (["scale", "web", "3"], "as in web=3"),
        (["taint", "web"], "for what other tools call so, use: upgrade --replace NODE"),
        (["deploy", "--yess"], 'did you mean "--yes"'),
        ([], "say what to do"),
        (["jobs"], "say what to do"),
        (["deploy", "a", "b"], "unexpected extra argument"),
        (["status", "-o", "xml"], "xml"),
        (["deploy", "x", "-i", "novalue"], "NAME=VALUE"),
        (["deploy", "x", "--parallel", "0"], "parallel"),
        (["plan", "deploy", "a", "b"], "unexpected extra argument"),
    ],
)
def test_a_wrong_command_line_is_explained_with_exit_code_64(run: Run, words: list[str], said: str) -> None:
    refused = run(*words)
    assert refused.code == 64
    assert said in refused.err
    assert "--help" in refused.err
    assert refused.out == ""


@pytest.mark.parametrize(("alias", "verb"), ALIASES.items())
def test_aliases_are_the_verbs_they_stand_for(run: Run, alias: str, verb: str) -> None:
    assert run(alias, "--help").out.replace(alias, verb) == run(verb, "--help").out


@pytest.mark.parametrize(("word", "command"), OTHER_WORDS.items())
def test_what_is_named_for_words_of_other_tools_exists(word: str, command: str) -> None:
    assert word not in {**VERBS, **ALIASES}
    verb, *rest = command.split()
    assert verb in VERBS
    found: click.Command | None = root().get_command(click.Context(root()), verb)
    if rest and rest[0].islower() and not rest[0].startswith("-"):
        assert isinstance(found, click.Group)
        found = found.get_command(click.Context(found), rest.pop(0))
    assert found is not None
    options = {name for parameter in found.params for name in parameter.opts}
    assert {name for name in rest if name.startswith("-")} <= options


def test_global_options_stand_before_or_after_the_verb(run: Run) -> None:
    first = run("-e", "here", "deploy", FAILING, "--yes")
    assert first.code == 1
    assert Path("here/ensemble.yaml").exists()
    before, after = run("-o", "json", "-e", "here", "status"), run("status", "-o", "json", "-e", "here")
    assert before.json == after.json
    assert run("-e", "elsewhere", "status", "-e", "here").code == 0
    assert run("-e", "here", "jobs", "-o", "json", "list").json["jobs"]


def test_without_a_terminal_and_without_yes_nothing_is_done(run: Run) -> None:
    refused = run("deploy", FAILING)
    assert refused.code == 64
    assert "no terminal" in refused.err
    assert f"ordito deploy {FAILING} --yes" in refused.err
    assert list(Path.cwd().iterdir()) == []
    assert run("deploy", FAILING, "--no-input").code == 64


def test_all_mistakes_at_once_and_nothing_touched(run: Run) -> None:
    Path("service.yaml").write_text(
        "tosca_definitions_version: tosca_simple_yaml_1_3\n"
        "topology_template:\n"
        "  node_templates:\n"
        "    a: { type: tosca.nodes.Comptue }\n"
        "    b: { type: tosca.nodes.Root, requirments: [] }\n"
    )
    for words in (["validate", "service.yaml"], ["plan", "service.yaml"], ["deploy", "service.yaml", "--yes"]):
        refused = run(*words)
        assert refused.code == 3
        assert "service.yaml:4:16" in refused.err
        assert "tosca.nodes.Compute" in refused.err
        assert "requirements" in refused.err
        assert "2 errors" in refused.err
        assert refused.out == ""
    assert [path.name for path in Path.cwd().iterdir()] == ["service.yaml"]
    found = run("validate", "service.yaml", "-o", "json").json
    assert [d["line"] for d in found["diagnostics"]] == [4, 5]


def test_an_unknown_input_is_refused_where_it_was_given(run: Run) -> None:
    argument = run("validate", TINY, "-i", "wrod=x")
    assert argument.code == 3
    assert "-i wrod" in argument.err
    assert 'did you mean "word"' in argument.err

    Path("inputs.yaml").write_text("word: hi\ncuont: 2\n")
    file = run("validate", TINY, "-I", "inputs.yaml")
    assert file.code == 3
    assert "inputs.yaml:2:" in file.err
    assert 'did you mean "count"' in file.err

    Path("ensemble.yaml").write_text(f"spec:\n  service: {TINY}\n  inputs:\n    wrod: x\n")
    ensemble = run("deploy", "--yes")
    assert ensemble.code == 3
    assert "ensemble.yaml:4:" in ensemble.err


def test_the_users_part_is_checked(run: Run) -> None:
    Path("ensemble.yaml").write_text(f"spec:\n  servce: {TINY}\n")
    refused = run("deploy", "--yes")
    assert refused.code == 3
    assert "ensemble.yaml:2:3" in refused.err
    assert 'did you mean "service"' in refused.err


def test_texts_win_over_files_and_later_files_over_earlier_ones(run: Run) -> None:
    Path("a.yaml").write_text("count: 1\nword: a\nlog: /dev/null\n")
    Path("b.yaml").write_text("word: b\n")
    done = run("deploy", TINY, "-y", "-I", "a.yaml", "-I", "b.yaml", "-i", "count=2")
    assert done.code == 0, done.err
    assert run("output", "word").out == "b\n"
    assert "top_2" in run("status").out


def test_inputs_may_stand_before_the_verb(run: Run) -> None:
    done = run("-i", "word=a", "-i", "log=/dev/null", "deploy", TINY, "-y", "-i", "word=b")
    assert done.code == 0, done.err
    assert run("output", "word").out == "b\n"
    refused = run("-i", "word=a", "status")
    assert refused.code == 64
    assert "takes no values of inputs" in refused.err


def test_a_file_of_inputs_that_is_none(run: Run) -> None:
    Path("list.yaml").write_text("- a\n")
    assert "list.yaml:1:1" in run("validate", TINY, "-I", "list.yaml").err
    assert run("validate", TINY, "-I", "nowhere.yaml").code == 3


def test_an_input_without_a_value_is_no_mistake_of_the_service(run: Run) -> None:
    checked = run("validate", TINY)
    assert checked.code == 0
    assert "note[missing-input]" in checked.err
    assert run("plan", TINY).code == 3


def test_missing_files_are_warnings_until_they_are_needed(run: Run) -> None:
    Path("service.yaml").write_text((FAILING / "service.yaml").read_text())
    checked = run("validate", "service.yaml")
    assert checked.code == 0
    assert "warning[missing-artifact]" in checked.err
    refused = run("deploy", "service.yaml", "--yes")
    assert refused.code == 3
    assert "error[missing-artifact]" in refused.err
    assert "scripts/bad.sh" in refused.err
    assert not Path("ensemble.yaml").exists()


@pytest.mark.parametrize(
    "words", [["status"], ["output"], ["undeploy", "--yes"], ["jobs", "list"], ["jobs", "show"], ["jobs", "resume"]]
)
def test_a_directory_that_is_no_ensemble(run: Run, words: list[str]) -> None:
    refused = run(*words, "-e", "nowhere dir")
    assert refused.code == 3
    assert "nowhere dir is not an ensemble" in refused.err
    assert "ordito -e 'nowhere dir' deploy SERVICE" in refused.err
    assert not Path("nowhere dir").exists()


def test_deploy_without_a_service_or_an_ensemble(run: Run) -> None:
    refused = run("deploy", "--yes")
    assert refused.code == 3
    assert "ordito deploy SERVICE" in refused.err
    assert list(Path.cwd().iterdir()) == []


def test_nothing_to_resume(run: Run) -> None:
    run("deploy", FAILING, "-y")
    resumed = run("jobs", "resume")
    assert resumed.code == 0
    assert "Nothing to resume" in resumed.err


def test_mistakes_for_programs(run: Run) -> None:
    stream = run("deploy", TINY, "--yes", "-i", "wrod=1", "--json")
    assert stream.code == 3
    assert [event["type"] for event in stream.events][:2] == ["version", "diagnostic"]
    assert stream.events[1]["code"] == "unknown-input"
    refused = run("status", "-o", "json")
    assert refused.json["error"]["code"] == "no-ensemble"


@pytest.mark.parametrize("words", [["status", "-e", "x" * 300], ["validate", "x" * 300], ["status", "-e", "/dev/null"]])
def test_impossible_paths_are_no_fault_of_ours(run: Run, words: list[str]) -> None:
    refused = run(*words)
    assert refused.code == 3
    assert "error[" in refused.err
    assert "fault of Ordito" not in refused.err


def test_the_details_of_a_fault_are_for_their_owner_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tmp_path.joinpath(".ordito").mkdir()
    with CrashReport() as report:
        report.directory = tmp_path
        raise RuntimeError("broken")
    (kept,) = tmp_path.glob(".ordito/ordito-crash-*.txt")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert "RuntimeError: broken" in kept.read_text()
    assert f"the details are in {kept}" in capsys.readouterr().err


def test_the_service_in_the_readme_is_the_example() -> None:
    readme = (ROOT / "README.md").read_text()
    shown = readme.partition("```yaml\n")[2].partition("```")[0]
    assert shown == (ROOT / "examples" / "hello" / "service.yaml").read_text()


def test_the_readme_knows_every_verb() -> None:
    readme = (ROOT / "README.md").read_text()
    assert [verb for verb in VERBS if f"`{verb}`" not in readme] == []


def test_very_many_links_are_planned_when_that_is_asked_for(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the refusal says to give is an option."""
    monkeypatch.setattr("ordito.planning.links.MOST_PAIRS", 0)
    Path("link.sh").write_text("exit 0\n")
    Path("service.yaml").write_text(
        "tosca_definitions_version: tosca_simple_yaml_1_3\n"
        "topology_template:\n"
        "  node_templates:\n"
        "    a: { type: tosca.nodes.Root }\n"
        "    b:\n"
        "      type: tosca.nodes.Root\n"
        "      requirements:\n"
        "        - dependency:\n"
        "            node: a\n"
        "            relationship:\n"
        "              type: tosca.relationships.DependsOn\n"
        "              interfaces: { Configure: { operations: { add_source: link.sh } } }\n"
    )
    for words in (["plan", "service.yaml"], ["deploy", "service.yaml", "--yes"]):
        refused = run(*words)
        assert refused.code == 3
        assert "give --allow-large" in refused.err
        assert not Path("ensemble.yaml").exists()
        assert run(*words, "--allow-large").code == 0
    assert Path("ensemble.yaml").exists()


def test_what_was_allowed_to_be_large_is_not_refused_afterwards(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands that do not take --allow-large can do without it: none of them is stuck with what is deployed."""
    for module in ("links", "notify_peers", "spots"):
        monkeypatch.setattr(f"ordito.planning.{module}.MOST_PAIRS", 0)
    monkeypatch.setattr("ordito.planning.counts.LARGEST", 1)
    Path("link.sh").write_text(f"[ ! -e '{Path.cwd()}/broken' ]\n")
    Path("service.yaml").write_text(
        "tosca_definitions_version: tosca_simple_yaml_1_3\n"
        "topology_template:\n"
        "  node_templates:\n"
        "    a:\n"
        "      type: tosca.nodes.Root\n"
        "      interfaces: { Standard: { operations: { start: link.sh, stop: link.sh } } }\n"
        "    b:\n"
        "      type: tosca.nodes.Root\n"
        "      occurrences: [ 0, 9 ]\n"
        "      instance_count: 2\n"
        "      interfaces: { Standard: { operations: { start: link.sh, stop: link.sh } } }\n"
        "      requirements:\n"
        "        - dependency:\n"
        "            node: a\n"
        "            relationship:\n"
        "              type: tosca.relationships.DependsOn\n"
        "              interfaces:\n"
        "                Configure:\n"
        "                  operations: { add_source: link.sh, add_target: link.sh, remove_target: link.sh }\n"
    )
    Path("broken").touch()
    done = run("deploy", "service.yaml", "--yes", "--allow-large")
    assert done.code == 1, done.err
    assert "ordito deploy --allow-large  " in done.err
    Path("broken").unlink()
    for words in (
        ["jobs", "retry", "--yes"],
        ["restart", "--all", "--yes"],
        ["heal", "a", "--reinstall", "--yes"],
        ["check"],
        ["plan"],
        ["diff"],
        ["scale", "b=3", "--yes", "--allow-large"],
        ["upgrade", "--replace", "a", "--yes", "--allow-large"],
        ["rollback", "1", "--yes"],
    ):
        done = run(*words)
        assert done.code == 0, (words, done.err)
    service = Path("service.yaml")
    service.write_text(service.read_text().replace("    b:\n", "    c:\n"))
    for words in (["state", "mv", "b", "c", "--yes"], ["undeploy", "--yes"]):
        done = run(*words)
        assert done.code == 0, (words, done.err)


@pytest.mark.parametrize("words", [["status"], ["deploy", "--yes"], ["undeploy", "--yes"], ["output"], ["plan"]])
def test_a_damaged_ensemble_has_a_next_command(run: Run, words: list[str]) -> None:
    run("deploy", FAILING, "-y", "-e", "here")
    manifest = Path("here/ensemble.yaml")
    manifest.write_text(manifest.read_text().replace("  format:", "  format: ["))
    refused = run(*words, "-e", "here")
    assert refused.code == 3
    assert "error[ensemble]" in refused.err
    assert "ensemble.yaml:" in refused.err
    assert f"Next:  ordito {' '.join(words)} -e here" in refused.err
