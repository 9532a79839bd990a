"""The inventory of hosts and its pool, through the command."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.program import Run

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  inputs:
    boxes: { type: integer, default: 1 }
    cpus: { type: integer, default: 2 }
  node_templates:
    box:
      type: tosca.nodes.Compute
      instance_count: { get_input: boxes }
      occurrences: [ 0, 9 ]
      capabilities:
        host: { properties: { num_cpus: { get_input: cpus } } }
        os: { properties: { type: Linux } }
"""

HOSTS = """\
hosts:
  small: { connection: local, capabilities: { host: { num_cpus: 1 }, os: { type: linux } } }
  one: { connection: local, capabilities: { host: { num_cpus: 4 }, os: { type: LINUX } } }
  two: { connection: local, capabilities: { host: { num_cpus: 4 }, os: { type: linux } } }
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "service.yaml").write_text(SERVICE)
    (tmp_path / "hosts.yaml").write_text(HOSTS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def hosts_of(run: Run) -> dict[str, str]:
    """Which host each instance has."""
    found = run("status", "-o", "json").json["instances"]
    known = {name: i.get("attributes", {}).get("ordito.host", {}) for name, i in found.items() if i["local"] == "ok"}
    return {name: str(host["id"]) for name, host in known.items() if host}


def test_computes_get_hosts_that_have_what_they_ask_for_and_give_them_back(run: Run, place: Path) -> None:
    """R-2.1-3, R-5.5.12-1, R-5.5.12-2: a Compute that says only what it needs gets a host that has it, whatever the
    letter case of the operating system's name."""
    assert run("deploy", "-i", "boxes=2", "--yes").code == 0
    assert hosts_of(run) == {"box_1": "one", "box_2": "two"}
    assert run("deploy", "-i", "boxes=1", "--yes").code == 0
    assert run("undeploy", "--yes").code == 0
    assert run("deploy", "-i", "boxes=2", "--yes").code == 0
    assert sorted(hosts_of(run).values()) == ["one", "two"]


def test_a_plan_that_no_host_is_fit_for_is_refused(run: Run, place: Path) -> None:
    refused = run("deploy", "-i", "boxes=3", "--yes")
    assert refused.code == 3
    assert "there is no host for box_3" in refused.err
    assert "small has num_cpus 1; one is taken by" in refused.err
    assert not (place / "ensemble.yaml").exists()
    assert not (place / ".ordito").exists()
    refused = run("plan", "-i", "cpus=8")
    assert refused.code == 3
    assert "no host of hosts.yaml is free and suitable (num_cpus >= 8, type linux)" in refused.err


def test_all_faults_of_an_inventory_are_told_with_their_places(run: Run, place: Path) -> None:
    (place / "hosts.yaml").write_text(
        "defaults: { user: deploy, pasword: { secret: pw } }\n"
        "hosts:\n"
        "  a: { capabilities: { host: { num_cpus: many, mem: 3 }, os: { type: { env: X } } } }\n"
        '  "b c": { port: 99999, host_key_check: of }\n'
        "  c: 17\n"
        "  d: { password: hunter2, jumb: a }\n"
        "provide: { box: pol }\n"
        "hots: {}\n"
    )
    refused = run("deploy", "--yes")
    assert refused.code == 3
    places = re.findall(r"--> hosts\.yaml:(\d+:\d+)", refused.err)
    assert places == ["1:27", "3:42", "3:48", "3:70", "4:3", "4:18", "4:41", "5:6", "6:27", "7:17", "8:1"]
    for near in ("password", "mem_size", "off", "pool", "hosts", "jump"):
        assert f'did you mean "{near}"?' in refused.err
    assert "hunter2" not in refused.err + refused.out
    (place / "ensemble.yaml").write_text("spec: { service: service.yaml }\n")
    checked = run("validate")
    assert checked.code == 3
    assert len(re.findall(r"--> hosts\.yaml:", checked.err)) == len(places)


