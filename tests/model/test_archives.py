"""What archives say about themselves."""

from __future__ import annotations

from pathlib import Path

from ordito.base.diagnostics import Diagnostics
from ordito.model.resolve import resolve_service
from ordito.source.opening import open_package
from tests.source.archives import with_meta

VERSION = "tosca_definitions_version: tosca_simple_yaml_1_3\n"


def findings(folder: Path, metadata: str) -> list[tuple[str, str]]:
    """The codes and messages that an archive with this metadata in its main file gives."""
    path = with_meta(folder / "shop.csar", "service.yaml", files={"service.yaml": VERSION + metadata})
    diagnostics = Diagnostics()
    package = open_package(str(path), diagnostics)
    assert package is not None
    assert resolve_service(package, diagnostics) is not None
    return [(d.code, d.message) for d in diagnostics]


def test_name_and_version(tmp_path: Path) -> None:
    """R-3.10-4: an archive says what it holds and in which version, or a warning says what is missing."""
    complete = "metadata: { template_name: shop, template_version: 1.0.0, template_author: me }\n"
    assert [code for code, _ in findings(tmp_path, complete)] == []
    nothing = findings(tmp_path, "")
    assert ("unnamed-template", "the metadata of service.yaml lacks template_name and template_version") in nothing
    name_only = findings(tmp_path, "metadata: { template_name: shop }\n")
    assert ("unnamed-template", "the metadata of service.yaml lacks template_version") in name_only
