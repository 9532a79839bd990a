"""The user's part of an ensemble: what it may say, and what a new one says."""

from __future__ import annotations

from pathlib import Path

import pytest

from ordito.app.inputs.gathered import plain
from ordito.app.inputs.user_part import UserPart, new_user_part, read_user_part
from ordito.app.place import place_of
from ordito.base.diagnostics import Diagnostics
from ordito.ensemble.layout import Layout
from ordito.ensemble.manifest import MARKER


def read(folder: Path, text: str) -> tuple[UserPart, Diagnostics]:
    (folder / "ensemble.yaml").write_text(text)
    found = Diagnostics()
    return read_user_part(Layout(folder), "ensemble.yaml", found), found


def test_service_and_located_inputs(tmp_path: Path) -> None:
    user, found = read(tmp_path, "spec:\n  service: a/b.yaml\n  inputs:\n    port: 80\n    tags: [x, 1]\n")
    assert not found.has_errors
    assert user.service == "a/b.yaml"
    assert {name: plain(node) for name, node in user.environments.common.inputs.items()} == {
        "port": 80,
        "tags": ["x", 1],
    }
    assert str(user.environments.common.inputs["port"].span) == "ensemble.yaml:4:11"


@pytest.mark.parametrize(
    "text", ["", "# nothing but words\n\n", "spec:\n", "spec: {}\n", "spec:\n  service:\n  inputs:\n"]
)
def test_nothing_is_said(tmp_path: Path, text: str) -> None:
    user, found = read(tmp_path, text)
    assert not found.has_errors
    assert (user.service, dict(user.environments.common.inputs)) == ("", {})


def test_the_machines_part_is_none_of_its_business(tmp_path: Path) -> None:
    user, found = read(tmp_path, "spec: {service: x}\n" + MARKER.decode() + "status: [broken\n")
    assert not found.has_errors
    assert user.service == "x"


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("spce:\n  service: x\n", "1:1", "spec"),
        ("spec:\n  service: [x]\n", "2:12", "path"),
        ("spec:\n  input: {}\n", "2:3", "inputs"),
        ("spec: [x]\n", "1:7", "map"),
        ("- x\n", "1:1", "map"),
        ("spec:\n  inputs: [x]\n", "2:11", "map"),
        ("spec:\n  inputs:\n    x: {{ env.X }}\n", "3:9", "quotes"),
    ],
)
def test_what_it_must_not_say(tmp_path: Path, text: str, place: str, said: str) -> None:
    _, found = read(tmp_path, text)
    (error,) = found
    assert str(error.span) == f"ensemble.yaml:{place}"
    assert said in error.message + error.hint


def test_a_new_one_is_read_back_and_is_relative_to_the_ensemble(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    place = place_of("deep/ensemble")
    Path("deep/ensemble").mkdir(parents=True)
    text = new_user_part(place.layout, "my service/x.yaml", {"port": 80, "tags": ["yes", "1"]})
    user, found = read(place.layout.root, text.decode())
    assert not found.has_errors
    assert user.service == "../../my service/x.yaml"
    assert user.service_path(place.layout, place.shown) == "my service/x.yaml"
    assert plain(user.environments.common.inputs["tags"]) == ["yes", "1"]


def test_a_service_far_away_is_named_by_its_absolute_path(tmp_path: Path) -> None:
    text = new_user_part(Layout(tmp_path), "/x.yaml", {}).decode()
    assert "service: /x.yaml\n" in text


def test_an_ensemble_behind_a_link_finds_its_service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``..`` seen from the link is not ``..`` seen from the directory."""
    monkeypatch.chdir(tmp_path)
    Path("real/ensemble").mkdir(parents=True)
    Path("link").symlink_to("real/ensemble")
    place = place_of("link")
    user = UserPart("../service.yaml")
    assert Path(user.service_path(place.layout, place.shown)).resolve() == tmp_path / "real" / "service.yaml"
