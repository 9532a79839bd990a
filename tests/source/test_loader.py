"""The located loader: what it reads, what it refuses, and where it says things stand."""

from __future__ import annotations

import codecs

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ordito.base.diagnostics import Diagnostics
from ordito.source.loader import Document, load
from ordito.source.nodes import Mapping, Node, Scalar, Sequence
from ordito.source.scalars import core_value
from tests.support.thorough import examples


def read(text: str | bytes) -> tuple[Document | None, list[tuple[str, str, str]]]:
    """The document of a text, and the diagnostics as (code, line:column, message and hint)."""
    diagnostics = Diagnostics()
    document = load("file.yaml", text.encode() if isinstance(text, str) else text, diagnostics)
    return document, [(d.code, str(d.span).removeprefix("file.yaml:"), f"{d.message}; {d.hint}") for d in diagnostics]


def plain(node: Node) -> object:
    """A tree of nodes as plain data, scalars by their text."""
    if isinstance(node, Scalar):
        return node.text
    if isinstance(node, Sequence):
        return [plain(i) for i in node.items]
    return {k.text: plain(v) for k, v in node.entries()}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 6.10\nb: no\nc: 0123\nd: 2001-01-01", {"a": "6.10", "b": "no", "c": "0123", "d": "2001-01-01"}),
        ("a: !!int 5\nb: !mine x", {"a": "5", "b": "x"}),
        ("# comment\n---\n1: a\ntrue: b\n", {"1": "a", "true": "b"}),
        ("a: &x [1]\nb: *x", {"a": ["1"], "b": ["1"]}),
        (
            "a: &x {p: 1, q: 2}\nb: {<<: *x, q: 3, r: 4}",
            {"a": {"p": "1", "q": "2"}, "b": {"q": "3", "r": "4", "p": "1"}},
        ),
        (
            "a: &x {p: 1}\nb: &y {q: 2}\nc: {<<: [*x, *y], r: 3}",
            {"a": {"p": "1"}, "b": {"q": "2"}, "c": {"r": "3", "p": "1", "q": "2"}},
        ),
        ('"<<": {a: b}', {"<<": {"a": "b"}}),
        ("<<: text", {"<<": "text"}),
        ("a: |\n  x\n   y\nb: >-\n  p\n  q", {"a": "x\n y\n", "b": "p q"}),
        ("? a\n: b\n? c", {"a": "b", "c": ""}),
        ("a: &x [&x b, *x]", {"a": ["b", "b"]}),
        ("'a'", "a"),
    ],
)
def test_reads(text: str, expected: object) -> None:
    """R-2.14-1: scalars keep their source text; anchors, aliases and merge keys are resolved."""
    document, found = read(text)
    assert found == []
    assert document is not None
    assert plain(document.root) == expected


