"""Values in the user's part that stand elsewhere: in variables, files and secrets."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordito.app.inputs.evaluate import EvaluatedValues, TemplateNames, UserPartEvaluation
from ordito.app.inputs.gathered import plain
from ordito.app.inputs.sources import MOST_BYTES, NoSecret, ReadableFiles, Sources
from ordito.app.inputs.user_part import new_user_part, read_user_part
from ordito.app.place import Place, place_of
from ordito.base.diagnostics import Diagnostics
from ordito.ensemble.layout import Layout
from tests.support.thorough import examples


class Kept:
    """Secrets that are simply there."""

    def value(self, name: str) -> object:
        if name != "token":
            raise NoSecret(f'there is no secret "{name}"', "store it")
        return "s3cret"


def evaluated(folder: Path, inputs: str, **variables: str) -> tuple[EvaluatedValues, Diagnostics]:
    folder.mkdir(exist_ok=True)
    (folder / "ensemble.yaml").write_text(f"spec:\n  inputs:\n    x: {inputs}\n")
    found = Diagnostics()
    user = read_user_part(Layout(folder), "ensemble.yaml", found)
    sources = Sources(ReadableFiles(folder, "."), variables, Kept(), found)
    names = TemplateNames(variables, "prod", {"directory": str(folder), "name": folder.name})
    return UserPartEvaluation(sources, names, found).inputs(user.environments.common.inputs, {}), found


def value(folder: Path, inputs: str, **variables: str) -> object:
    result, found = evaluated(folder, inputs, **variables)
    assert not found.has_errors, list(found)
    return plain(result.values["x"])


def test_a_variable_is_text_that_the_declared_type_reads(tmp_path: Path) -> None:
    assert value(tmp_path, "{ env: REGION }", REGION="north") == "north"
    assert value(tmp_path, "{ env: PORT }", PORT="8080") == 8080
    assert value(tmp_path, "{ env: EMPTY }", EMPTY="") == ""
    assert value(tmp_path, "{ env: WORD }", WORD="null") == "null"


def test_they_stand_anywhere_inside_a_value(tmp_path: Path) -> None:
    text = "{ hosts: [ a, { env: HOST } ], deep: { er: { env: HOST } } }"
    assert value(tmp_path, text, HOST="b") == {"hosts": ["a", "b"], "deep": {"er": "b"}}


def test_a_default_is_for_what_is_not_there_and_may_stand_elsewhere_too(tmp_path: Path) -> None:
    assert value(tmp_path, "{ env: A, default: { env: B } }", B="b") == "b"
    assert value(tmp_path, "{ file: none, default: 7 }") == 7
    assert value(tmp_path, "{ env: A, default: 7 }", A="") == ""


def test_a_file_is_its_text_without_the_last_line_end(tmp_path: Path) -> None:
    (tmp_path / "motto.txt").write_bytes(b"one\ntwo\r\n")
    assert value(tmp_path, "{ file: motto.txt }") == "one\ntwo"
    assert value(tmp_path, f"{{ file: {tmp_path / 'motto.txt'} }}") == "one\ntwo"


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_a_file_and_a_variable_may_hold_data(tmp_path: Path, form: str) -> None:
    data = '{"tags": ["a", 1], "env": "not evaluated"}'
    (tmp_path / "data").write_text(data)
    wanted = {"tags": ["a", 1], "env": "not evaluated"}
    assert value(tmp_path, f"{{ file: data, format: {form} }}") == wanted
    assert value(tmp_path, f"{{ env: DATA, format: {form} }}", DATA=data) == wanted


def test_what_comes_from_elsewhere_is_never_evaluated(tmp_path: Path) -> None:
    assert value(tmp_path, "{ env: A, format: yaml }", A="{ env: HOME }") == {"env": "HOME"}


def test_a_secret_is_told_by_the_name_of_what_it_is_in(tmp_path: Path) -> None:
    result, found = evaluated(tmp_path, "{ user: me, token: { secret: token } }")
    assert not found.has_errors
    assert result.secret == {"x"}
    assert plain(result.values["x"]) == {"user": "me", "token": "s3cret"}


def test_literal_is_the_way_out(tmp_path: Path) -> None:
    assert value(tmp_path, "{ literal: { env: HOME } }") == {"env": "HOME"}
    assert value(tmp_path, "{ literal: { literal: 1 } }") == {"literal": 1}
    assert value(tmp_path, "{ env: A, other: B }") == {"env": "A", "other": "B"}


@pytest.mark.parametrize(
    ("text", "code", "column", "said"),
    [
        ("{ env: REGIOM }", "unset-variable", 15, "REGION"),
        ("{ env: [ a ] }", "bad-value", 15, "literal"),
        ("{ env: }", "bad-value", 15, "literal"),
        ("{ env: A, defalt: b }", "", 0, ""),
        ("{ env: A, format: xml }", "bad-value", 26, "yaml"),
        ("{ env: A, format: json }", "bad-value", 15, "JSON"),
        ("{ file: gone.txt }", "missing-file", 16, "no file gone.txt"),
        ("{ file: ../out.txt }", "missing-file", 16, "absolute path"),
        ("{ file: link.txt }", "missing-file", 16, "absolute path"),
        ("{ file: folder }", "missing-file", 16, "cannot read folder"),
        ("{ file: fifo }", "missing-file", 16, "FIFO"),
        ("{ file: large }", "missing-file", 16, "larger"),
        ("{ file: binary }", "encoding", 16, "UTF-8"),
        ("{ secret: tokem }", "missing-secret", 18, "store it"),
        ("{ secret: token, default: x }", "unknown-keyname", 25, "literal"),
    ],
)
def test_what_is_wrong_is_said_at_its_place(tmp_path: Path, text: str, code: str, column: int, said: str) -> None:
    folder = tmp_path / "e"
    (folder / "folder").mkdir(parents=True)
    (tmp_path / "out.txt").write_text("out")
    (folder / "link.txt").symlink_to("../out.txt")
    (folder / "large").write_bytes(b"x" * (MOST_BYTES + 1))
    (folder / "binary").write_bytes(b"\xff\xfe")
    os.mkfifo(folder / "fifo")
    _, found = evaluated(folder, text, A="{", REGION="north")
    if not code:
        assert not found.has_errors
        return
    (error,) = found
    assert error.code == code
    assert str(error.span) == f"ensemble.yaml:3:{column}"
    assert said in error.message + error.hint


def test_paths_stay_in_the_working_tree_that_the_ensemble_is_a_part_of(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "shared.txt").write_text("shared")
    assert value(tmp_path / "prod", "{ file: ../shared.txt }") == "shared"


TEXTS = st.sampled_from(["a", "{{ x }}", "{% if %}", "env", "file", "secret", "literal", "+%", "+a.yaml", "+/a"])
DATA = st.recursive(
    TEXTS | st.integers() | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=examples(30), deadline=None)
@given(data=DATA)
def test_what_is_written_as_literal_is_read_back_as_it_was(
    data: object, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A value given with the first deployment is written into the new file, and means there what it meant."""
    place = place_of(str(tmp_path_factory.mktemp("e")))
    (place.layout.root / "ensemble.yaml").write_bytes(new_user_part(place.layout, "service.yaml", {"x": data}))
    assert _again(place) == data


def _again(place: Place) -> object:
    found = Diagnostics()
    user = read_user_part(place.layout, place.manifest, found)
    sources = Sources(ReadableFiles(place.layout.root, "."), {}, Kept(), found)
    result = UserPartEvaluation(sources, TemplateNames(), found).inputs(user.environments.common.inputs, {})
    assert not found.has_errors, list(found)
    return plain(result.values["x"])