def test_the_inventory_that_a_command_names_is_remembered(run: Run, place: Path) -> None:
    (place / "other.yaml").write_text(HOSTS.replace("one:", "uno:"))
    assert run("--hosts", "other.yaml", "deploy", "--yes").code == 0
    assert hosts_of(run) == {"box_1": "uno"}
    assert run("scale", "box=2", "--yes").code == 0
    assert hosts_of(run) == {"box_1": "uno", "box_2": "two"}
    (place / "other.yaml").rename(place / "moved.yaml")
    refused = run("undeploy", "--yes")
    assert refused.code == 3
    assert "other.yaml, which an earlier command has named, no longer exists" in refused.err
    assert run("undeploy", "--yes", "--hosts", "moved.yaml").code == 0
    assert run("deploy", "--yes", "--hosts", "").code == 0
    assert hosts_of(run) == {"box_1": "one", "box_2": "two"}, "the number of instances was set by scaling"


def test_an_environment_names_its_inventory(run: Run, place: Path) -> None:
    (place / "hosts.yaml").rename(place / "prod.yaml")
    (place / "ensemble.yaml").write_text(
        "spec:\n  service: service.yaml\n  environments:\n"
        "    prod: { hosts: prod.yaml }\n    test: { hosts: tset.yaml }\n"
    )
    assert run("deploy", "--env", "prod", "--yes").code == 0
    assert hosts_of(run) == {"box_1": "one"}
    refused = run("plan", "--env", "test")
    assert refused.code == 3
    assert re.search(r"ensemble\.yaml:5:20", refused.err)


def test_hosts_are_not_taken_for_lost_when_their_inventory_is(run: Run, place: Path) -> None:
    """Nothing runs and no record changes before it is there again, whatever is asked for; and nothing is made
    elsewhere."""
    assert run("deploy", "--yes").code == 0
    before = run("status", "-o", "json").json["instances"]
    (place / "hosts.yaml").rename(place / "away.yaml")
    for words in (["check"], ["undeploy", "--yes"], ["heal", "box_1", "--yes"]):
        refused = run(*words)
        assert refused.code == 3, words
        assert 'box_1 was made by the provider "pool", and there is no inventory now' in refused.err
    (place / "hosts.yaml").write_text("provide: {}\n")
    assert "hosts.yaml does not have it" in run("check").err
    assert run("status", "-o", "json").json["instances"] == before
    (place / "hosts.yaml").unlink()
    (place / "away.yaml").rename(place / "hosts.yaml")
    assert run("undeploy", "--yes").code == 0


def test_the_pool_makes_computes_only(run: Run, place: Path) -> None:
    app = "    app: { type: tosca.nodes.SoftwareComponent, requirements: [ { host: box } ] }\n"
    (place / "service.yaml").write_text(SERVICE + app)
    (place / "hosts.yaml").write_text(HOSTS + "provide: { app: pool }\n")
    refused = run("plan")
    assert refused.code == 3
    assert "the pool gives hosts to Computes, and app is a tosca.nodes.SoftwareComponent" in refused.err


def test_what_never_came_onto_its_host_is_removed_without_it(run: Run, place: Path) -> None:
    """A credential is missing when the host is given out: nothing has run there."""
    host = "{ address: 127.0.0.1, password: { secret: nobody-has-it }, capabilities: { host: { num_cpus: 4 },"
    (place / "hosts.yaml").write_text(f"hosts:\n  far: {host} os: {{ type: linux }} }} }}\n")
    refused = run("deploy", "--yes")
    assert refused.code == 4
    assert 'there is no secret "nobody-has-it"' in refused.err
    assert run("undeploy", "--yes").code == 0
    assert run("hosts", "list", "-o", "json").json["hosts"][0]["state"] == "free"