BROKEN = [
    # unclosed brackets and quotes: reported where they should be closed, and the rest is read
    ("a: [ x, y\nb: 1", ("yaml-syntax", "1:10", "write ] here"), {"a": ["x", "y"], "b": "1"}),
    ("a: { g: [ x, y }\nb: 1", ("yaml-syntax", "1:16", "write ] here"), {"a": {"g": ["x", "y"]}, "b": "1"}),
    ("a: { g: [ x, y ]\nb: 1", ("yaml-syntax", "1:17", "write } here"), {"a": {"g": ["x", "y"]}, "b": "1"}),
    (
        "x:\n  a: [\n    p,\n    q\n  b: 1",
        ("yaml-syntax", "4:6", "begins in line 2"),
        {"x": {"a": ["p", "q"], "b": "1"}},
    ),
    ("- p: { q: r\n  s: t\n- u", ("yaml-syntax", "1:12", "write } here"), [{"p": {"q": "r"}, "s": "t"}, "u"]),
    ("- [a # [comment]\n- b", ("yaml-syntax", "1:5", "write ] here"), [["a"], "b"]),
    ("- [a, 'it''s ]', \"]\\\"\"\n- b", ("yaml-syntax", "1:23", "write ] here"), [["a", "it's ]", ']"'], "b"]),
    ('a: "abc\nb: 1', ("yaml-syntax", "1:8", 'write " here'), {"a": "abc", "b": "1"}),
    ("a: 'abc\nb: 1", ("yaml-syntax", "1:8", "write ' here"), {"a": "abc", "b": "1"}),
    # what is clear without a repair
    ("a: 1\na: 2\nb: 3", ("duplicate-key", "2:1", "keep one"), {"a": "1", "b": "3"}),
    ("a: &x {}\nb: {<<: *x, <<: *x}", ("duplicate-key", "2:13", "with a list"), {"a": {}, "b": {}}),
    ("a: 1\n---\nb: 2", ("second-document", "2:1", "from this line on"), {"a": "1"}),
    ("a: 1\n...\n---\nb: 2", ("second-document", "3:1", "from this line on"), {"a": "1"}),
    ("{ p: 1 }: x\nb: 3", ("complex-key", "1:1", "write a plain name"), {"b": "3"}),
    ("? [ p ]\n: x\nb: 3", ("complex-key", "1:3", "write a plain name"), {"b": "3"}),
    # other faults: said once; what is lost is written over with x, and nothing else is
    (
        "a: {t: integer d: 3}\nb: 1",
        ("yaml-syntax", "1:17", "a comma is missing"),
        {"a": {"t": "integer", "d": "3"}, "b": "1"},
    ),
    ('a: ["b" "c"]\nb: 1', ("yaml-syntax", "1:9", "a comma is missing"), {"a": ["b", "c"], "b": "1"}),
    (
        "a: [{b: c} {d: e}]\nb: 1",
        ("yaml-syntax", "1:12", "a comma is missing"),
        {"a": [{"b": "c"}, {"d": "e"}], "b": "1"},
    ),
    ("a: [b,, c]\nb: 1", ("yaml-syntax", "1:7", "before this comma"), {"a": ["b", "c"], "b": "1"}),
    ("a: b: c\nd: 1", ("yaml-syntax", "1:5", "quote the text"), {"a": "xxxx", "d": "1"}),
    ("- a: b: c # d\n  d: 1", ("yaml-syntax", "1:7", 'value of "a"'), [{"a": "xxxx", "d": "1"}]),
    ("a: Text: x\nb:\n  - c", ("yaml-syntax", "1:8", "a second colon"), {"a": "xxxxxxx", "b": ["c"]}),
    ("a: see\n  Note: this\nb: 1", ("yaml-syntax", "2:3", 'deeper than "a"'), {"a": "see", "Note": "this", "b": "1"}),
    (
        "a: see this\n  Note: this\nb: 1",
        ("yaml-syntax", "2:7", "continues in this line"),
        {"a": "see this Note; this", "b": "1"},
    ),
    ("a: 1\n  b: 2\n  c: 3\nd: 4", ("yaml-syntax", "2:3", "by 0 as line 1"), {"a": "1", "b": "2", "c": "3", "d": "4"}),
    ("a:b\nc: 1", ("yaml-syntax", "1:3", "a space is missing"), {"a": "b", "c": "1"}),
    ("a:\n  b:c\n  d: 1", ("yaml-syntax", "2:5", "a space is missing"), {"a": {"b": "c", "d": "1"}}),
    ("a\n  b: 1", ("yaml-syntax", "1:1", 'missing after "a"'), {"a": {"b": "1"}}),
    ("a: 1\nb\nc: 2", ("yaml-syntax", "2:1", "write a colon"), {"a": "1", "b": "", "c": "2"}),
    ("a: 1\nb 5 # x\nc: 2", ("yaml-syntax", "2:1", "write a colon"), {"a": "1", "b": "5", "c": "2"}),
    ("\ta: 1", ("yaml-syntax", "1:1", "indent with spaces"), {"a": "1"}),
    ("a:\n\tb: 1\n\tc:\n\t\td: 1", ("yaml-syntax", "2:1", "indent with spaces"), {"a": {"b": "1", "c": {"d": "1"}}}),
    ("a:\n\tb: 1\nc:\n  d: 1", ("yaml-syntax", "2:1", "indent with spaces"), None),
    ("a:\n  b: 1\n c: 2", ("yaml-syntax", "3:2", "by 2 as line 2 or by 0 as line 1"), None),
    (
        "a:\n   b: 1\n  c: 2\n  d: 3\ne: 4",
        ("yaml-syntax", "3:3", "by 3 as line 2"),
        {"a": {"b": "1", "c": "2", "d": "3"}, "e": "4"},
    ),
    (
        "a:\n    b:\n        c: 1\n     d: 2\ne: 4",
        ("yaml-syntax", "4:6", "by 4 as line 2"),
        {"a": {"b": {"c": "1"}, "d": "2"}, "e": "4"},
    ),
    ("a: x\n  - b\n", None, {"a": "x - b"}),
    ("a:\n  - b\n  c: 1", ("yaml-syntax", "3:3", "write a dash"), None),
    ("a: 1\n- b", ("yaml-syntax", "2:1", "cannot stand beside keys"), None),
    (": a", ("yaml-syntax", "1:1", "no key before this colon"), None),
    ("a: ]", ("yaml-syntax", "1:4", "closes nothing"), {"a": ""}),
    ("a: [b]]\nc: 1", ("yaml-syntax", "1:7", "closes nothing"), {"a": ["b"], "c": "1"}),
    ("a: {b: 1}}\nc: 1", ("yaml-syntax", "1:10", "closes nothing"), {"a": {"b": "1"}, "c": "1"}),
    ("a: @b\nc: 1", ("yaml-syntax", "1:4", "put the text into quotes"), {"a": "xx", "c": "1"}),
    ("a: `b`\nc: 1", ("yaml-syntax", "1:4", "put the text into quotes"), {"a": "xxx", "c": "1"}),
    ("a: [ %b, c ]\nd: 1", ("yaml-syntax", "1:6", "put the text into quotes"), {"a": ["xx", "c"], "d": "1"}),
    ("a: *\nc: 1", ("yaml-syntax", "1:4", "put the text into quotes"), {"a": "x", "c": "1"}),
    ("a: & b\nc: 1", ("yaml-syntax", "1:4", "put the text into quotes"), {"a": "xxx", "c": "1"}),
    ("a: ,b\nc: 1", ("yaml-syntax", "1:4", "put the text into quotes"), {"a": "xx", "c": "1"}),
    ('a: "x" y\nc: 1', ("yaml-syntax", "1:8", "ends before this"), {"a": "xxxxx", "c": "1"}),
    ("a: 'it's'\nc: 1", ("yaml-syntax", "1:8", "write '' for"), {"a": "xxxxxx", "c": "1"}),
    ('a: "b\nc: "d"\ne: 1', ("yaml-syntax", "1:6", 'write " here'), {"a": "b", "c": "d", "e": "1"}),
    ("a: |x\n  b\nc: 1", ("yaml-syntax", "1:5", "in the lines below"), {"a": "b\n", "c": "1"}),
    ("a: [x, }", ("yaml-syntax", "1:8", "closes nothing"), None),
    ("a: !x!y b\nc: 1", ("yaml-syntax", "1:4", "put the text into quotes"), {"a": "xxxxxx", "c": "1"}),
    ('a: "\\q"\nc: 1', ("yaml-syntax", "1:5", "double the backslash"), {"a": "\\q", "c": "1"}),
    ("a: - b\nc: 1", ("yaml-syntax", "1:4", "on a line of its own"), {"a": "xxx", "c": "1"}),
    ("%YAML 3.0\n---\na", ("yaml-syntax", "1:1", "incompatible"), None),
    ("a: &x [b, *x]", ("recursive-alias", "1:11", "stands inside"), None),
    ("a: *x", ("unknown-alias", "1:4", "no anchor"), None),
    ("", ("empty-document", "1:1", "no YAML document"), None),
    ("# nothing\n", ("empty-document", "1:1", "no YAML document"), None),
    ("a: b\x07", ("yaml-syntax", "1:5", "U+0007"), None),
    ("x\r\nb: \u2028\x0c", ("yaml-syntax", "3:1", "U+000C"), None),
]


