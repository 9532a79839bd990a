"""Template strings in the user's part: what they give, what they know, and that they do no harm."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordito.app.inputs.evaluate import GivenInput, TemplateNames, UserPartEvaluation
from ordito.app.inputs.gathered import plain
from ordito.app.inputs.sources import ReadableFiles, Secrets, Sources
from ordito.base.diagnostics import Diagnostic, Diagnostics
from ordito.base.templating.sandbox import Sandbox, Unevaluated
from ordito.source.nodes import Mapping
from ordito.source.package import load_text
from tests.support.thorough import examples
from tests.support.yaml_files import read_yaml

DATA = read_yaml((Path(__file__).parent / "data" / "templates.yaml").read_text(encoding="utf-8"))
CASES = DATA["cases"]


class Kept:
    """One secret."""

    def value(self, name: str) -> object:
        return f"canary-{name}"


def evaluate(
    text: str, given: dict[str, GivenInput] | None = None
) -> tuple[dict[str, Any], set[str], list[Diagnostic]]:
    found = Diagnostics()
    document = load_text("ensemble.yaml", text, found)
    assert document is not None
    assert isinstance(document.root, Mapping)
    secrets: Secrets = Kept()
    variables = {"HOME_TOWN": "Ulm"}
    names = TemplateNames(variables, "prod", {"directory": "/srv/shop", "name": "shop"})
    evaluation = UserPartEvaluation(
        Sources(ReadableFiles(Path("/nowhere"), "."), variables, secrets, found), names, found
    )
    result = evaluation.inputs(document.root.values, given or {})
    return {name: plain(node) for name, node in result.values.items()}, set(result.secret), list(found)


@pytest.mark.parametrize("case", CASES, ids=[case["template"][:60] for case in CASES])
def test_case(case: dict[str, Any]) -> None:
    text = f"{DATA['inputs']}result: {json.dumps(case['template'])}\n"
    values, _, found = evaluate(text)
    if "says" in case:
        assert "result" not in values
        (error,) = found
        assert case["says"] in error.message + error.hint
        assert error.code == "bad-template"
        line = text.count("\n", 0, text.index("result:")) + 1
        assert str(error.span).startswith(f"ensemble.yaml:{line}:")
        return
    assert not found, found
    assert values["result"] == case["gives"]
    assert type(values["result"]) is type(case["gives"])


def test_inputs_that_lead_back_to_themselves_are_named_once() -> None:
    _, _, found = evaluate('a: "{{ inputs.b }}"\nb: [ "x{{ inputs.c }}" ]\nc: "{{ inputs.a }}"\n')
    (error,) = found
    assert "a -> b -> c -> a" in error.message
    assert str(error.span) == "ensemble.yaml:3:5"


def test_what_has_no_value_is_reported_where_it_stands_and_not_again_where_it_is_used() -> None:
    values, _, found = evaluate('a: "{{ inputs.b }}"\nb: { env: GONE }\nc: "{{ inputs.b }}{{ nope }}"\n')
    assert values == {}
    assert [d.code for d in found] == ["unset-variable"]


def test_a_place_is_that_of_the_expression() -> None:
    _, _, found = evaluate('a: "http://{{ nope }}/"\nb: |\n  one\n  {{ nope }}\n')
    assert [str(d.span) for d in found] == ["ensemble.yaml:1:12", "ensemble.yaml:4:3"]


def test_what_a_command_gave_is_what_templates_see() -> None:
    given = {"port": GivenInput(81), "token": GivenInput("t", secret=True)}
    values, secret, found = evaluate(
        'port: { env: GONE }\nurl: "x:{{ inputs.port }}"\nall: "{{ inputs.token }}"\n', given
    )
    assert not found
    assert values == {"url": "x:81", "all": "t"}
    assert secret == {"all"}


def test_what_is_made_of_a_secret_is_secret_and_no_message_shows_it() -> None:
    text = 'token: { secret: t }\nurl: "x?{{ inputs.token }}"\nmore: [ "{{ inputs.url }}" ]\nplain: "{{ 1 }}"\n'
    values, secret, found = evaluate(text)
    assert not found
    assert values["url"] == "x?canary-t"
    assert secret == {"token", "url", "more"}
    _, _, found = evaluate('token: { secret: t }\nn: "{{ inputs.token | int }}"\n')
    (error,) = found
    assert "canary" not in f"{error.message} {error.hint}"


def test_no_environment_is_no_text() -> None:
    with pytest.raises(Unevaluated, match="--env"):
        Sandbox({"environment": absent()}).value("{{ environment }}.example")
    assert Sandbox({"environment": absent()}).value("{{ environment | default('dev') }}") == "dev"


def absent() -> object:
    from ordito.base.templating.sandbox import Absent

    return Absent("choose one with --env NAME")


def test_templates_cost_nothing_where_there_are_none(tmp_path: Path) -> None:
    (tmp_path / "ensemble.yaml").write_text("spec: { service: s.yaml, inputs: { a: { env: HOME } } }\n")
    code = (
        "import sys; from ordito.app.inputs.variables import evaluation_of; from ordito.app.place import place_of\n"
        "from ordito.app.inputs.user_part import read_user_part; from ordito.base.diagnostics import Diagnostics\n"
        "place, found = place_of('.'), Diagnostics()\n"
        "user = read_user_part(place.layout, place.manifest, found)\n"
        "assert evaluation_of(place, found).inputs(user.environments.common.inputs, {}).values\n"
        "assert 'jinja2' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


PIECES = st.sampled_from(
    [
        *("{{", "}}", "{%", "%}", "{#", "#}", "inputs", ".", "env", "a", "b", "(", ")", "[", "]", "|", "~", "+", "*"),
        *("**", "9", "'x'", ",", ":", "if", "else", "for", "in", "endfor", "endif", "set", "=", "range", "join", "map"),
        *("replace", "not", "is", "defined", "self", "loop", "dictsort", "groupby", "tojson", "int", "first", "sum"),
    ]
)


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(PIECES, max_size=14).map(" ".join))
def test_nobody_can_break_it(text: str) -> None:
    """Whatever is written gives a value or a reason."""
    with contextlib.suppress(Unevaluated):
        value = Sandbox({"inputs": {"a": 1}}).value(text)
        assert value is None or isinstance(value, str | int | float | list | dict)
