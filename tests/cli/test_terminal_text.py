"""What users' files say never steers the terminal, and is exact for programs."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from tests.cli.program import DATA, Run

EVIL = "a\x1b]0;evil\x07\n\u202eb\x9b1m"
SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
metadata: { template_name: "a\\e]0;evil\\a\\n\\u202Eb\\x9b1m" }
topology_template:
  node_templates:
    "n\\e[2J": { type: tosca.nodes.Root }
"""
STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture
def service(tmp_path: Path) -> Path:
    path = tmp_path / "service.yaml"
    path.write_text(SERVICE)
    return path


@pytest.mark.parametrize("verb", ["validate", "plan", "graph"])
def test_names_are_shown_as_escapes(run: Run, service: Path, verb: str) -> None:
    """The name of a service is no way into the terminal."""
    done = run(verb, service)
    assert not STEERS.search(done.out + done.err)
    if verb != "graph":
        assert "a\\x1b]0;evil\\x07\\n\\u202eb\\x9b1m" in done.out + done.err


def test_json_is_exact(run: Run, service: Path) -> None:
    assert run("validate", service, "-o", "json").json["service"] == EVIL


def test_colour_is_our_own(run: Run, service: Path) -> None:
    """With colour, nothing but the channel's own styles reaches the terminal."""
    done = run("validate", service.with_name("none\x1b[31m.yaml"), "--color", "always")
    assert "\x1b[1;31merror" in done.err
    assert not STEERS.search(re.sub("\x1b\\[[0-9;]*m", "", done.err))
    assert "\x1b[31m" not in done.err


def test_words_of_the_command_line(run: Run, tmp_path: Path, service: Path) -> None:
    """File names, verbs, folders, and the command that comes next."""
    (tmp_path / "s\x1b[2Je\n.yaml").write_text(SERVICE.replace("metadata", "# "))
    for words in (
        ("validate", "s\x1b[2Je\n.yaml"),
        ("validate", "\x1b[2J.yaml"),
        ("validate", "\x1b[2J.yaml", "-o", "github"),
        ("valid\x1b[2J\u202eate",),
        ("package", service, "--out", "\x1b[2J.csar"),
        ("unpackage", "\x1b[2J.csar", "--out", "x\x1b[2J"),
    ):
        done = run(*words)
        assert not STEERS.search(done.out + done.err), words


def test_a_file_name_that_is_not_utf_8(run: Run, tmp_path: Path) -> None:
    """A name that no text can hold is shown, and JSON stays JSON in every form."""
    name = os.fsdecode(b"a\xff.yaml")
    (tmp_path / name).write_text("tosca_definitions_version: tosca_simple_yaml_1_3\nx: 1\n")
    assert "a\\xff.yaml" in run("validate", name).err
    assert json.loads(run("validate", name, "-o", "json").out)["diagnostics"][0]["file"] == "a\ufffd.yaml"
    assert json.loads(run("validate", name, "-o", "sarif").out)["runs"]
    for line in run("validate", name, "--json").out.splitlines():
        json.loads(line)


def test_formats_of_a_verb(run: Run) -> None:
    """Only the formats that a verb writes are offered."""
    refused = run("compile", "-o", "xml", DATA / "tiny")
    assert refused.code == 64
    assert "json" in refused.err
    assert "sarif" not in refused.err
    assert "compile writes text, json, yaml, not sarif" in run("compile", "-o", "sarif", DATA / "tiny").err
    assert "[DIR]" in run("package", "--help").out
