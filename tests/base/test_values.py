"""Scalar units, versions, timestamps and patterns."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordito.base.paths import beside, extensions
from ordito.base.pattern_syntax import Tries
from ordito.base.patterns import Pattern, TooMuchWork, compile_pattern, matches
from ordito.base.scalar_units import UNITS, NotAScalarUnit, amount, canonical
from ordito.base.timestamps import moment, parse_timestamp
from ordito.base.versions import Incomparable, Version

SIZE, TIME, FREQUENCY, BITRATE = UNITS


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("10GB", SIZE, "10 GB"),
        ("10   gb", SIZE, "10 GB"),
        (" 1.50 MiB ", SIZE, "1.50 MiB"),
        ("-1 b", SIZE, "-1 B"),
        ("1e3 KB", SIZE, "1e3 kB"),
        ("10 ms", TIME, "10 ms"),
        ("1 M", TIME, "1 m"),
        ("2.4 ghz", FREQUENCY, "2.4 GHz"),
        ("10 Kbps", BITRATE, "10 Kbps"),
    ],
)
def test_canonical(text: str, kind: str, expected: str) -> None:
    """R-3.3.6-1, R-3.3.6.4-1 to R-3.3.6.7-1: the author's number, one space, the unit as it is spelled."""
    assert canonical(text, kind) == expected
    assert canonical(expected, kind) == expected


@pytest.mark.parametrize(
    ("text", "kind", "hint"),
    [
        ("10", SIZE, "units: B, kB"),
        ("GB", SIZE, "write for example"),
        ("10 sec", TIME, "units: d, h, m, s"),
        ("10 KBPS", BITRATE, "units: bps"),
        ("1_0 GB", SIZE, "write for example"),
        ("\u0661 GB", SIZE, "write for example"),
        ("9" * 5000 + " GB", SIZE, "write for example"),
        ("1e9999 GB", SIZE, "write for example"),
    ],
)
def test_no_scalar_unit(text: str, kind: str, hint: str) -> None:
    """R-3.3.6-1: number and unit are both required."""
    with pytest.raises(NotAScalarUnit) as caught:
        canonical(text, kind)
    assert hint in caught.value.hint


def test_amounts_are_exact() -> None:
    """R-3.3.6-2, R-3.3.6.7-1: amounts are compared across units, exactly."""
    assert amount("1 KiB", SIZE) == 1024 == amount("1.024 kB", SIZE)
    assert amount("1024 MB", SIZE) < amount("1 GiB", SIZE)
    assert amount("1 MBps", BITRATE) == amount("8 Mbps", BITRATE)
    assert amount("0.1 s", TIME) * 3 == amount("0.3 s", TIME) == Fraction(3, 10)
    assert amount("1 d", TIME) == amount("24 h", TIME)


@given(
    number=st.decimals(allow_nan=False, allow_infinity=False, min_value=0, max_value=10**12, places=3), data=st.data()
)
def test_amount_of_canonical(number: object, data: st.DataObject) -> None:
    """Any number with any unit is its number times the unit."""
    kind = data.draw(st.sampled_from(sorted(UNITS)))
    unit = data.draw(st.sampled_from(sorted(UNITS[kind])))
    assert amount(canonical(f"{number:f}{unit}", kind), kind) == Fraction(f"{number:f}") * UNITS[kind][unit]


@pytest.mark.parametrize(
    "text", ["abc", "1", "1.0.beta", "1.0.0-3", "1.0.0.beta-x", "0.0.0.a-1", "", "1." + "9" * 19, "\u0661.0"]
)
def test_no_version(text: str) -> None:
    """R-3.3.2-1, R-3.3.2-7: what is no version."""
    with pytest.raises(ValueError, match="version"):
        Version.parse(text)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("1.9", "1.10"),
        ("1.9", "2.0"),
        ("1.0.0.beta", "1.0.0"),
        ("1.0.0.alpha-9", "1.0.0.alpha-10"),
        ("1.0.0.a", "1.0.0.a-0"),
        ("0", "0.1"),
    ],
)
def test_order_of_versions(older: str, newer: str) -> None:
    """R-3.3.2-2 to R-3.3.2-4: numbers from left to right, qualifiers before none, builds by number."""
    assert Version.parse(older).order(Version.parse(newer)) < 0 < Version.parse(newer).order(Version.parse(older))


def test_equal_and_incomparable_versions() -> None:
    """R-3.3.2-5, R-3.3.2-6: a missing fix is 0, "no version" is zero, other qualifiers have no order."""
    assert Version.parse("1.0").order(Version.parse("1.0.0")) == 0
    assert Version.parse("0").order(Version.parse("0.0.0")) == 0
    with pytest.raises(Incomparable):
        Version.parse("1.0.0.a").order(Version.parse("1.0.0.b"))
    assert Version.parse("1.0.0.a").order(Version.parse("1.0.1.b")) < 0


VERSIONS = st.builds(
    Version, st.integers(0, 3), st.integers(0, 3), st.integers(0, 3), st.sampled_from(["", "rc"]), st.integers(-1, 2)
)


