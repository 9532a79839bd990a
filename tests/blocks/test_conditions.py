"""Conditions of lifecycle steps mean what CUE says they mean, or are refused with a place."""

import json
from pathlib import Path
from typing import Any

import pytest

from ordito.base.sensitive import SHOWN, Sensitive
from ordito.blocks.check import roots, unknown
from ordito.blocks.conditions.evaluator import evaluate, referenced
from ordito.blocks.conditions.parser import MOST_NESTED, parse
from ordito.blocks.conditions.tokens import MOST_CHARACTERS
from ordito.blocks.conditions.trees import ConditionFailed, NoAnswer, NotACondition

GOLDEN = json.loads(Path(__file__).with_name("cue-conditions.json").read_text("utf-8"))
CONTEXT = GOLDEN["context"]


def failed(text: str, context: dict[str, Any]) -> ConditionFailed:
    with pytest.raises(ConditionFailed) as caught:
        evaluate(parse(text), context)
    return caught.value


def refused(text: str) -> NotACondition:
    with pytest.raises(NotACondition) as caught:
        parse(text)
    return caught.value


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: case["expr"])
def test_every_answer_is_that_of_cue(case: dict[str, Any]) -> None:
    text, value = case["expr"], case["value"]
    if value in {"true", "false"}:
        assert evaluate(parse(text), CONTEXT) is (value == "true")
        return
    with pytest.raises((NotACondition, ConditionFailed)) as caught:
        evaluate(parse(text), CONTEXT)
    if case["ok"]:  # CUE has a value, which is neither true nor false
        assert isinstance(caught.value, ConditionFailed)
        assert caught.value.reason is NoAnswer.NOT_A_BOOL


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        # Numbers: decimal, and an int is no float.
        ("0.1 + 0.2 == 0.3", True),
        ("(2 / 3) * 3 == 2", True),
        ("1.5Ki == 1536 && 2M == 2_000_000 && 0b11 == 0o3", True),
        ("(4 / 2 & int) != _|_", False),
        ("(1.5K & int) != _|_", True),
        ("1e400 > 1 && -1 - -1 == 0 && !(1 < -1)", True),
        ("123456789012345678901234567890 > 123456789012345678901234567889", True),
        # Texts
        (r'len("é") == 2 && "\u00e9" == "é" && "\U0001F600" == "\uD83D\uDE00"', True),
        (r'#"\d"# == "\\d" && #"a"b"# == "a\"b" && #"\#n"# == "\n"', True),
        ('"é" > "z"', True),
        ('strings.HasPrefix("abc", "ab") && strings.HasSuffix("abc", "bc") && strings.Contains("abc", "b")', True),
        # Bounds, kinds, and what is both
        ('("c" & >="a" & <"b") != _|_', False),
        ('("pg" & (=~"p" & !~"x")) == "pg"', True),
        ("(values.database.n & !=null) != _|_", False),
        ("(values.database.replicas & !=null & number) == 3", True),
        ('(values.database.tags & ["a", "b"]) != _|_', True),
        ("(values.database.replicas & >=values.missing) != _|_", False),
        ("true & true", True),
        # Lists
        ("[1, 2] == [1.0, 2.0] && [1] != [2] && [[1]] == [[1]] && [null] != [1] && [] == []", True),
        ('["a"] != ["a", "b"]', True),
        ('list.Contains(values.database.tags, "b") && !list.Contains([1.0], 1)', True),
        ("[1, 2,][values.database.replicas - 2] == 2", True),
        # What has no value
        ("_|_ == values.missing", True),
        ("previous.values.a != _|_", False),
        ("!values.missing == _|_", True),
        ('(values.database.name == 3) == _|_ && 1 / 0 == _|_ && len(1) == _|_ && ("a" + 1) == _|_', True),
        ("(false && values.missing) == _|_", True),
        ("null == null && [1] != null && null != true", True),
        # Layout
        ("(true &&\n  // why\n  true) // and why\n", True),
        ('values . database [ "name" ] == values.database.\n name', True),
        ("[1,\n 2\n] == [1, 2]", True),
        ('values["x"] == _|_ && values.über == _|_ && values."a-b" == _|_', True),
    ],
)
def test_answers_are_those_of_cue(text: str, answer: bool) -> None:
    assert evaluate(parse(text), CONTEXT) is answer


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("", "1:1", "the text is empty"),
        ("true &&", "1:8", "found the end"),
        ("1 ==\n  == 2", "2:3", "expected a value, found `==`"),
        ("values.a = 1", "1:10", "a single ="),
        ("a and b", "1:3", '"and" is not an operator'),
        ("values.a 3", "1:10", "expected an operator, found `3`"),
        ("(a", "1:3", 'expected ")", found the end'),
        ("[a", "1:3", 'expected "," or "]", found the end'),
        ("a)", "1:2", "expected the end, found `)`"),
        ("a\n&& b", "2:1", "CUE ends an expression where a line ends after a value"),
        ("'a' == b", "1:1", "double quotes"),
        (r'"a\(b)" == c', "1:3", "interpolation is not part of conditions"),
        ('a == "abc', "1:6", "the string has no end"),
        (r'"\x41" == a', "1:2", r"\x is not an escape"),
        (r'"a\ud800"', "1:3", "is not a character"),
        (r'"\u00"', "1:2", "4 hexadecimal digits"),
        ('a == """b"""', "1:6", "strings over several lines"),
        ("{a: 1} == b", "1:1", "struct literals are not part of conditions"),
        ("[for x in a {x}] == b", "1:2", "comprehensions are not part of conditions"),
        ("[if a {1}] == b", "1:2", "comprehensions are not part of conditions"),
        ('import "strings"', "1:1", "imports are not part of conditions"),
        ("[1, ...] == a", "1:5", "open lists"),
        ('a == "x" | "y"', "1:10", "disjunctions (|) are not part of conditions"),
        ("a == *1", "1:6", "defaults (*) are not part of conditions"),
        ("a[1:2] == b", "1:4", "slices"),
        (r'a =~ "x(?=y)"', "1:6", "lookahead and lookbehind are not part"),
        (r'a =~ #"(x)\1"#', "1:6", "references to groups (backreferences) are not part"),
        (r'a & !~"(?<!y)"', "1:7", "lookahead and lookbehind are not part"),
        ('a =~ "("', "1:6", "not a regular expression: missing ), unterminated subpattern"),
        ('a =~ "\\\\pL"', "1:6", "classes of Unicode are not supported"),
        (">=3", "1:1", "this is a condition for a value, and has no value itself"),
        ("(a & >=3) && (>=1 & <=2)", "1:15", "this is a condition for a value"),
        ("a & >=2 == 3", "1:5", "this is a condition for a value"),
        ("string", "1:1", "this is a condition for a value"),
        ("_|_", "1:1", "_|_ is allowed only beside == or !="),
        ("a == [_|_]", "1:7", "_|_ is allowed only beside == or !="),
        ("a > _|_", "1:5", "_|_ is allowed only beside == or !="),
        ("len(a, b) == 1", "1:1", '"len" takes 1 argument, and is given 2'),
        ('strings.HasPrefx(a, "b")', "1:1", 'there is no function "strings.HasPrefx"'),
        ("strings == 1", "1:1", '"strings" is a package'),
        ("list.Contains == 1", "1:1", '"list.Contains" is a function'),
        ("values._x", "1:8", '"_x" after a point is the name of something hidden'),
        ("values.for", "1:8", '"for" after a point is a keyword'),
        ("#x", "1:1", "is a definition"),
        ("01 == a", "1:1", "does not begin with 0"),
        ("1__0 == a", "1:1", "between two digits"),
        ("1.3Ki == a", "1:1", "is not a whole number"),
        ("1x == a", "1:1", '"1x" is not a number'),
        ("1e1001 > a", "1:1", "exponents are between"),
        ("a == 1;", "1:7", "one expression"),
        ("a <-1", "1:3", '"<-" is one sign in CUE'),
        ("a == \ud800", "1:6", "half a character"),
    ],
)
def test_what_is_no_condition_is_refused_where_it_is(text: str, place: str, message: str) -> None:
    fault = refused(text)
    assert str(fault.place) == place
    assert message in fault.message


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("a == b and c", "write &&"),
        ("a = b", "write =="),
        ('strings.HasPrefx(a, "b")', "did you mean strings.HasPrefix?"),
        ("upper(a)", "the functions are len, strings.HasPrefix, strings.HasSuffix, strings.Contains, list.Contains"),
        ("values.for", 'write ."for"'),
        (">=3", "write (values.a & >=3) != _|_"),
        (r'a =~ "\d"', r'write #"\d"# or \\d for the characters themselves'),
    ],
)
def test_what_would_be_right_is_told(text: str, hint: str) -> None:
    assert refused(text).hint == hint


