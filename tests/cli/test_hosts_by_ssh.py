"""A pool of hosts with an `sshd` and a root each: nodes live where they were put, and elsewhere when a host is gone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import Run
from tests.support.real.host_files import make_key
from tests.support.real.hosts import SshHost, SshHosts, free_place

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  node_templates:
    box:
      type: tosca.nodes.Compute
      instance_count: 2
      occurrences: [ 0, 9 ]
      capabilities: { os: { properties: { distribution: Debian } } }
    app:
      type: tosca.nodes.SoftwareComponent
      requirements: [ { host: box } ]
      interfaces:
        Standard:
          operations:
            create: { implementation: create.sh, inputs: { ADDRESS: { get_attribute: [ HOST, private_address ] } } }
            delete: delete.sh
"""


class Pool:
    """A folder with a service and an inventory of hosts that run."""

    def __init__(self, place: Path, hosts: list[SshHost], run: Run) -> None:
        self.place = place
        self.run = run
        self.hosts = {host.name: host for host in hosts}
        (place / "service.yaml").write_text(SERVICE)
        (place / "create.sh").write_text('echo "$INSTANCE $ADDRESS" > "$HOME/app"\n')
        (place / "delete.sh").write_text('rm -f "$HOME/app"\n')
        lines = [
            f"  {h.name}: {{ address: {h.address}, port: {h.port},"
            " capabilities: { os: { distribution: debian } } }"
            for h in hosts
        ]
        defaults = f"{{ user: {hosts[0].user}, identity: {hosts[0].key}, known_hosts: known_hosts, agent: false }}"
        (place / "hosts.yaml").write_text(f"defaults: {defaults}\nhosts:\n" + "\n".join(lines) + "\n")

    def where(self) -> dict[str, str]:
        """On which host each application is, by what is on the hosts."""
        texts = {name: host.home_outside / "app" for name, host in self.hosts.items()}
        return {path.read_text().split()[0]: name for name, path in texts.items() if path.exists()}

    def states(self) -> dict[str, Any]:
        """The hosts as they are listed, by name."""
        return {host["name"]: host for host in json.loads(self.run("hosts", "list", "-o", "json").out)["hosts"]}


@pytest.fixture
def pool(tmp_path: Path, ssh_hosts: SshHosts, run: Run) -> Iterator[Pool]:
    with ssh_hosts.some("pool-a", "pool-b", "pool-c") as hosts:
        yield Pool(tmp_path, hosts, run)


def test_instances_move_to_another_host_when_theirs_is_gone(pool: Pool) -> None:
    refused = pool.run("hosts", "check")
    assert refused.code == 4, "nobody knows the keys of the hosts"
    assert refused.err.count("SHA256:") == 3
    accepted = pool.run("hosts", "check", "--accept-new")
    assert accepted.code == 0, accepted.err
    assert accepted.err.count("accepted the key") == 3
    assert accepted.out.count("debian") == 3

    deployed = pool.run("deploy", "--yes")
    assert deployed.code == 0, deployed.err
    assert pool.where() == {"app_1": "pool-a", "app_2": "pool-b"}
    assert (pool.hosts["pool-a"].home_outside / "app").read_text().split()[1] == pool.hosts["pool-a"].address

    pool.hosts["pool-a"].stop()
    checked = pool.run("check", "box_1", "-q")
    assert "cannot be reached: pool-a: " in checked.out
    assert "refuses connections" in checked.out
    healed = pool.run("heal", "app_1", "--yes", "-q")
    assert pool.where()["app_1"] == "pool-c", healed.err
    assert f"`ordito hosts check pool-a` succeeds: something of box_1, app_1 of {pool.place}" in healed.err
    status = json.loads(pool.run("status", "-o", "json").out)
    assert {i["local"] for i in status["instances"].values()} == {"ok"}
    lost = pool.states()["pool-a"]
    assert lost["state"] == "lost"
    assert lost["remains"] == [f"box_1 of {pool.place}", f"app_1 of {pool.place}"]

    # It is given to nobody before it was reached again.
    refused = pool.run("scale", "box=3", "--yes")
    assert refused.code == 3
    assert "pool-a could not be reached" in refused.err
    pool.hosts["pool-a"].start_again()
    found = pool.run("hosts", "check", "pool-a")
    assert found.code == 0, found.err
    assert f"check whether something remains there of box_1, app_1 of {pool.place}" in found.err
    assert pool.states()["pool-a"]["state"] == "free"

    undeployed = pool.run("undeploy", "--yes")
    assert undeployed.code == 0, undeployed.err
    assert {host["state"] for host in pool.states().values()} == {"free"}


