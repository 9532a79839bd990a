"""Pins: which files come along, that the same files make the same pin, and that it is whole or not there."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from ordito.ensemble import pins
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.layout import Layout
from ordito.ensemble.pins import LIST, Pinned, measure, pin, pinned_root
from ordito.source.tree import Folder


@pytest.fixture
def service(tmp_path: Path) -> Path:
    """A service with scripts that use what lies beside them."""
    root = tmp_path / "svc"
    for name in ("service.yaml", "types.yaml", "scripts/web/start.sh", "scripts/common.sh", "notes.txt", ".git/config"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"# {name}\n")
    (root / "scripts/.secret").write_text("x")
    (root / "scripts/web/start.sh").chmod(0o755)
    return root


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return Layout(tmp_path / "ensemble")


def made(layout: Layout, root: Path, *artifacts: str, definitions: tuple[str, ...] = ("types.yaml",)) -> Pinned:
    layout.root.mkdir(exist_ok=True)
    return pin(layout, Folder(root), "service.yaml", definitions, artifacts)


def names(root: Path) -> set[str]:
    found = {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
    return found - {LIST}


def test_named_files_and_the_folders_of_named_artifacts_come_along(service: Path, layout: Layout) -> None:
    found = made(layout, service, "scripts/web/start.sh")
    root = Path(found.root)
    assert names(root) == {"service.yaml", "types.yaml", "scripts/web/start.sh", "scripts/common.sh"}
    assert os.access(root / "scripts/web/start.sh", os.X_OK)
    assert not os.access(root / "scripts/common.sh", os.X_OK)
    assert root == pinned_root(layout, found.digest)
    assert set(found.digests) == {"service.yaml", "types.yaml", "scripts/web/start.sh"}
    assert (root / found.main).read_text() == "# service.yaml\n"


def test_the_same_files_make_the_same_pin(service: Path, layout: Layout, tmp_path: Path) -> None:
    first = made(layout, service, "scripts/web/start.sh")
    before = {path: path.stat().st_mtime_ns for path in layout.root.rglob("*")}
    assert made(layout, service, "scripts/web/start.sh") == first
    assert measure(layout, Folder(service), "service.yaml", ["types.yaml"], ["scripts/web/start.sh"]) == first
    assert {path: path.stat().st_mtime_ns for path in layout.root.rglob("*")} == before
    shutil.copytree(service, tmp_path / "copy")
    assert made(layout, tmp_path / "copy", "scripts/web/start.sh").digest == first.digest


@pytest.mark.parametrize("change", ["content", "mode", "beside", "name"])
def test_any_change_makes_another_pin(service: Path, layout: Layout, change: str) -> None:
    first = made(layout, service, "scripts/web/start.sh")
    script = service / "scripts/common.sh"
    match change:
        case "content":
            (service / "scripts/web/start.sh").write_text("other")
        case "mode":
            script.chmod(0o755)
        case "beside":
            script.write_text("other")
        case "name":
            script.rename(script.with_name("c.sh"))
    second = made(layout, service, "scripts/web/start.sh")
    assert second.digest != first.digest
    same = second.digests["scripts/web/start.sh"] == first.digests["scripts/web/start.sh"]
    assert same == (change != "content")


def test_files_above_the_root_are_mirrored_under_a_common_one(service: Path, layout: Layout) -> None:
    shared = service.parent / "shared" / "lib"
    shared.mkdir(parents=True)
    (shared / "a.sh").write_text("a")
    (shared.parent / "b.sh").write_text("b")
    found = made(layout, service, "../shared/lib/a.sh", "../svc/notes.txt")
    root = Path(found.root)
    assert root == pinned_root(layout, found.digest) / "svc"
    assert (root / "../shared/lib/a.sh").read_text() == "a"
    assert (root / "../shared/b.sh").read_text() == "b"
    assert (root / "../svc/notes.txt").exists()
    assert set(found.digests) == {"service.yaml", "types.yaml", "../shared/lib/a.sh", "../svc/notes.txt"}


def test_an_ensemble_among_the_services_files_stays_out(service: Path) -> None:
    layout = Layout(service)
    (service / "artifacts").mkdir()
    (service / "artifacts/run.sh").write_text("run")
    first = made(layout, service, "artifacts/run.sh")
    for name in ("ensemble.yaml", "jobs.tsv", "jobs/A6BKKQCN0000.yaml", ".ordito/journal.db"):
        (service / name).parent.mkdir(exist_ok=True)
        (service / name).write_text("x")
    assert made(layout, service, "artifacts/run.sh").digest == first.digest
    assert names(Path(first.root)) == {"service.yaml", "types.yaml", "artifacts/run.sh"}


def test_urls_and_bundled_profiles_stay_out(service: Path, layout: Layout) -> None:
    found = made(layout, service, "https://example.com/x.sh", definitions=("types.yaml", "profile:ordito"))
    assert names(Path(found.root)) == {"service.yaml", "types.yaml"}


def test_a_folder_is_an_artifact_too(service: Path, layout: Layout) -> None:
    first = made(layout, service, "scripts").digests["scripts"]
    (service / "scripts/common.sh").write_text("other")
    assert made(layout, service, "scripts").digests["scripts"] != first


def test_a_missing_file_is_named(service: Path, layout: Layout) -> None:
    with pytest.raises(EnsembleError, match=r"no\.sh"):
        made(layout, service, "scripts/no.sh")


def test_a_missing_pin_is_named(layout: Layout) -> None:
    with pytest.raises(EnsembleError, match="missing") as error:
        pinned_root(layout, "ab" * 32)
    assert "git" in error.value.hint


def test_large_files_are_kept_out_of_git(service: Path, layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pins, "LARGEST_FOR_GIT", 100)
    (service / "scripts/big [1].bin").write_bytes(b"x" * 101)
    found = made(layout, service, "scripts/common.sh")
    assert layout.git_ignore.read_text() == f"/artifacts/{found.digest}/scripts/big\\ \\[1].bin\n"


def test_a_copy_that_was_cut_off_is_replaced(service: Path, layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    class Killed(BaseException):
        pass

    def dying(*arguments: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(pins, "sync_directory", dying)
        with pytest.raises(Killed):
            made(layout, service, "scripts/common.sh")
    found = made(layout, service, "scripts/common.sh")
    assert [path.name for path in layout.artifacts.iterdir()] == [found.digest]