@pytest.mark.parametrize(
    ("text", "reason", "place", "message"),
    [
        ("values.database.nme", NoAnswer.UNDEFINED, "1:16", 'values.database has no field "nme"'),
        ("values.database.n.x", NoAnswer.OPERANDS, "1:18", "values.database.n has no fields: it is null"),
        ("nope == 1", NoAnswer.UNDEFINED, "1:1", 'there is no "nope"'),
        ("values.database.tags[2]", NoAnswer.INDEX, "1:21", "values.database.tags has no such element"),
        ("values.database.tags[-1]", NoAnswer.INDEX, "1:21", "the index is below 0"),
        ("values.database.tags[4/4]", NoAnswer.OPERANDS, "1:21", "no elements by a float"),
        ("values.database.name == 3", NoAnswer.OPERANDS, "1:22", "== does not compare a string with an int"),
        ("1 < 2 < 3", NoAnswer.OPERANDS, "1:7", "< does not compare a bool with an int"),
        ("true && 1", NoAnswer.OPERANDS, "1:6", "&& does not go with an int"),
        ("1 / 0 == 1", NoAnswer.NUMBER, "1:3", "division by zero"),
        ("values.database.replicas", NoAnswer.NOT_A_BOOL, "1:1", "a condition is true or false, and this is an int"),
        ("values == values", NoAnswer.NOT_SUPPORTED, "1:8", "structs are not compared"),
        ("(values == values) == _|_", NoAnswer.NOT_SUPPORTED, "1:9", "structs are not compared"),
        ("[values] == [values]", NoAnswer.NOT_SUPPORTED, "1:10", "structs are not compared"),
        ('"a" * 3 == "aaa"', NoAnswer.NOT_SUPPORTED, "1:5", "* of a string and an int is not supported"),
        ("[values.missing] != _|_", NoAnswer.UNDEFINED, "1:8", 'values has no field "missing"'),
        ("1e24 + 1000000000000000000000000 > 0", NoAnswer.NUMBER, "1:6", "more than 24 digits"),
        ("values.database & >=3", NoAnswer.CONFLICT, "1:19", "the value is not in the bound >=3"),
    ],
)
def test_why_there_is_no_answer(text: str, reason: NoAnswer, place: str, message: str) -> None:
    fault = failed(text, CONTEXT)
    assert (fault.reason, str(fault.place)) == (reason, place)
    assert message in fault.message


