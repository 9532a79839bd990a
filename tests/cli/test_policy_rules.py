"""Rules of policies: programs of others that say whether a trigger acts, installed as those of users are."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from ordito.executors import policy_rules
from ordito.executors.policy_rules import Ruling, ask_rule, rule_for
from tests.cli.program import DATA, Run
from tests.support.plugins import install

GUARDED = "acme.policies.Guarded"
POLICY = """
    - guarded:
        type: my.Guarded
        targets: [ one ]
        properties: { answer: said }
        triggers: { t: { event: raised, action: [ { call_operation: Watch.react } ] } }
"""
TYPES = """
policy_types:
  acme.policies.Guarded: { derived_from: tosca.policies.Root, properties: { answer: { type: string } } }
  my.Guarded: { derived_from: acme.policies.Guarded }
topology_template:
"""


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install("rules", tmp_path_factory.mktemp("plugins"))


@pytest.fixture
def installed(plugin: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(plugin))
    policy_rules.policy_rules.cache_clear()
    yield
    policy_rules.policy_rules.cache_clear()


def asked(answer: str, level: int, limit: float = 60.0) -> Ruling:
    """What the rule says."""
    instances = {"a_1": {"attributes": {"level": level}}}
    call = {"properties": {"answer": answer}, "entity": "a_1", "event": "e", "snapshot": {"instances": instances}}
    return ask_rule(GUARDED, call, limit)


@pytest.mark.usefixtures("installed")
def test_what_a_rule_says() -> None:
    """R-12-16: true, false, or why not; what fails or does not answer permits nothing."""
    assert rule_for(("my.Guarded", GUARDED, "tosca.policies.Root")) == GUARDED
    assert rule_for(("tosca.policies.Root",)) == ""
    assert asked("plain", 7) == Ruling(acts=True)
    assert asked("plain", 3) == Ruling(acts=False)
    assert asked("said", 3) == Ruling(acts=False, said="a e of a_1 at level 3 is no reason")
    assert asked("raise", 7) == Ruling(acts=False, said=f"the rule of {GUARDED} failed: RuntimeError: it is broken")
    assert "returned 3, not True or False" in asked("odd", 7).said
    assert "did not answer within 1 s" in asked("sleep", 7, limit=1.0).said


@pytest.mark.usefixtures("installed")
def test_a_rule_is_asked_before_a_trigger_acts(run: Run, tmp_path: Path) -> None:
    """R-12-16: a policy of its type, or of one that is derived from it, does nothing that it does not permit."""
    shutil.copytree(DATA / "notices", tmp_path / "service")
    file = tmp_path / "service" / "service.yaml"
    text = file.read_text().replace("\ntopology_template:\n", TYPES).replace("  policies:\n", f"  policies:{POLICY}")
    file.write_text(text)
    assert run("deploy", "service", "-e", "e", "--yes").code == 0
    told = run("notify", "one", "raised", "-i", "level=3", "-e", "e")
    assert (told.code, "at level 3 is no reason" in told.err) == (0, True)
    assert run("notify", "one", "raised", "-i", "level=8", "-e", "e").code == 0
    listed = run("jobs", "list", "-e", "e", "-o", "json").json
    assert [j["workflow"] for j in listed["jobs"]] == ["trigger guarded.t", "notify", "notify", "deploy"]