def test_the_inventory_says_who_makes_which_node(run: Run, place: Path) -> None:
    (place / "hosts.yaml").write_text(HOSTS + "provide: { box: localhost }\n")
    assert run("deploy", "--yes").code == 0
    instance = run("status", "-o", "json").json["instances"]["box_1"]
    assert "ordito.host" not in instance["attributes"]
    # What exists stays with who has made it, whatever the inventory says now.
    (place / "hosts.yaml").write_text(HOSTS)
    assert run("undeploy", "--yes").code == 0


def test_labels_and_resources_are_asked_for_by_metadata(run: Run, place: Path) -> None:
    metadata = '\n      metadata: { ordito.labels: "zone=b, fast", ordito.resources: gpu=1 }'
    (place / "service.yaml").write_text(SERVICE.replace("tosca.nodes.Compute", "tosca.nodes.Compute" + metadata))
    has = "capabilities: { host: { num_cpus: 4 }, os: { type: linux } }"
    (place / "hosts.yaml").write_text(
        f"hosts:\n  a: {{ connection: local, labels: {{ zone: a, fast: true }}, resources: {{ gpu: 1 }}, {has} }}\n"
        f"  b: {{ connection: local, labels: {{ zone: b, fast: true }}, resources: {{ gpu: 2 }}, instances: 3,"
        f" {has} }}\n"
    )
    assert run("deploy", "-i", "boxes=2", "--yes").code == 0
    assert hosts_of(run) == {"box_1": "b", "box_2": "b"}
    refused = run("scale", "box=3", "--yes")
    assert refused.code == 3
    assert "a has the label zone=a; b has num_cpus 0 left and has gpu 0 left" in refused.err


def test_hosts_are_listed_with_what_is_left_of_them_and_who_has_them(run: Run, place: Path) -> None:
    shared = HOSTS.replace("two: {", "two: { instances: 2, labels: { zone: a },")
    (place / "hosts.yaml").write_text(shared + "provide: { box: pool }\n")
    assert run("deploy", "-i", "boxes=2", "--yes").code == 0
    listed = run("hosts", "list")
    assert listed.code == 0
    lines = {line.split()[0]: line for line in listed.out.splitlines()}
    assert re.search(r"this machine +free +linux +num_cpus 1$", lines["small"])
    assert re.search(r"this machine +taken +LINUX +box_1 of \.$", lines["one"])
    assert re.search(r"this machine +shared +linux +num_cpus 2 +zone=a +box_2 of \.$", lines["two"])
    (two,) = run("hosts", "list", "two", "-o", "json").json["hosts"]
    assert two["owners"] == [{"instance": "box_2", "ensemble": str(place)}]
    refused = run("hosts", "list", "too")
    assert refused.code == 3
    assert 'did you mean "two"?' in refused.err


def test_hosts_are_checked_against_the_inventory(run: Run, place: Path) -> None:
    (place / "hosts.yaml").write_text(
        "hosts:\n  here: { connection: local, capabilities: { host: { num_cpus: 1, mem_size: 900 TB },"
        " os: { type: Linux, distribution: plan9 } } }\n"
    )
    checked = run("hosts", "check")
    assert checked.code == 0
    assert re.search(r"here +yes .* sh", checked.out)
    assert "but the inventory says 900 TB" in checked.err
    assert "but the inventory says plan9" in checked.err
    assert "num_cpus" not in checked.err
    assert "type is" not in checked.err


def test_hosts_of_an_ensemble_that_is_gone_are_taken_back(run: Run, place: Path, tmp_path: Path) -> None:
    (place / "live").mkdir()
    assert run("-e", "live", "--hosts", "hosts.yaml", "deploy", "service.yaml", "--yes").code == 0
    refused = run("hosts", "release", "one")
    assert refused.code == 3
    assert "which still exists" in refused.err
    (place / "live").rename(place / "dead")
    assert "one was taken back from box_1 of" in run("hosts", "release", "one").out
    assert run("hosts", "list", "one", "-o", "json").json["hosts"][0]["state"] == "free"


