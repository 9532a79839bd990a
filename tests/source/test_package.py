"""Opening a service: from a file or a folder, and the files it consists of."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import NoReturn

import pytest

from ordito.base.diagnostics import Diagnostics
from ordito.source.bundled import profile_file, profile_names
from ordito.source.opening import open_package
from ordito.source.package import Package, load_file
from ordito.source.remote import Network, RemoteFiles
from ordito.source.tree import Folder

EMPTY = "tosca_definitions_version: tosca_simple_yaml_1_3\n"


def opened(path: Path | str) -> tuple[Package | None, list[tuple[str, str]]]:
    """The package at a path, and what was found as (code, message and hint)."""
    diagnostics = Diagnostics()
    package = open_package(str(path), diagnostics)
    assert (package is None) == diagnostics.has_errors
    return package, [(d.code, f"{d.message}; {d.hint}") for d in diagnostics]


def test_a_file(tmp_path: Path) -> None:
    """R-1.4-2: a bare YAML service template."""
    (tmp_path / "shop.yml").write_text(EMPTY, encoding="utf-8")
    package, found = opened(tmp_path / "shop.yml")
    assert found == []
    assert package is not None
    assert (package.root, package.main, package.name) == (str(tmp_path.resolve()), "shop.yml", "shop")
    assert package.has("shop.yml")
    assert not package.has("other.yml")


def test_a_folder(tmp_path: Path) -> None:
    """A folder has one service template at its top, or service.yaml; the files of an ensemble do not count."""
    assert opened(tmp_path)[1][0][0] == "no-entry"
    for name in ("one.yaml", "ensemble.yaml", "inputs.yaml", "notes.txt"):
        (tmp_path / name).write_text(EMPTY, encoding="utf-8")
    package, _ = opened(tmp_path)
    assert package is not None
    assert package.main == "one.yaml"
    (tmp_path / "two.yaml").write_text(EMPTY, encoding="utf-8")
    code, message = opened(tmp_path)[1][0]
    assert code == "no-entry"
    assert "one.yaml, two.yaml" in message
    (tmp_path / "service.yaml").write_text(EMPTY, encoding="utf-8")
    package, _ = opened(tmp_path)
    assert package is not None
    assert package.main == "service.yaml"


def test_nothing_there(tmp_path: Path) -> None:
    """What cannot be opened is said with the nearest name that can."""
    (tmp_path / "service.yaml").write_text(EMPTY, encoding="utf-8")
    assert "did you mean" in opened(tmp_path / "servise.yaml")[1][0][1]
    assert "does not exist" in opened(tmp_path / "no" / "service.yaml")[1][0][1]
    assert opened("a\0b")[1][0][0] == "file-not-found"
    (tmp_path / "x.csar").write_bytes(b"PK")
    assert opened(tmp_path / "x.csar")[1][0][0] == "bad-archive"


def test_loading_files(tmp_path: Path) -> None:
    """Files are loaded by their path below the root, and named as the user named the service."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "service.yaml").write_text(EMPTY, encoding="utf-8")
    (tmp_path / "common.yaml").write_text(EMPTY, encoding="utf-8")
    package, _ = opened(tmp_path / "a" / "service.yaml")
    assert package is not None
    diagnostics = Diagnostics()
    document = package.load("../common.yaml", diagnostics)
    assert document is not None
    assert document.source.name == str(tmp_path / "common.yaml")
    profile = package.load("profile:tosca_simple_yaml_1_3/profile.yaml", diagnostics)
    assert profile is not None
    assert profile.source.name == "profile:tosca_simple_yaml_1_3/profile.yaml"
    assert len(diagnostics) == 0
    for file in ("missing.yaml", "a\0b", "..", "../" * 60 + "dev/zero", "x" * 5000):
        assert package.load(file, diagnostics) is None
    assert [d.code for d in diagnostics] == ["file-not-found"] * 5


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_only_regular_files(tmp_path: Path) -> None:
    """A pipe is not waited for."""
    os.mkfifo(tmp_path / "pipe.yaml")
    diagnostics = Diagnostics()
    assert load_file(str(tmp_path / "pipe.yaml"), diagnostics) is None
    assert ["it is not a file" in d.message for d in diagnostics] == [True]


def test_profiles() -> None:
    """The bundled profiles are found by their names only."""
    assert profile_names() == ["blocks", "cloudify", "ordito", "tosca_non_normative_1_3", "tosca_simple_yaml_1_3"]
    assert profile_file("ordito") == "profile:ordito/profile.yaml"
    assert profile_file("blocks") == "profile:blocks/blocks.yaml"
    assert not any(profile_file(n) for n in ("", ".", "..", "ordito/..", "nothing"))


def test_what_the_system_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R-6.2-1: a folder that cannot be listed and a TOSCA.meta that cannot be read are said to be that."""

    def refuse(*_: object) -> NoReturn:
        raise PermissionError(errno.EACCES, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(Folder, "entries", refuse)
        assert opened(tmp_path) == (
            None,
            [("file-not-found", f"cannot read the folder {tmp_path}: Permission denied; ")],
        )
    (tmp_path / "TOSCA-Metadata").mkdir()
    (tmp_path / "TOSCA-Metadata" / "TOSCA.meta").write_text("TOSCA-Meta-File-Version: 1.1\n")
    monkeypatch.setattr(Folder, "open", refuse)
    assert opened(tmp_path) == (
        None,
        [("file-not-found", f"cannot read {tmp_path}/TOSCA-Metadata/TOSCA.meta: Permission denied; ")],
    )


def test_a_kept_copy_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R-3.6.8-4: what was fetched into a copy of the service is said to be unreadable by its address."""
    url = "https://example.com/types.yaml"
    tree = RemoteFiles(Folder(tmp_path), Network.KEPT)
    monkeypatch.setattr(Folder, "is_file", lambda *_: True)
    diagnostics = Diagnostics()
    assert Package(tree, "service.yaml", "service", "x").load(url, diagnostics) is None
    assert [(d.code, d.message) for d in diagnostics] == [
        ("fetch-failed", f"cannot read {url}: No such file or directory")
    ]
