"""The shop on hosts: its tiers apart, more web servers on hosts of the pool, a host that goes away."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from tests.acceptance.on_hosts import Hosted, hosted_shop, shop_folder, write_inventory
from tests.acceptance.program import get, post
from tests.support.real.hosts import SshHost, SshHosts


def answering(url: str) -> set[str]:
    """The web servers that answer through the balancer."""
    answered: Counter[str] = Counter()
    for _ in range(20):
        answered[get(f"{url}/records")[1]["X-Served-By"]] += 1
    return set(answered)


def check_tiers(shop: Hosted, hosts: dict[str, SshHost]) -> None:
    """Each tier has a host of its own, and its files are there and nowhere else."""
    wanted: dict[str, set[str]] = {name: set() for name in hosts}
    for instance, record in shop.instances().items():
        if "host" in record:
            wanted[shop.host_of(record["host"])].add(instance)
    assert {name: shop_folder(host) for name, host in hosts.items()} == wanted
    assert sum(bool(there) for there in wanted.values()) == sum("machine" in name for name in shop.instances())


def test_the_shop_lives_on_hosts(ssh_hosts: SshHosts, tmp_path: Path) -> None:
    """R-5.9.3-2, R-5.9.3-3: deployed with its tiers on three hosts, scaled to five web hosts, healed when one goes,
    and removed without a trace."""
    ssh_hosts.need_isolation()
    with ssh_hosts.some(*(f"host-{n}" for n in range(1, 9))) as members:
        hosts = {host.name: host for host in members}
        shop = hosted_shop(tmp_path)
        write_inventory(shop.inventory, ssh_hosts, members)
        deployed = shop.deploy("-i", "web_instances=1")
        assert deployed.code == 0, deployed.both
        check_tiers(shop, hosts)
        url = shop.run("output", "url").out.strip()
        assert post(f"{url}/records", {"text": "tea"})["written_by"] == "web_1"

        scaled = shop.run("scale", "web_machine=5", "--yes")
        assert scaled.code == 0, scaled.both
        check_tiers(shop, hosts)
        assert answering(url) == {f"web_{n}" for n in range(1, 6)}

        gone = shop.host_of("web_machine_3")
        hosts[gone].stop()
        assert answering(url) == {"web_1", "web_2", "web_4", "web_5"}
        checked = shop.run("check")
        assert checked.code == 0, checked.both
        states = {name: record["readyState"]["effective"] for name, record in shop.instances().items()}
        assert {name for name, status in states.items() if status == "error"} >= {"web_machine_3", "web_3"}
        assert all(states[f"web_{n}"] == "ok" for n in (1, 2, 4, 5))

        healed = shop.run("heal", "web_machine_3", "--yes")
        assert healed.code == 0, healed.both
        assert shop.host_of("web_machine_3") != gone
        assert answering(url) == {f"web_{n}" for n in range(1, 6)}
        assert [record["text"] for record in get(f"{url}/records")[0]["records"]] == ["tea"]

        removed = shop.run("undeploy", "--yes")
        assert removed.code == 0, removed.both
        assert {name: host.files() for name, host in hosts.items() if name != gone and host.files()} == {}
        assert shop.taken() == {gone: "lost"}
        hosts[gone].start_again()
        assert shop.run("hosts", "check", gone).code == 0
        assert shop.taken() == {}
