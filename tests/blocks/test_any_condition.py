"""Whatever text a condition is, it is read or refused with a place; and a tree's text gives the same tree."""

from decimal import Decimal
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from ordito.blocks.check import roots
from ordito.blocks.conditions.evaluator import evaluate, referenced
from ordito.blocks.conditions.parser import FUNCTIONS, KINDS, parse
from ordito.blocks.conditions.trees import LEVELS, ConditionFailed, Node, NotACondition, TextRange, written
from tests.support.thorough import examples

NOWHERE = TextRange(0, 0, 1, 1)
PIECES = [
    *(
        "values",
        ".a",
        '."b-c"',
        "[0]",
        '["k"]',
        "_|_",
        "&",
        "|",
        "!",
        "(",
        ")",
        "[",
        "]",
        ",",
        "{",
        "}",
        ":",
        "...",
        ".",
    ),
    *(
        "1",
        "2.5",
        "0x1f",
        "1e3",
        "1.5Ki",
        "1_0",
        "true",
        "null",
        "len",
        "strings.",
        "list.Contains",
        "string",
        "for",
        "=",
    ),
    *('"', '"a"', '#"', r"\n", r"\(", r"\u00e9", '"^a(b|c)*$"', r'"(?=a)"', "'", "//", "\n", " ", "é", "\ud800", "\0"),
    *(operator for operators in LEVELS for operator in operators),
]
CONTEXT: dict[str, Any] = {
    "values": {"a": 3, "b": "text", "c": [1, 2.5, "x", None], "d": {"e": True}, "b-c": [[1]], "k": None},
    "x": True,
}


def without_places(tree: object) -> object:
    """A tree as data, in which only the places are not what they were."""
    if isinstance(tree, msgspec.Struct):
        names = [name for name in tree.__struct_fields__ if name != "place"]
        return [type(tree).__name__, *(without_places(getattr(tree, name)) for name in names)]
    if isinstance(tree, tuple):
        return [without_places(part) for part in tree]
    return type(tree).__name__, tree


def read(text: str) -> Node | None:
    """The tree of a text, or nothing if it is refused, which it may be in one way only."""
    fault = NOWHERE
    try:
        return parse(text)
    except NotACondition as refused:
        fault = refused.place
        assert refused.message  # noqa: PT017
    assert 0 <= fault.offset <= fault.end <= len(text)
    before = text[: fault.offset].split("\n")
    assert (fault.line, fault.column) == (len(before), len(before[-1]) + 1)
    return None


def answered(tree: Node) -> None:
    """A tree has an answer, or says where it has none."""
    try:
        assert evaluate(tree, CONTEXT) in {True, False}
    except ConditionFailed as failed:
        place = failed.place
        assert place.offset <= place.end
    assert {text.split(".")[0].split("[")[0] for text in referenced(tree, CONTEXT)} <= set(roots(tree))


@settings(max_examples=examples(400), deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join) | st.text(max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    tree = read(text)
    if tree is not None:
        answered(tree)
        assert without_places(parse(written(tree))) == without_places(tree)


# ------------------------------------------------------------------------------------------ trees that are conditions

NAMES = st.sampled_from(
    ["values", "x", "values.a", "values.b", "values.c[1]", 'values["d"].e', 'values."b-c"', "values.no"]
)
NUMBERS = st.integers(0, 10**30).map(str) | st.decimals(0, 10**6, allow_nan=False).map(lambda d: str(Decimal(d)))
STRINGS = st.text(max_size=5).map(lambda text: msgspec.json.encode(text).decode().replace("\\u007f", "\x7f"))


def larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Expressions that are made of others."""
    brackets = inner.map(lambda text: f"({text})")
    operators = st.sampled_from([operator for operators in LEVELS for operator in operators])
    bound = st.tuples(st.sampled_from([">=", "<", "!="]), brackets).map("".join) | st.sampled_from(KINDS)
    return st.one_of(
        brackets,
        st.tuples(inner, operators, brackets).map(" ".join),
        st.tuples(brackets, st.sampled_from(["== _|_", "!= _|_"])).map(" ".join),
        st.tuples(brackets, st.just("&"), bound).map(" ".join).map(lambda text: f"({text})"),
        st.tuples(st.sampled_from("!-+"), brackets).map("".join),
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]"),
        st.tuples(brackets, st.sampled_from([".a", "[0]", '["b"]'])).map("".join),
        st.tuples(st.sampled_from(sorted(FUNCTIONS)), inner, inner).map(
            lambda call: f"{call[0]}({', '.join(call[1 : 1 + FUNCTIONS[call[0]]])})"
        ),
    )


EXPRESSIONS = st.recursive(NAMES | NUMBERS | STRINGS | st.sampled_from(["true", "null", "[]"]), larger, max_leaves=8)


@settings(max_examples=examples(200), deadline=None)
@given(EXPRESSIONS)
def test_the_text_of_a_tree_gives_the_same_tree(text: str) -> None:
    tree = read(text)
    if tree is not None:
        again = parse(written(tree))
        assert without_places(again) == without_places(tree)
        assert written(again) == written(tree)
        answered(tree)
