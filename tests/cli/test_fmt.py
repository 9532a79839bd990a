"""`ordito fmt`: the form becomes the usual one, comments stay, and the meaning never changes."""

from __future__ import annotations

import shutil
import stat
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordito.app.services.compiled import compiled
from ordito.authoring.format import format_text
from ordito.authoring.format_layout import NotFormattable
from ordito.base.diagnostics import Diagnostics, Severity
from ordito.model.resolve import resolve_service
from ordito.source.opening import open_package
from tests.cli.program import DATA, Run
from tests.support.thorough import some

ROOT = DATA.parent.parent
SAMPLES = sorted(
    [
        *ROOT.glob("examples/*/*.yaml"),
        *DATA.glob("*/service.yaml"),
        *ROOT.glob("tests/model/data/*/*.yaml"),
        *list(ROOT.glob("tests/conformance/ch*/*.yaml"))[::9],
        *ROOT.glob("src/ordito/profiles/*/*.yaml"),
    ]
)
HEAD = "tosca_definitions_version: tosca_simple_yaml_1_3\n"

UGLY = """\
# About this service.

# It is small.
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
    # Where things stand.

    node_templates:


        app:   # the application
            # What it needs.
            requirements:
            -   host: machine   # where it runs
            # a second one
            -   dependency:
                    # nobody knows why
                    node: machine
                    capability: feature

            description: >
                Folded

                  and deeper
            # Which type it is.
            type: SoftwareComponent
        machine: { type: Compute,   # in brackets
                   capabilities: {} }
        # At the end of the nodes.
    # Below the nodes, above the description.
    description: |2
        literal
      text
description:
    plain text
    over lines
# The end.
"""

PRETTY = """\
# About this service.

# It is small.
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  # Where things stand.

  node_templates:
    app:   # the application
      # What it needs.
      requirements:
        - host: machine   # where it runs
        # a second one
        - dependency:
            # nobody knows why
            node: machine
            capability: feature

      description: >
        Folded

          and deeper
      # Which type it is.
      type: SoftwareComponent
    machine: { type: Compute,   # in brackets
               capabilities: {} }
    # At the end of the nodes.
  # Below the nodes, above the description.
  description: |2
      literal
    text
description:
  plain text
  over lines
# The end.
"""


def test_what_is_ugly_becomes_pretty() -> None:
    assert format_text(UGLY) == PRETTY
    assert format_text(PRETTY) == PRETTY


def model(path: Path) -> object:
    """The compiled model of a service, or what is wrong with it."""
    found = Diagnostics()
    package = open_package(str(path), found)
    service = resolve_service(package, found) if package is not None else None
    return compiled(service) if service is not None else sorted(d.code for d in found if d.severity is Severity.ERROR)


def indented(text: str, step: int) -> str:
    """A text with each level of indentation widened."""
    lines = (
        line.lstrip(" ") and " " * ((len(line) - len(line.lstrip(" "))) * step) + line.lstrip(" ")
        for line in text.split("\n")
    )
    return "\n".join(lines)


