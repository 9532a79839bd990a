"""Merging in the user's part: what is brought in, and how mistakes are said where they stand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ordito.app.inputs.gathered import plain
from ordito.app.inputs.merge import MergedDocument, merged
from ordito.app.inputs.sources import ReadableFiles
from ordito.app.inputs.user_part import read_user_part
from ordito.app.place import place_of
from ordito.base.diagnostics import Diagnostics
from ordito.source.package import load_text
from tests.support.yaml_files import read_yaml

CASES = read_yaml((Path(__file__).parent / "data" / "merges.yaml").read_text(encoding="utf-8"))


def merge(folder: Path, main: str, files: dict[str, str]) -> tuple[MergedDocument, Diagnostics]:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    found = Diagnostics()
    document = load_text("ensemble.yaml", main, found)
    assert document is not None, list(found)
    return merged(document.root, ReadableFiles(folder, "."), found), found


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_case(case: dict[str, Any], tmp_path: Path) -> None:
    files = {name: text for name, text in case.items() if name.endswith((".yaml", ".json"))}
    result, found = merge(tmp_path, case["main"], files)
    if "says" in case:
        (error,) = found
        assert case["says"] in error.message + error.hint
        assert "at" not in case or str(error.span) == case["at"]
        return
    assert not found.has_errors, list(found)
    assert plain(result.root) == case["gives"]


def test_places_are_those_of_the_files(tmp_path: Path) -> None:
    result, _ = merge(tmp_path, "a: { +base.yaml: }\n", {"base.yaml": "# first\nx:\n  - 1\n"})
    x = result.root.values["a"].values["x"]  # type: ignore[union-attr]
    assert str(x.span) == "base.yaml:3:3"
    assert result.files == (str(tmp_path / "base.yaml"),)


def test_errors_of_what_was_brought_in_are_said_in_its_file(tmp_path: Path) -> None:
    (tmp_path / "ensemble.yaml").write_text("spec:\n  service: x.yaml\n  +base.yaml:\n")
    (tmp_path / "base.yaml").write_text("inputs: { a: 1 }\nenvironmnets: {}\n")
    found = Diagnostics()
    place = place_of(str(tmp_path))
    read_user_part(place.layout, str(tmp_path / "ensemble.yaml"), found)
    (error,) = found
    assert str(error.span) == f"{tmp_path}/base.yaml:2:1"
    assert 'did you mean "environments"' in error.hint


def test_a_user_part_is_read_with_what_it_brings_in(tmp_path: Path) -> None:
    (tmp_path / "ensemble.yaml").write_text("+base.yaml:\nspec:\n  inputs: { b: 3 }\n")
    (tmp_path / "base.yaml").write_text("spec: { service: x.yaml, inputs: { a: 1, b: 2 } }\n")
    found = Diagnostics()
    place = place_of(str(tmp_path))
    user = read_user_part(place.layout, place.manifest, found)
    assert not found.has_errors
    assert user.service == "x.yaml"
    assert {name: plain(node) for name, node in user.environments.common.inputs.items()} == {"b": 3, "a": 1}
    assert user.files == (str(tmp_path / "base.yaml"),)


def test_a_lock_stands_in_the_ensembles_own_file(tmp_path: Path) -> None:
    """It is taken before anything is brought in."""
    (tmp_path / "ensemble.yaml").write_text("spec:\n  service: x.yaml\n  lock: git\n  +base.yaml:\n")
    (tmp_path / "base.yaml").write_text("environments: { a: { lock: git }, b: {} }\n")
    found = Diagnostics()
    place = place_of(str(tmp_path))
    read_user_part(place.layout, str(tmp_path / "ensemble.yaml"), found)
    (error,) = found
    assert str(error.span) == f"{tmp_path}/base.yaml:1:28"