def test_a_saved_plan_keeps_the_inventory_it_was_made_with(run: Run, place: Path) -> None:
    (place / "other.yaml").write_text(HOSTS.replace("one:", "uno:"))
    assert run("plan", "--hosts", "other.yaml", "--out", "saved.plan").code == 0
    (place / "other.yaml").write_text(HOSTS.replace("one:", "eins:"))
    stale = run("deploy", "saved.plan", "--yes")
    assert stale.code == 3
    assert "the inventory of hosts was changed" in stale.err
    (place / "other.yaml").write_text(HOSTS.replace("one:", "uno:"))
    assert run("deploy", "saved.plan", "--yes").code == 0
    assert hosts_of(run) == {"box_1": "uno"}


def test_what_was_made_before_there_was_an_inventory_stays_what_it_is(run: Run, place: Path) -> None:
    (place / "hosts.yaml").unlink()
    assert run("deploy", "--yes").code == 0
    (place / "hosts.yaml").write_text(HOSTS)
    assert run("check").code == 0
    assert run("status", "-o", "json").json["instances"]["box_1"]["local"] == "ok"
    assert run("undeploy", "--yes").code == 0


def test_a_scale_out_without_hosts_names_the_one_that_needs_none(run: Run, place: Path) -> None:
    """A node is scaled with its Compute: where there is no host for another one, more can stand on those there are."""
    app = "    app: { type: tosca.nodes.SoftwareComponent, occurrences: [ 0, 9 ], requirements: [ host: box ] }\n"
    (place / "service.yaml").write_text(SERVICE + app)
    assert run("deploy", "--yes").code == 0
    refused = run("scale", "app=5", "--yes")
    assert refused.code == 3
    assert "ordito scale app=5 --yes --no-scale-compute    scale app alone, on the existing hosts" in refused.err
    assert "--no-scale-compute" not in run("scale", "box=5", "--yes").err
    assert run("scale", "app=2", "--no-scale-compute", "--yes").code == 0
    assert run("undeploy", "--yes").code == 0


SHARED = """\
hosts:
  one: { connection: local, instances: 3 }
  two: { connection: local, instances: 3 }
"""


def test_instances_are_spread_unless_they_are_to_be_packed(run: Run, place: Path) -> None:
    plain = "tosca_definitions_version: tosca_simple_yaml_1_3\ntopology_template:\n  node_templates:\n    box:\n"
    plain += "      type: tosca.nodes.Compute\n      instance_count: 3\n      occurrences: [ 0, 9 ]\n"
    (place / "hosts.yaml").write_text(SHARED)
    (place / "service.yaml").write_text(plain)
    assert run("deploy", "--yes").code == 0
    assert sorted(hosts_of(run).values()) == ["one", "one", "two"]
    assert run("undeploy", "--yes").code == 0
    (place / "service.yaml").write_text(plain + "      metadata: { ordito.placement: pack }\n")
    assert run("deploy", "--yes").code == 0
    assert sorted(hosts_of(run).values()) == ["one", "one", "one"]
    (place / "service.yaml").write_text(plain + "      metadata: { ordito.placement: packed, ordito.label: a }\n")
    refused = run("plan")
    assert refused.code == 3
    assert "did you mean" in refused.err
    assert "ordito.labels" in refused.err