@pytest.mark.parametrize(("text", "found", "expected"), BROKEN)
def test_broken(text: str, found: tuple[str, str, str] | None, expected: object) -> None:
    """R-3.1.3-4: what is wrong is said once, with its place and what to do, and all that is clear is read."""
    document, diagnostics = read(text)
    assert len(diagnostics) == (found is not None), diagnostics
    for code, place, message in diagnostics:
        assert found is not None
        assert (code, place) == found[:2]
        assert found[2] in message
    assert (plain(document.root) if document is not None else None) == expected


def test_several_brackets() -> None:
    """Each bracket that is not closed is reported, in one run."""
    document, found = read("a: [ 1\nb: { c: [ 2 }\nd: { e: [ 3\nf: 4")
    assert [(code, place) for code, place, _ in found] == [
        ("yaml-syntax", "1:7"),
        ("yaml-syntax", "2:13"),
        ("yaml-syntax", "3:12"),
        ("yaml-syntax", "3:12"),
    ]
    assert document is not None
    assert plain(document.root) == {"a": ["1"], "b": {"c": ["2"]}, "d": {"e": ["3"]}, "f": "4"}


@pytest.mark.parametrize(
    ("data", "code", "place", "message"),
    [
        ("a: b".encode("utf-16"), "encoding", "1:1", "UTF-16"),
        (codecs.BOM_UTF16_BE + "a".encode("utf-16-be"), "encoding", "1:1", "UTF-16"),
        ("a: b".encode("utf-32"), "encoding", "1:1", "UTF-32"),
        ("a: b".encode("utf-16-le"), "yaml-syntax", "1:2", "save the file as UTF-8"),
        ("a: ok\nb: gr\xfc\xdf".encode("latin-1"), "encoding", "2:6", "0xfc is not valid UTF-8"),
        (codecs.BOM_UTF8 + b"a: \xff", "encoding", "1:4", "0xff is not valid UTF-8"),
        (codecs.BOM_UTF8 + b"\xff", "encoding", "1:1", "not valid UTF-8"),
        (b"a: \xf0\x9f\x98", "encoding", "1:4", "not valid UTF-8"),
        (b"\xed\xa0\x80", "encoding", "1:1", "not valid UTF-8"),
    ],
)
def test_encodings(data: bytes, code: str, place: str, message: str) -> None:
    """Ruling 10: any encoding but UTF-8 is an error that names it."""
    document, found = read(data)
    assert document is None
    assert [(c, p) for c, p, _ in found] == [(code, place)]
    assert message in found[0][2]