@given(a=VERSIONS, b=VERSIONS, c=VERSIONS)
def test_versions_are_ordered(a: Version, b: Version, c: Version) -> None:
    """The order of versions is an order."""
    assert a.order(b) == -b.order(a)
    if a.order(b) <= 0 and b.order(c) <= 0:
        assert a.order(c) <= 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2001-12-14t21:59:43.10-05:00", datetime(2001, 12, 15, 2, 59, 43, 100_000, UTC)),
        ("2002-12-14", datetime(2002, 12, 14, tzinfo=UTC)),
        ("2001-12-15 2:59:43.10", datetime(2001, 12, 15, 2, 59, 43, 100_000, UTC)),
        ("2001-1-5 02:59:43 +5", datetime(2001, 1, 4, 21, 59, 43, tzinfo=UTC)),
        ("2001-12-15T02:59:43Z", datetime(2001, 12, 15, 2, 59, 43, tzinfo=UTC)),
        ("2001-12-15T02:59:43.123456789Z", datetime(2001, 12, 15, 2, 59, 43, 123_456, UTC)),
    ],
)
def test_timestamps(text: str, expected: datetime) -> None:
    """R-3.3.1-5: timestamps as YAML 1.1 writes them; without a zone they are UTC."""
    assert parse_timestamp(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "2001-13-01",
        "2001-02-30",
        "0000-01-01",
        "yesterday",
        "",
        "2001-12-14 21:59",
        "2001-12-14T25:00:00",
        "2001-12-14T1:00:00+99:00",
        "2001-12-1\u0661",
    ],
)
def test_no_timestamps(text: str) -> None:
    """R-3.3.1-5: what is none."""
    with pytest.raises(ValueError, match="not a timestamp"):
        parse_timestamp(text)


@given(moment=st.datetimes(), minutes=st.integers(-720, 720))
def test_timestamps_of_moments(moment: datetime, minutes: int) -> None:
    """What Python writes is read, with any zone."""
    zone = f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"
    text = f"{moment.year:04}-{moment:%m-%dT%H:%M:%S.%f}"
    assert parse_timestamp(text) == moment.replace(tzinfo=UTC)
    if 2 < moment.year < 9998:
        assert parse_timestamp(text + zone) == moment.replace(tzinfo=UTC) - timedelta(minutes=minutes)


def test_patterns() -> None:
    """R-3.6.3-7: the whole value must match; doubtful patterns give no warning of Python's, broken ones an error."""
    assert matches("b.", "bc")
    assert not matches("b.", "bcd")
    assert not matches("b.", "abc")
    assert matches("[[a]", "[")
    for broken in ("[", "(?P<x", "x{99999999999}", "*"):
        with pytest.raises(ValueError, match="not a regular expression"):
            compile_pattern(broken)


def test_paths() -> None:
    """Paths are texts here: joined and cut without looking at any disk."""
    assert beside("types/nodes.yaml", "../scripts/a.sh") == "scripts/a.sh"
    assert beside("main.yaml", "./a//b.sh") == "a/b.sh"
    assert beside("main.yaml", "../a") == "../a"
    names = ("a/b.SH", "a.tar.gz", "a", ".sh", "", "https://x.org/a.sh?b=c.d")
    assert [extensions(f) for f in names] == [["sh"], ["tar.gz", "gz"], [], [], [], ["sh"]]


PIECES = [
    "a",
    "b",
    ".",
    "[ab]",
    "[^a]",
    r"\w",
    "^",
    "$",
    r"\b",
    "A",
    "(?i:a)",
    "(?=a)",
    "(?!a)",
    "(?<=a)",
    "(?<!ab)",
    "[]a]",
]
PATTERNS = st.recursive(
    st.sampled_from(PIECES),
    lambda inner: st.one_of(
        st.builds("{}{}".format, inner, inner),
        st.builds("(?:{}|{})".format, inner, inner),
        st.builds("({}){}".format, inner, st.sampled_from(["*", "+", "?", "{2}", "{1,2}", "{,2}", "{1,}", "*?"])),
    ),
    max_leaves=8,
)


@given(text=PATTERNS, value=st.text("abA1 \n", max_size=8))
def test_programs_of_patterns(text: str, value: str) -> None:
    """R-3.6.3-7: followed as a program a pattern matches what Python's own matcher says it does."""
    program = compile_pattern(text)
    slow = Pattern(program.direct, program.program, Tries(nested=True))
    assert slow.matches(value) == (re.compile(text).fullmatch(value) is not None)
    assert slow.found_in(value) == (re.compile(text).search(value) is not None)


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("(a+)+$", "a" * 5_000 + "b", False),
        ("(a|a)*b", "a" * 5_000, False),
        ("(a?){40}a{40}", "a" * 40, True),
        ("(.*)*x(.*)*y", "x" * 2_000, False),
        (r"\d+\d+\d+\d+\d+-", "1" * 3_000, False),
        ("(?=(a+)+b)a*", "a" * 500, False),
        ("(a*)*(?<!b)", "a" * 1_000, True),
    ],
)
def test_patterns_in_bounded_time(text: str, value: str, expected: bool) -> None:
    """R-3.6.3-7: patterns for which trying one possibility after the other would take years."""
    assert matches(text, value) is expected


def test_patterns_that_are_refused() -> None:
    """What cannot be bounded is no pattern here; a value that takes too long is not matched."""
    for text in (r"(a)\1", "(?P<x>a)(?P=x)", "(?>a)", "a*+", "(?x) a", "(?#c)a", "((a{99}){99}){99}", "a" * 10_001):
        with pytest.raises(ValueError, match="support"):
            compile_pattern(text)
    with pytest.raises(TooMuchWork):
        matches("(a|b|ab)*c" * 20, "ab" * 100_000)


def test_fractions_of_timestamps() -> None:
    """R-3.6.3-2: timestamps are compared to their last digit."""
    first, second = moment("2001-01-01T00:00:00.1234567Z"), moment("2001-01-01T00:00:00.12345678Z")
    assert first < second
    assert moment("2001-01-01T01:00:00.12345670+01:00") == first