def test_what_a_policy_keeps_apart_is_on_different_hosts(run: Run, place: Path) -> None:
    """R-12-10: with anti-affinity no two instances share a machine, though the machines could be shared."""
    (place / "hosts.yaml").write_text(SHARED)
    service = SERVICE[: SERVICE.index("      capabilities:")]
    app = "    app:\n      type: tosca.nodes.SoftwareComponent\n      requirements: [ { host: box } ]\n"
    policy = "  policies:\n    - apart:\n        type: acme.Apart\n        targets: [ app ]\n"
    policy += "        properties: { anti_affinity: Compute }\n"
    kind = "policy_types:\n  acme.Apart:\n    derived_from: tosca.policies.Placement\n"
    kind += "    properties: { anti_affinity: { type: string } }\n"
    (place / "service.yaml").write_text(
        service.replace("topology_template:", f"{kind}topology_template:") + app + policy
    )
    assert run("deploy", "-i", "boxes=2", "--yes").code == 0
    assert sorted(i for n, i in hosts_of(run).items()) == ["one", "two"]
    refused = run("deploy", "-i", "boxes=3", "--yes")
    assert refused.code == 3
    assert "which must be on another host" in refused.err


def test_a_pool_whose_books_are_lost_learns_again_who_has_which_host(run: Run, place: Path) -> None:
    assert run("deploy", "--yes").code == 0
    assert hosts_of(run) == {"box_1": "one"}
    (place / ".ordito" / "hosts.db").unlink()
    assert run("scale", "box=2", "--yes").code == 0
    assert hosts_of(run) == {"box_1": "one", "box_2": "two"}
    listed = {h["name"]: h["state"] for h in run("hosts", "list", "-o", "json").json["hosts"]}
    assert listed == {"small": "free", "one": "taken", "two": "taken"}
    (place / ".ordito" / "hosts.db").unlink()
    refused = run("scale", "box=3", "--yes")
    assert refused.code == 3
    assert "one is taken by box_1" in refused.err
    assert run("undeploy", "--yes").code == 0


def test_hosts_stay_taken_though_the_books_are_lost_and_there_is_nothing_to_do(run: Run, place: Path) -> None:
    """The ensemble's own records say which hosts it has: nobody else gets them."""
    (place / "live").mkdir()
    (place / "other").mkdir()
    assert run("-e", "live", "--hosts", "hosts.yaml", "deploy", "service.yaml", "--yes").code == 0
    (place / ".ordito" / "hosts.db").unlink()
    listed = run("-e", "live", "hosts", "list", "one", "-o", "json").json["hosts"][0]
    assert listed["state"] == "taken"
    assert listed["owners"] == [{"instance": "box_1", "ensemble": str(place / "live")}]
    assert not (place / ".ordito").exists() or not (place / ".ordito" / "hosts.db").exists(), "to look changes nothing"
    assert "Nothing to do" in run("-e", "live", "deploy", "--yes").err
    assert run("-e", "other", "--hosts", "hosts.yaml", "deploy", "service.yaml", "--yes").code == 0
    listed = {h["name"]: h["owners"] for h in run("-e", "live", "hosts", "list", "-o", "json").json["hosts"]}
    assert [o["instance"] for o in listed["one"]] == ["box_1"]
    assert listed["two"] == [{"instance": "box_1", "ensemble": str(place / "other")}]


def test_another_inventory_learns_nothing_from_a_command_that_does_nothing(run: Run, place: Path) -> None:
    """What exists has its hosts from the inventory that the ensemble remembers."""
    assert run("deploy", "--yes").code == 0
    (place / "far").mkdir()
    (place / "far" / "hosts.yaml").write_text(HOSTS)
    assert run("--hosts", "far/hosts.yaml", "deploy", "--yes").code == 0
    states = {h["state"] for h in run("--hosts", "far/hosts.yaml", "hosts", "list", "-o", "json").json["hosts"]}
    assert states == {"free"}
    assert not (place / "far" / ".ordito").exists()


def test_the_version_of_an_operating_system_is_its_literal_text(run: Run, place: Path) -> None:
    """R-5.5.12-3: 12.10 is not 12.1, wherever YAML would take them for the same number."""
    (place / "service.yaml").write_text(SERVICE.replace("type: Linux }", "type: Linux, version: 12.10 }"))
    system = "{ connection: local, capabilities: { host: { num_cpus: 2 }, os: { type: linux, version: %s } } }"
    (place / "hosts.yaml").write_text(f"hosts:\n  old: {system % '12.1'}\n  new: {system % '12.10'}\n")
    assert run("deploy", "--yes").code == 0
    assert hosts_of(run) == {"box_1": "new"}
    refused = run("scale", "box=2", "--yes")
    assert refused.code == 3
    assert "old has version 12.1;" in refused.err


