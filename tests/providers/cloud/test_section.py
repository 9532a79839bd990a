"""The section `cloud` of the inventory."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ordito.base.diagnostics import Diagnostics
from ordito.base.sensitive import Sensitive
from ordito.providers.cloud.api import library
from ordito.providers.cloud.section import make_provider
from ordito.providers.cloud.settings import MachineImage
from ordito.providers.shapes import InventorySection, NoValue
from ordito.source.nodes import Mapping as MappingNode
from ordito.source.nodes import Node
from ordito.source.package import load_file
from ordito.work.providing import ProviderFailed
from ordito.work.targets import Hands, HostTarget, Unreachable

SECRET = "the key of the cloud"


def section(folder: Path, text: str, *, locked: bool = False) -> InventorySection:
    """A section as it stands in an inventory, whose values below `secret:` stand elsewhere."""
    file = folder / "hosts.yaml"
    file.write_text(text)
    diagnostics = Diagnostics()
    document = load_file(str(file), diagnostics)
    assert document is not None
    assert isinstance(document.root, MappingNode)
    elsewhere = load_file(str(_with(folder / "elsewhere.yaml", SECRET)), Diagnostics())
    assert elsewhere is not None

    def fetch(_: Node) -> tuple[Node, bool]:
        if locked:
            raise NoValue("the vault is locked")
        assert elsewhere.root is not None
        return elsewhere.root, True

    return InventorySection(
        name="cloud",
        node=document.root.values["cloud"],
        diagnostics=diagnostics,
        folder=folder,
        file="hosts.yaml",
        later=lambda node: isinstance(node, MappingNode) and "secret" in node.values,
        fetch=fetch,
        defaults={},
    )


def _with(file: Path, text: str) -> Path:
    file.write_text(text)
    return file


WHOLE = """\
cloud:
  driver: ec2
  key: AKIA
  secret: { secret: cloud }
  arguments: { region: eu-central-1, port: 5000, secure: false }
  images:
    - { distribution: ubuntu, version: 22.10, image: ami-1 }
  sizes: [ t3.micro ]
  address: private
  user: ubuntu
  identity: keys/cloud
  public_key: cloud.pub
  timeout: 5 m
"""


def test_a_whole_section(tmp_path: Path) -> None:
    """Everything is read as it is meant; secrets are looked up when the cloud is first asked for something."""
    _with(tmp_path / "cloud.pub", "ssh-ed25519 AAAA me\n")
    found = section(tmp_path, WHOLE)
    provider = make_provider(found, _hands())
    assert found.diagnostics.sorted() == []
    settings = provider.settings
    assert settings.driver == "ec2"
    assert isinstance(settings.key, Sensitive)
    assert isinstance(settings.secret, Sensitive)
    assert settings.secret.reveal() == SECRET
    assert settings.arguments == {"region": "eu-central-1", "port": 5000, "secure": False}
    assert settings.images == (MachineImage("ami-1", distribution="ubuntu", version="22.10"),)
    assert (settings.sizes, settings.timeout, settings.public_key) == (("t3.micro",), 300, "ssh-ed25519 AAAA me")
    target = provider.target("web_1", {"private_address": "10.0.0.1", "public_address": "198.51.100.1"})
    identity = [str(tmp_path / "keys/cloud")]
    assert target == HostTarget("ssh", "web_1", {"user": "ubuntu", "identity": identity, "address": "10.0.0.1"})
    with pytest.raises(Unreachable, match=r"web_1 .* has no private_address: look at `address`"):
        provider.target("web_1", {})


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("cloud: { key: x }", 'has no "driver"'),
        ("cloud: { driver: EC3 }", 'did you mean "ec2"'),
        ("cloud: { driver: EC2, regoin: x }", "regoin"),
        ("cloud: { driver: EC2, imagse: x }", 'did you mean "image"'),
        ("cloud: { driver: EC2, address: pubic }", 'did you mean "public"'),
        ("cloud: { driver: EC2, requests: 0 }", "a whole number from 1 to 64"),
        ("cloud: { driver: EC2, images: [ { type: linux } ] }", 'has no "image"'),
        ("cloud: { driver: EC2, reach: maybe }", "true or false"),
        ("cloud: { driver: EC2, admits: everybody }", "192.0.2.0/24"),
    ],
)
def test_mistakes_are_told_where_they_are(tmp_path: Path, text: str, problem: str) -> None:
    """Each with its place, and what may be meant."""
    found = section(tmp_path, text)
    make_provider(found, _hands())
    (told,) = found.diagnostics.sorted()
    assert told.span is not None
    assert problem in f"{told.message} {told.hint}"


def test_values_that_cannot_be_had(tmp_path: Path) -> None:
    """What cannot be looked up fails when it is needed, not before."""
    provider = make_provider(section(tmp_path, "cloud: { driver: EC2, key: { secret: x } }", locked=True), _hands())
    assert provider.provides(("tosca.nodes.Compute",))
    with pytest.raises(ProviderFailed, match="the vault is locked"):
        _ = provider.settings
    provider = make_provider(section(tmp_path, "cloud: { driver: EC2, public_key: none.pub }"), _hands())
    with pytest.raises(Unreachable, match=r'the file "none.pub" with a public key cannot be read'):
        provider.target("web_1", {"public_address": "198.51.100.1"})


def test_without_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said what to install, with the inventory's place."""
    monkeypatch.setitem(sys.modules, "libcloud.compute.providers", None)
    library.cache_clear()
    found = section(tmp_path, "cloud: { driver: EC2 }")
    make_provider(found, _hands())
    library.cache_clear()
    (told,) = found.diagnostics.sorted()
    assert "pip install 'ordito[cloud]'" in told.message
    assert told.span is not None


def _hands() -> Hands:
    class Nobody:
        """Reaches nothing."""

    return Nobody()  # type: ignore[return-value]
