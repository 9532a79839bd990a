"""A pattern that would take too long over a value is said to, and the value is not taken for right."""

from __future__ import annotations

from pathlib import Path

from ordito.base.diagnostics import Diagnostics
from ordito.model.resolve import resolve_service
from ordito.source.opening import open_package


def test_a_value_that_costs_too_much(tmp_path: Path) -> None:
    """R-3.6.3-7: the work of matching is bounded, whatever pattern and value are."""
    pattern, value = "(a|b|ab)*c" * 20, "ab" * 100_000
    (tmp_path / "service.yaml").write_text(
        "tosca_definitions_version: tosca_simple_yaml_1_3\n"
        "topology_template:\n"
        "  inputs:\n"
        f"    word: {{ type: string, constraints: [ {{ pattern: '{pattern}' }} ], default: {value} }}\n"
    )
    found = Diagnostics()
    package = open_package(str(tmp_path / "service.yaml"), found)
    assert package is not None
    assert resolve_service(package, found) is None
    (only,) = found
    assert only.code == "constraint"
    assert "is too long for the pattern" in only.message