def test_a_provider_that_is_named_for_nothing_is_told_with_its_place(run: Run, place: Path) -> None:
    """Where an inventory names nodes of several services that is as it should be: so it is no error. Types of TOSCA
    that this service does not use are no mistake at all."""
    known = "provide:\n  tosca.nodes.network.Network: localhost\n  tosca.nodes.Root: pool\n"
    (place / "hosts.yaml").write_text(HOSTS + known + "  bxo: localhost\n  tosca.nodes.Comptue: pool\n")
    for words in (("validate",), ("plan",), ("deploy", "--yes")):
        said = run(*words)
        assert said.code == 0
        assert said.err.count("unused-provider") == 2
        assert "hosts.yaml:8:3" in said.err
        assert '"provide" names a provider for "bxo"' in said.err
        assert 'did you mean "box"?' in said.err
        assert 'did you mean "tosca.nodes.Compute"?' in said.err
    (place / "hosts.yaml").write_text(HOSTS + known + "  box: pool\n")
    assert "unused-provider" not in run("validate").err + run("plan").err


def test_labels_that_nobody_heeds_are_told_with_the_place_of_their_node(run: Run, place: Path) -> None:
    """A Compute that is to have a host with labels gets this machine where there is no pool, or another provider is
    named for it."""
    labelled = SERVICE.replace(
        "      instance_count", "      metadata: { ordito.labels: zone=a }\n      instance_count"
    )
    (place / "service.yaml").write_text(labelled)
    (place / "hosts.yaml").rename(place / "pool.yaml")
    told = run("plan")
    assert told.code == 0
    assert "unused-labels" in told.err
    assert "service.yaml:7:5" in told.err
    assert "box asks for a host of a pool (label zone=a), but no pool is used" in told.err
    assert "name hosts in an inventory" in told.err
    (place / "hosts.yaml").write_text(HOSTS + "provide: { box: localhost }\n")
    told = run("validate")
    assert "unused-labels" in told.err
    assert 'take it out of "provide" in hosts.yaml' in told.err
    hosts = HOSTS.replace("connection: local,", "connection: local, labels: { zone: a },")
    (place / "hosts.yaml").write_text(hosts)
    assert "unused-labels" not in run("validate").err + run("plan").err


def test_a_private_key_that_others_may_read_is_told_once(run: Run, place: Path) -> None:
    """ssh uses no such key. Nobody has to be reached to see that, and it may be that of a host on the way."""
    key, way = place / "my key", place / "way"
    for file in (key, way):
        file.write_text("no key")
        file.chmod(0o644)
    (place / "hosts.yaml").write_text(
        "defaults: { identity: my key, port: 1, known_hosts: known }\n"
        "hosts:\n"
        "  a: { address: 127.0.0.1 }\n"
        "  b: { address: 127.0.0.1, jump: gate }\n"
        "  gate: { address: 127.0.0.1, identity: way }\n"
    )
    checked = run("hosts", "check", "a", "b")
    assert checked.code == 4
    assert checked.err.count(f"others may read the private key {key}, so ssh does not use it") == 1
    assert f"chmod 600 '{key}'" in checked.err
    assert f"chmod 600 {way}" in checked.err
    told = run("hosts", "check", "a", "b", "-o", "json").json["hosts"]
    assert [host["open_keys"] for host in told] == [[str(key)], [str(key), str(way)]]
    key.chmod(0o600)
    way.chmod(0o400)
    assert "others may read" not in run("hosts", "check").err
