"""Groups of groups, however deep and tangled."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ordito.base.diagnostics import Diagnostics
from ordito.model.groups import Groups
from ordito.model.resolve import resolve_service
from ordito.source.nodes import Scalar
from ordito.source.opening import open_package

HEAD = """\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  node_templates: { c: { type: Compute } }
  groups:
"""
SIZE = 400


def found_in(path: Path, members: list[str]) -> Diagnostics:
    """What is found in a service with groups of these members."""
    lines = (f"    g{n}: {{ type: tosca.groups.Root, members: [ {m} ] }}\n" for n, m in enumerate(members))
    path.write_text(HEAD + "".join(lines), encoding="utf-8")
    diagnostics = Diagnostics()
    package = open_package(str(path), diagnostics)
    assert package is not None
    service = resolve_service(package, diagnostics)
    if not diagnostics.has_errors:
        assert service is not None
        assert all(group.members == ("c",) for group in service.groups.values())
    return diagnostics


def test_each_group_is_looked_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R-3.8.5-1: the members of a group in many groups are gathered once."""
    looked_at: list[str] = []
    nested = Groups._nested

    def counted(groups: Groups, name: str) -> Iterator[Scalar]:
        looked_at.append(name)
        return nested(groups, name)

    monkeypatch.setattr(Groups, "_nested", counted)
    found = found_in(tmp_path / "service.yaml", [*(f"g{n}" for n in range(1, SIZE)), "c"])
    assert {d.code for d in found} == {"nested-group"}
    assert len(looked_at) == SIZE


def test_circles(tmp_path: Path) -> None:
    """R-3.8.5-1: each member that closes a circle is reported there, and long circles are not listed whole."""
    members = [*(f"g{n}, g0" for n in range(1, SIZE)), "g0"]
    circles = [d for d in found_in(tmp_path / "service.yaml", members) if d.code == "group-cycle"]
    assert len(circles) == SIZE
    assert {c.message for c in circles if len(c.message) < 60} >= {
        "a group is a member of itself: g0 -> g1 -> g0",
        "a group is a member of itself: g0 -> g1 -> g2 -> g0",
    }
    assert max(len(c.message) for c in circles) < 200