@pytest.mark.parametrize("sample", some(SAMPLES, 3), ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_the_model_stays_the_same(sample: Path, tmp_path: Path) -> None:
    """Formatting changes no model, keeps all comments, and formatting again changes nothing."""
    before = sample.read_text(encoding="utf-8")
    try:
        after = format_text(before)
    except NotFormattable:
        return  # most of these are broken on purpose
    assert format_text(after) == after
    assert [*filter(None, (line.strip(" -") for line in before.split("\n")))] == [
        *filter(None, (line.strip(" -") for line in after.split("\n")))
    ]
    shutil.copytree(sample.parent, tmp_path / "copy")
    (tmp_path / "copy" / sample.name).write_text(after, encoding="utf-8")
    assert model(tmp_path / "copy" / sample.name) == model(sample)


@pytest.mark.parametrize(
    "sample", [p for p in SAMPLES if "examples" in p.parts or "profiles" in p.parts], ids=lambda p: p.stem
)
@pytest.mark.parametrize("step", [2, 3])
def test_wide_indentation_becomes_narrow(sample: Path, step: int) -> None:
    text = sample.read_text(encoding="utf-8")
    if "|" in text or ">" in text:
        return  # widening would change the texts in there
    assert format_text(indented(text, step)) == format_text(text)


@settings(deadline=None)
@given(st.text(alphabet=st.sampled_from(list("ab:-#|>{}[]'\"&*? \n\t")), max_size=60))
def test_any_text_is_formatted_soundly_or_left(text: str) -> None:
    try:
        after = format_text(HEAD + text)
    except NotFormattable:
        return
    assert format_text(after) == after


@pytest.mark.parametrize(
    "text",
    [
        "? a\n: b\n",
        "a: 1\x85b: 2\n",
        "--- a: 1\n",
        "a: 1\n---\nb: 2\n",
    ],
)
def test_what_is_unusual_is_left(text: str) -> None:
    with pytest.raises(NotFormattable):
        format_text(text)


def test_files_are_written_in_place(run: Run) -> None:
    Path("service.yaml").write_text(UGLY.replace("dependency:", "dependency: #"))
    Path("service.yaml").chmod(0o640)
    Path("link.yaml").symlink_to("service.yaml")
    done = run("fmt", "link.yaml")
    assert done.code == 0
    assert done.out == "formatted: link.yaml\n"
    assert Path("link.yaml").is_symlink()
    assert stat.S_IMODE(Path("service.yaml").stat().st_mode) == 0o640
    assert "\n  node_templates:" in Path("service.yaml").read_text()
    assert run("fmt", "service.yaml").out == "nothing to format in 1 file\n"
    assert not list(Path().glob(".*.new"))


def test_check_and_diff_write_nothing(run: Run) -> None:
    Path("service.yaml").write_text(UGLY)
    for option, said in (("--check", "would be formatted: service.yaml"), ("--diff", "+  node_templates:")):
        done = run("fmt", option)
        assert said in done.out
        assert done.code == (3 if option == "--check" else 0)
        assert Path("service.yaml").read_text() == UGLY
    assert run("fmt", "--check", "-o", "json").json["files"] == [
        {"file": "service.yaml", "changed": True, "left": None}
    ]
    run("fmt")
    assert run("fmt", "--check").code == 0


def test_a_file_with_errors_is_left_alone(run: Run) -> None:
    wrong = HEAD + "topology_template:\n      node_templates: { a: { type: Computer } }\n"
    Path("wrong.yaml").write_text(wrong)
    Path("right.yaml").write_text(UGLY)
    Path("notes.yaml").write_text("a:   [1\n")
    done = run("fmt")
    assert done.code == 3
    assert "error[unknown-type]" in done.err
    assert "notes.yaml" not in done.err
    assert Path("wrong.yaml").read_text() == wrong
    assert Path("right.yaml").read_text() == PRETTY


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\xef\xbb\xbf" + HEAD.encode(), "byte order mark"),
        (HEAD.encode("utf-16"), "UTF-16"),
        (HEAD.encode() + b"---\n" + HEAD.encode(), "second"),
        (HEAD.encode() + b"? description\n: a\n", "is not changed"),
    ],
)
def test_odd_files_are_left_alone(run: Run, data: bytes, said: str) -> None:
    Path("odd.yaml").write_bytes(data)
    assert said in run("fmt", "odd.yaml").err
    assert Path("odd.yaml").read_bytes() == data


def test_line_ends_become_those_of_unix(run: Run) -> None:
    Path("service.yaml").write_bytes(PRETTY.replace("\n", "\r\n").encode())
    assert run("fmt").code == 0
    assert Path("service.yaml").read_bytes() == PRETTY.encode()


def test_only_definitions_are_formatted(run: Run) -> None:
    assert run("fmt", "nowhere.yaml").code == 3
    Path("x.csar").write_bytes(b"PK")
    assert run("fmt", "x.csar").code == 3