SELECTING = """\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  node_templates:
    db_host:
      type: tosca.nodes.Compute
      directives: [ select ]
      metadata: { ordito.labels: role=db }
      node_filter:
        capabilities: [ os: { properties: [ distribution: { equal: DEBIAN } ] } ]
    one: &app
      type: tosca.nodes.SoftwareComponent
      requirements: [ { host: db_host } ]
      interfaces:
        Standard:
          operations:
            create: { implementation: create.sh, inputs: { ADDRESS: { get_attribute: [ HOST, private_address ] } } }
            delete: delete.sh
    two: *app
  outputs:
    address: { value: { get_attribute: [ db_host, private_address ] } }
"""


def test_a_compute_is_selected_among_the_hosts_of_the_inventory(pool: Pool) -> None:
    """R-2.9-1, R-2.9-2: a host that satisfies the filter is selected, used by two nodes, and neither made nor
    removed."""
    (pool.place / "service.yaml").write_text(SELECTING)
    (pool.place / "create.sh").write_text('echo "$INSTANCE" >> "$HOME/app.$INSTANCE"\n')
    (pool.place / "delete.sh").write_text('rm "$HOME/app.$INSTANCE"\n')
    refused = pool.run("deploy", "--yes")
    assert refused.code == 3
    assert "pool-a: it does not have the label role=db" in refused.err
    inventory = (pool.place / "hosts.yaml").read_text()
    (pool.place / "hosts.yaml").write_text(inventory.replace("pool-b: {", "pool-b: { labels: { role: db },"))
    assert pool.run("hosts", "check", "--accept-new").code == 0
    deployed = pool.run("deploy", "--yes")
    assert deployed.code == 0, deployed.err
    host = pool.hosts["pool-b"]
    assert host.address in deployed.out
    assert {p.name for p in host.home_outside.glob("app.*")} == {"app.one_1", "app.two_1"}
    assert pool.states()["pool-b"]["state"] == "free"
    undeployed = pool.run("undeploy", "--yes")
    assert undeployed.code == 0, undeployed.err
    assert not list(host.home_outside.glob("app.*"))


def test_a_host_that_lets_nobody_in_keeps_what_is_on_it(pool: Pool) -> None:
    """With a wrong key nothing is known of what runs on a host: it counts as neither removed nor lost."""
    assert pool.run("hosts", "check", "--accept-new").code == 0
    assert pool.run("deploy", "--yes").code == 0
    inventory = (pool.place / "hosts.yaml").read_text()
    make_key(pool.place / "wrong")
    key = str(pool.hosts["pool-a"].key)
    assert key in inventory
    (pool.place / "hosts.yaml").write_text(inventory.replace(key, "wrong"))
    refused = pool.run("undeploy", "--yes")
    assert refused.code == 4, refused.err
    assert "does not let" in refused.err
    assert pool.where() == {"app_1": "pool-a", "app_2": "pool-b"}
    assert [host["state"] for host in pool.states().values()] == ["taken", "taken", "free"]
    (pool.place / "hosts.yaml").write_text(inventory)
    undeployed = pool.run("undeploy", "--yes")
    assert undeployed.code == 0, undeployed.err
    assert pool.where() == {}
    assert {host["state"] for host in pool.states().values()} == {"free"}


