"""Artifacts of nodes that lie on another host: put in place, filled, packages installed there, and removed."""

from __future__ import annotations

from pathlib import Path

from tests.acceptance.on_hosts import Hosted, write_inventory
from tests.support.real.host_files import User
from tests.support.real.hosts import SshHost, SshHosts

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
imports: [ profile:tosca_non_normative_1_3 ]
node_types:
  App:
    derived_from: tosca.nodes.SoftwareComponent
    properties: { port: { type: integer, default: 80 } }
    attributes: { where: { type: string }, account: { type: string } }
topology_template:
  node_templates:
    machine:
      type: tosca.nodes.Compute
      artifacts: { motd: { type: tosca.artifacts.File, file: motd, deploy_path: motd.txt } }
    app:
      type: App
      requirements: [ { host: machine } ]
      artifacts:
        pages: { type: tosca.artifacts.File, file: pages, deploy_path: /srv/app/www }
        settings: { type: tosca.artifacts.template.Jinja2, file: conf/app.conf.j2, deploy_path: /srv/app/ }
      interfaces:
        Standard:
          operations:
            create:
              inputs: { name: wine }
              implementation:
                primary: { type: tosca.artifacts.Implementation.Python, file: create.py, artifact_version: VERSION }
                dependencies: [ requirements.txt, { type: Template.Jinja2, file: conf/own.j2 } ]
              outputs: { where: [ SELF, where ], account: [ SELF, account ] }
"""
CREATE = """\
import getpass, os, sys
assert open('/srv/app/app.conf').read() == 'port=80'
assert open(os.path.join(os.path.dirname(__file__), 'own')).read() == 'name=wine'
assert sys.prefix == os.environ['VIRTUAL_ENV']
where, account = sys.prefix, getpass.getuser()
"""


def write(home: Path, version: str) -> Hosted:
    service = home / "service"
    (service / "conf").mkdir(parents=True, exist_ok=True)
    (service / "pages/deep").mkdir(parents=True, exist_ok=True)
    (service / "service.yaml").write_text(SERVICE.replace("VERSION", f"'{version}'"))
    (service / "create.py").write_text(CREATE)
    (service / "requirements.txt").write_text("# nothing but the standard library\n")
    (service / "motd").write_text("welcome")
    (service / "pages/deep/index").write_text("index")
    (service / "conf/app.conf.j2").write_text("port={{ port }}")
    (service / "conf/own.j2").write_text("name={{ name }}")
    return Hosted(home, service / "service.yaml")


def files(host: SshHost) -> set[str]:
    return {name for name in host.files() if ".ordito/" not in name and ".cache/" not in name}


def test_artifacts_are_deployed_on_the_host(ssh_hosts: SshHosts, tmp_path: Path) -> None:
    """R-3.6.7-5, R-5.4.5-2, R-13.1-2, R-13.2.3-1, R-13.2.4-1, R-13.2.5-1: brought when an operation needs them, to the
    host where it runs, as the account that operations have there."""
    ssh_hosts.need_isolation()
    with ssh_hosts.some("far", user=User("ops", sudo="free")) as (host,):
        (host.root / "srv").mkdir(exist_ok=True)
        app = write(tmp_path, "3.99")
        write_inventory(app.inventory, ssh_hosts, [host], become="true")
        missing = app.deploy()
        assert missing.code == 1, missing.both
        assert 'needs the interpreter "Python 3.99", which is not installed on far' in missing.both
        assert app.run("undeploy", "--yes").code == 0
        assert files(host) == set()
        app = write(tmp_path, "3")
        deployed = app.deploy()
        assert deployed.code == 0, deployed.both
        assert files(host) == {"/root/motd.txt", "/srv/app/app.conf", "/srv/app/www/deep/index"}
        assert (host.root / "srv/app/app.conf").stat().st_mode & 0o777 == 0o600
        attributes = app.instances()["app_1"]["attributes"]
        assert attributes["account"] == "root"
        assert attributes["where"].startswith("/root/.cache/ordito/python/")
        assert app.run("undeploy", "--yes").code == 0
        assert files(host) == set()


WRITES = """\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  node_templates:
    machine: { type: tosca.nodes.Compute }
    app:
      type: tosca.nodes.SoftwareComponent
      artifacts: { conf: { type: tosca.artifacts.File, file: conf/app.conf } }
      requirements: [ { host: machine } ]
      interfaces: { Standard: { operations: { start: start.sh } } }
"""
WRITE = """\
set -e
sed -i s/PORT/8080/ "$conf"
cat "$conf" "$(dirname "$0")/conf/app.conf" >>/srv/seen
"""


def test_an_operation_writes_to_its_own_copy_on_the_host(ssh_hosts: SshHosts, tmp_path: Path) -> None:
    """Each time it finds it as it was pinned, and what was brought to the host stays so too."""
    ssh_hosts.need_isolation()
    service = tmp_path / "service"
    (service / "conf").mkdir(parents=True)
    (service / "service.yaml").write_text(WRITES)
    (service / "start.sh").write_text(WRITE)
    (service / "conf/app.conf").write_text("port=PORT\n")
    with ssh_hosts.some("writes", user=User("ops", sudo="free")) as (host,):
        (host.root / "srv").mkdir(exist_ok=True)
        app = Hosted(tmp_path, service / "service.yaml")
        write_inventory(app.inventory, ssh_hosts, [host], become="true")
        deployed = app.deploy()
        assert deployed.code == 0, deployed.both
        again = app.run("restart", "app_1", "--yes")
        assert again.code == 0, again.both
        assert (host.root / "srv/seen").read_text() == 2 * "port=8080\nport=PORT\n"
        (pinned,) = app.ensemble.glob("artifacts/*/conf/app.conf")
        assert (pinned.read_text(), pinned.stat().st_mode & 0o777) == ("port=PORT\n", 0o444)
        undone = app.run("undeploy", "--yes")
        assert undone.code == 0, undone.both
        assert files(host) == {"/srv/seen"}