def test_a_field_that_is_not_there_is_told_with_the_nearest() -> None:
    assert failed("values.database.nme", CONTEXT).hint == "did you mean name?"


# ------------------------------------------------------------------------------------------------------------- names


def test_roots_are_what_paths_begin_with() -> None:
    tree = parse('values.a[outputs.b].c == 1 && strings.Contains(event.x, "values") && [values.d][0] == e')
    assert {name: str(place) for name, place in roots(tree).items()} == {
        "values": "1:1",
        "outputs": "1:10",
        "event": "1:48",
        "e": "1:87",
    }


def test_a_root_that_is_not_known_is_told_with_the_nearest() -> None:
    known = ["values", "resources", "outputs"]
    (first, second) = unknown(parse("vlaues.a == 1 &&\n other.outputs == values.b"), known)
    assert (first.message, str(first.place), first.hint) == (
        'there is no "vlaues" in conditions',
        "1:1",
        "did you mean values?",
    )
    assert (str(second.place), second.hint) == ("2:2", "there are values, resources, outputs")


# ----------------------------------------------------------------------------------------------------------- secrets

SECRETS = {
    "values": {"password": Sensitive("hunter2"), "user": "ann", "deep": Sensitive({"key": ["hunter2"]})},
    "which": Sensitive("user"),
}


def test_secrets_are_compared_and_never_shown() -> None:
    tree = parse(
        'values.password == "hunter2" && values.user != values.password && values.deep.key[0] =~ "^h"'
        " && values[which] == values.user && len(values) == 3"
    )
    assert evaluate(tree, SECRETS) is True
    assert referenced(tree, SECRETS) == {
        "values.password": SHOWN,
        "values.user": "ann",
        "values.deep.key[0]": SHOWN,
        "values[which]": SHOWN,
        "which": SHOWN,
        "values": {"password": SHOWN, "user": "ann", "deep": SHOWN},
    }