def test_credentials_stand_elsewhere_and_hosts_are_reached_by_way_of_others(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keys and passwords come from secrets, variables and files when a host is reached, and no output shows them."""
    gate, web = pool.hosts["pool-a"], pool.hosts["pool-b"]
    key = gate.key.read_text()
    (pool.place / "known_hosts").write_text(f"{gate.known_hosts_line}\n{web.known_hosts_line}\n")
    (pool.place / "ensemble.yaml").write_text("spec: { service: service.yaml }\n")
    assert pool.run("secrets", "set", "key", "--file", str(gate.key)).code == 0
    (pool.place / "hosts.yaml").write_text(
        "defaults: { user: { env: HOSTS_USER }, known_hosts: known_hosts, agent: false, identity: { secret: key } }\n"
        "hosts:\n"
        f"  gate: {{ address: {gate.address}, port: {gate.port}, identity: {{ file: {gate.key} }} }}\n"
        f'  web: {{ address: "{{{{ env.HOSTS_WEB }}}}", port: {web.port}, jump: gate }}\n'
    )
    refused = pool.run("hosts", "check", "web")
    assert refused.code == 4
    assert 'hosts.yaml:4:20: "{{ env.HOSTS_WEB }}" has no value' in refused.err
    monkeypatch.setenv("HOSTS_USER", gate.user)
    monkeypatch.setenv("HOSTS_WEB", web.address)
    found = pool.run("hosts", "check")
    assert found.code == 0, found.err
    assert found.out.count(" yes ") == 2
    assert "PRIVATE KEY" not in found.out + found.err
    (pool.place / "create.sh").write_text(f"cat <<END\n{key}END\n")
    (pool.place / "service.yaml").write_text(SERVICE.replace("      capabilities: { os: {", "      # { os: {"))
    deployed = pool.run("deploy", "--yes", "-v")
    assert deployed.code == 0, deployed.err
    (pool.place / "create.sh").unlink()
    written = b"".join(
        path.read_bytes() for path in pool.place.rglob("*") if path.is_file() and "artifacts" not in str(path)
    )
    for line in key.splitlines()[1:-1]:
        assert line not in deployed.out + deployed.err
        assert line.encode() not in written
    (pool.place / "hosts.yaml").write_text((pool.place / "hosts.yaml").read_text().replace("jump: gate", "jump: web"))
    refused = pool.run("hosts", "check", "web")
    assert "web is reached through itself: web -> web" in refused.err


def test_each_host_of_one_address_tells_of_the_key_at_its_own_port(pool: Pool, ssh_hosts: SshHosts) -> None:
    first, other = pool.hosts["pool-a"], free_place()[1]
    second = ssh_hosts.start("second", config=f"ListenAddress {first.address}:{other}\n")
    (pool.place / "hosts.yaml").write_text(
        f"defaults: {{ user: {first.user}, identity: {first.key}, known_hosts: known_hosts, agent: false }}\n"
        f"hosts:\n  first: {{ address: {first.address}, port: {first.port} }}\n"
        f"  second: {{ address: {first.address}, port: {other} }}\n"
    )
    accepted = pool.run("hosts", "check", "--accept-new")
    ssh_hosts.stop(second)
    assert accepted.code == 0, accepted.err
    told = [line.partition(" ssh-")[0] for line in accepted.err.splitlines() if "accepted the key" in line]
    assert told == [
        f"first: accepted the key [{first.address}]:{first.port}",
        f"second: accepted the key [{first.address}]:{other}",
    ]


def test_what_was_on_a_lost_host_is_named_when_it_is_found_again(pool: Pool) -> None:
    """Also what an undeployment could not take down there."""
    assert pool.run("hosts", "check", "--accept-new").code == 0
    assert pool.run("deploy", "--yes").code == 0
    pool.hosts["pool-b"].stop()
    assert pool.run("undeploy", "--yes").code == 4
    assert pool.states()["pool-b"]["remains"] == [f"box_2 of {pool.place}", f"app_2 of {pool.place}"]
    assert f"on it there may remain: box_2, app_2 of {pool.place}" in pool.run("hosts", "list").err
    pool.hosts["pool-b"].start_again()
    assert f"remains there of box_2, app_2 of {pool.place}" in pool.run("hosts", "check", "pool-b").err
    assert pool.where() == {"app_2": "pool-b"}