def test_byte_order_mark() -> None:
    """Ruling 10: the byte order mark of UTF-8 is accepted, and does not move the first column."""
    document, found = read(codecs.BOM_UTF8 + b"a: b")
    assert found == []
    assert document is not None
    assert isinstance(document.root, Mapping)
    assert (document.root.keys[0].line, document.root.keys[0].column) == (1, 1)


def test_alias_bomb() -> None:
    """Aliases that would blow up the document are refused, quickly."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    document, found = read("\n".join(lines))
    assert document is None
    assert [c for c, _, _ in found] == ["alias-bomb"]


def test_deep_nesting() -> None:
    """Nesting is bounded, through aliases as well, so whatever reads the tree may recurse."""
    assert read("[" * 100 + "]" * 100)[1] == []
    assert [c for c, _, _ in read("[" * 101 + "]" * 101)[1]] == ["too-deep"]
    assert [c for c, _, _ in read("[" * 50_000)[1]] == ["too-deep"]
    assert [c for c, _, _ in read("a: " + "{b: " * 20_000)[1]] == ["too-deep"]
    nested = "&{0} " + "[" * 60 + "{1}" + "]" * 60
    chain = "\n".join(["a0: " + nested.format("a0", "x"), "a1: " + nested.format("a1", "*a0")])
    assert [c for c, _, _ in read(chain)[1]] == ["too-deep"]
    assert read("a0: " + nested.format("a0", "x") + "\na1: " + "[" * 39 + "*a0" + "]" * 39)[1] == []


def test_too_large() -> None:
    """Input is bounded, so memory is."""
    document, found = read(b"a" * (64 * 1024 * 1024 + 1))
    assert document is None
    assert [c for c, _, _ in found] == ["too-large"]


LETTERS = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"], exclude_characters="\ufeff\u2028\u2029\x85"),
    max_size=8,
)
TREES = st.recursive(
    LETTERS | st.sampled_from(["no", "1.10", "0x1F", "~", "a: b", "- x", "# c", "[", "it's", 'say "x"', "two\nlines"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(LETTERS, inner, max_size=4),
    max_leaves=12,
)


def texts(node: yaml.Node) -> object:
    """A tree that PyYAML composed, as plain data, scalars by their text."""
    if isinstance(node, yaml.ScalarNode):
        return node.value
    if isinstance(node, yaml.SequenceNode):
        return [texts(i) for i in node.value]
    return {k.value: texts(v) for k, v in node.value}


@settings(max_examples=examples(40), deadline=None)
@given(tree=TREES, flow=st.sampled_from([None, True, False]), wide=st.booleans())
def test_agrees_with_pyyaml(tree: object, flow: bool | None, wide: bool) -> None:
    """The tree holds what PyYAML's holds, and each plain scalar stands where it says."""
    text = yaml.safe_dump(tree, default_flow_style=flow, allow_unicode=wide)
    document, found = read(text)
    assert found == []
    assert document is not None
    composed = yaml.compose(text, Loader=yaml.BaseLoader)
    assert composed is not None
    assert plain(document.root) == texts(composed)
    todo = [document.root]
    while todo:
        node = todo.pop()
        assert (node.line, node.column) <= (node.end_line, node.end_column)
        if isinstance(node, Sequence):
            todo += node.items
        elif isinstance(node, Mapping):
            todo += [*node.keys, *node.values.values()]
        elif node.plain and node.line == node.end_line and "\n" not in node.text:
            line = document.source.line(node.line)
            assert line[node.column - 1 : node.end_column - 1] == node.text


