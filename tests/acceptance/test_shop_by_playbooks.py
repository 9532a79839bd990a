"""The shop once more, on hosts of its own, with Ansible playbooks in the place of scripts."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.acceptance.program import SHOP, Shop, free_ports, get, ordito, post
from tests.support.real.needs import ansible_playbook
from tests.support.thorough import THOROUGH
from tests.support.yaml_files import read_yaml, write_yaml

if TYPE_CHECKING:
    from tests.support.real.hosts import SshHosts


PLAYBOOKS = SHOP / "ansible" / "service.yaml"
DATA_ONLY = ("data_machine", "database", "api")


def only_data(service: Path) -> None:
    """Leave of the shop what keeps its data: each playbook costs a second or two of processor time."""
    document = read_yaml(service.read_text(encoding="utf-8"))
    topology = document["topology_template"]
    topology["node_templates"] = {name: topology["node_templates"][name] for name in DATA_ONLY}
    topology["outputs"] = {"api_url": topology["outputs"]["api_url"]}
    service.write_text(write_yaml(document), encoding="utf-8")


@pytest.mark.timeout(600)
def test_the_same_service_template_is_deployed_by_playbooks(tmp_path: Path, ssh_hosts: SshHosts) -> None:
    """Only the types that are imported are others; each tier lives on a host of its own, and is removed from it. The
    quick form deploys one tier, and leaves the way down to the long one."""
    ansible_playbook()
    ssh_hosts.need_isolation()
    assert PLAYBOOKS.read_bytes() == (SHOP / "service.yaml").read_bytes()
    shutil.copytree(SHOP, tmp_path / "shop")
    shop = Shop(tmp_path, tmp_path / "shop/ansible/service.yaml", free_ports(22))
    if not THOROUGH:
        only_data(shop.service)
    with ssh_hosts.some(*(("data", "web", "front") if THOROUGH else ("data",))) as hosts:
        known = ssh_hosts.known_hosts(hosts)
        defaults = f"{{ user: {hosts[0].user}, identity: {ssh_hosts.key}, known_hosts: {known}, agent: false }}"
        lines = [f"  {host.name}: {{ address: {host.address}, port: {host.port} }}" for host in hosts]
        inventory = tmp_path / "hosts.yaml"
        inventory.write_text(f"defaults: {defaults}\nhosts:\n" + "\n".join(lines) + "\n")
        inputs = [i.replace(str(shop.directory), "/tmp/shop") for i in shop.inputs(1)]
        deployed = ordito(tmp_path, *shop.deploying(*inputs), "--hosts", inventory, limit=300.0)
        assert deployed.code == 0, deployed.both

        homes = sorted(sorted(path.name for path in (host.root / "tmp/shop").iterdir()) for host in hosts)
        if not THOROUGH:
            url = shop.run("output", "api_url").out.strip()
            assert url == f"http://{hosts[0].address}:{shop.port + 1}"
            post(f"{url}/records", {"text": "tea"})
            assert [record["text"] for record in get(f"{url}/records")[0]["records"]] == ["tea"]
            assert homes == [["api_1", "database_1"]]
            return
        url = shop.run("output", "url").out.strip()
        assert url in {f"http://{host.address}:{shop.port}" for host in hosts}
        assert post(f"{url}/records", {"text": "tea"})["served_by"] == "web_1"
        assert [record["text"] for record in get(f"{url}/records")[0]["records"]] == ["tea"]
        assert homes == [["api_1", "database_1"], ["balancer_1"], ["web_1"]]
        undeployed = ordito(tmp_path, "undeploy", "--yes", "-e", shop.ensemble, limit=300.0)
        assert undeployed.code == 0, undeployed.both
        assert [host.files() for host in hosts] == [set(), set(), set()]
        assert not any((host.home_outside / ".ordito").exists() for host in hosts)