@pytest.mark.parametrize(
    "text",
    [
        "values.password",
        "values.password + 1 == 1",
        "values.password & >=3",
        'values.password & "other"',
        "values.deep.kez",
        "values[values.password]",
        'values.user =~ values.password + "("',
        "values.deep == values.deep",
        "!values.password",
    ],
)
def test_no_message_tells_a_secret(text: str) -> None:
    fault = failed(text, SECRETS)
    assert "hunter2" not in f"{fault} {fault.message} {fault.hint}"
    assert "key" not in fault.hint


def test_what_is_not_there_is_not_among_what_is_referenced() -> None:
    assert referenced(parse("values.missing == _|_ || event.from[0] == 1 || nope.x == 1"), CONTEXT) == {}
    assert referenced(parse("values.database.tags[0] == 1 || true"), CONTEXT) == {"values.database.tags[0]": "a"}


# ------------------------------------------------------------------------------------------------------------ bounds


@pytest.mark.parametrize("opening", ["(", "[", "!", "-", "len(", "a[", ">="])
def test_nesting_ends_with_a_clear_error(opening: str) -> None:
    assert f"at most {MOST_NESTED} levels deep" in refused(opening * 500 + "1").message


def test_chains_are_as_long_as_their_text() -> None:
    assert evaluate(parse(" + ".join("1" * 900) + " == 900"), {}) is True
    assert evaluate(parse(" && ".join(["true"] * 500)), {}) is True
    assert evaluate(parse("a" + ".b" * 1_900 + " == _|_"), {"a": {}}) is True
    assert f"at most {MOST_CHARACTERS:,} characters" in refused("1 + " * 1_001).message


def test_a_pattern_that_would_take_ever_longer_comes_to_an_end() -> None:
    text = {"a": "a" * 300_000 + "b"}
    assert failed('a =~ "^(a+)+$"', text).reason is NoAnswer.TOO_MUCH
    assert evaluate(parse('a =~ "^(a+)+$"'), {"a": "a" * 50 + "b"}) is False
    many = " || ".join(['a =~ "^(a+)+$"'] * 100)
    assert failed(many, {"a": "a" * 15_000 + "b"}).reason is NoAnswer.TOO_MUCH


def test_texts_do_not_grow_without_end() -> None:
    assert failed("a + a + a == a", {"a": "x" * 400_000}).reason is NoAnswer.TOO_MUCH


def test_values_that_are_no_data_are_refused() -> None:
    assert failed("a == 1", {"a": float("nan")}).reason is NoAnswer.NUMBER
    assert failed("a == _|_", {"a": object()}).reason is NoAnswer.NOT_SUPPORTED
    deep: list[Any] = []
    for _ in range(10_000):
        deep = [deep]
    assert evaluate(parse("a == a && list.Contains([a], a)"), {"a": deep}) is True


# ---------------------------------------------------------------------------------------------------------- patterns


@pytest.mark.parametrize(
    ("pattern", "value", "found"),
    [
        ("a$", "a\n", False),
        ("(?m)a$", "a\nb", True),
        ("(?:(?m:a$)|b$)", "b\n", False),
        (r"^\w$", "é", False),
        (r"\s", "\v", False),
        (r"^[\S ]+$", "a b", True),
        (r"[^\s]", " \t", False),
        ("a{,2}", "a", False),
        ("a{,2}", "a{,2}", True),
        ("a{2}", "aa", True),
        ("[[:upper:]][[:digit:]_]", "A1", True),
        (r"^\x41\x{42}\z", "AB", True),
        ("(?i)HTTP", "http://", True),
        ("[]a]", "]", True),
        ("[a&&b]", "&", True),
        ("(?P<name>a)|", "", True),
    ],
)
def test_patterns_are_those_of_cue(pattern: str, value: str, found: bool) -> None:
    assert evaluate(parse(f"a =~ {json.dumps(pattern)}"), {"a": value}) is found


@pytest.mark.parametrize(
    "pattern",
    [
        *(
            "(?x)a",
            "(?>a)",
            "(?#a)b",
            "(?P=n)",
            "a++",
            "a{1001}",
            "a{2,1}",
            "a(?i)b",
            "(?<n>a)",
            "*a",
            "[a",
            "a)",
            "(a",
        ),
        *(r"\Z", r"\Q.\E", r"\C", r"\u0061", r"\N{DIGIT ONE}", "\\é", r"[\b]", "[[:foo:]]", "[[:^alpha:]]", "a\\"),
    ],
)
def test_patterns_that_mean_something_else_elsewhere_are_refused(pattern: str) -> None:
    fault = refused(f"a =~ {json.dumps(pattern, ensure_ascii=False)}")
    assert str(fault.place) == "1:6"
    assert " at position" not in fault.message