@settings(max_examples=examples(50), deadline=None)
@given(data=st.binary(max_size=60) | st.text(alphabet="ab:-[]{}\"'#&*<>|!%@,? \n\t~", max_size=60).map(str.encode))
@example(data=b"a: [\n\n")
@example(data=b"? [")
@example(data=b"&a")
@example(data=b'"')
@example(data=b"{<<: [*a]}")
def test_any_bytes(data: bytes) -> None:
    """Any bytes give a tree or diagnostics, whose places lie inside of the file."""
    diagnostics = Diagnostics()
    document = load("file.yaml", data, diagnostics)
    assert document is not None or diagnostics.has_errors
    for found in diagnostics:
        span = found.span
        assert span is not None
        last = max(len(span.source.lines), 1)
        assert 1 <= span.line <= last
        assert 1 <= span.column <= len(span.source.line(span.line)) + 1


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None), ("~", None), ("null", None), ("true", True), ("False", False), ("no", "no"), ("0777", 777),
        ("0o17", 15), ("0x1f", 31), ("-0x1f", "-0x1f"), ("1_000", "1_000"), ("1.5e3", 1500.0), (".5", 0.5), ("5.", 5.0),
        ("1e3", 1000.0), (".inf", float("inf")), ("12:30:00", "12:30:00"), ("2001-01-01", "2001-01-01"),
        ("9" * 400, "9" * 400), ("\u0661", "\u0661"),
    ],
)  # fmt: skip
def test_core_schema(text: str, value: object) -> None:
    """R-3.3.1-1: where no type is declared, the core schema of YAML 1.2 holds, not that of 1.1."""
    document, _ = read(f"[ {text} ]" if text else "[ '', ~ ]")
    assert document is not None
    assert isinstance(document.root, Sequence)
    last = document.root.items[-1]
    assert isinstance(last, Scalar)
    found = core_value(last)
    assert (found, type(found)) == (value, type(value))
