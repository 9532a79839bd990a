"""Names of blocks: what is one, and what is said of what is none."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordito.blocks.fqn import Fqn, NamePart, NotAnFqn, nearest_names, parse
from tests.support.thorough import examples

BACKUP = "opm.dev/lifecycle/data@v0#Backup"
KNOWN = [
    parse(text)
    for text in (
        BACKUP,
        "opm.dev/lifecycle/data@v0#Migrate",
        "opm.dev/lifecycle/data@v2#Backup",
        "opm.dev/lifecycle/data@v10#Backup",
        "ordito.dev/lifecycle/notify@v1#Webhook",
        "ordito.dev/lifecycle/files@v1#Backup",
    )
]


def test_a_name_has_three_parts() -> None:
    assert parse(BACKUP) == Fqn("opm.dev/lifecycle/data", 0, "Backup")
    assert str(parse(BACKUP)) == BACKUP


@pytest.mark.parametrize(
    ("text", "part", "offset", "hint"),
    [
        ("", NamePart.PATH, 0, "as in "),
        ("Backup", NamePart.PATH, 0, "write backup"),
        ("opm.dev@v0#Backup", NamePart.PATH, 0, "as in "),
        ("opm.dev//data@v0#Backup", NamePart.PATH, 8, "as in "),
        ("opm.dev/../data@v0#Backup", NamePart.PATH, 8, "as in "),
        ("opm.dev/Life/data@v0#Backup", NamePart.PATH, 8, "write opm.dev/life/data"),
        ("opm.dev/my data@v0#Backup", NamePart.PATH, 10, ""),
        ("opm.dev/data#Backup", NamePart.MAJOR, 12, "as in opm.dev/data@v1#Name"),
        ("opm.dev/data@0#Backup", NamePart.MAJOR, 13, "write @v0"),
        ("opm.dev/data@#Backup", NamePart.MAJOR, 13, "as in "),
        ("opm.dev/data@v01#Backup", NamePart.MAJOR, 13, "write v1"),
        ("opm.dev/data@v1.2#Backup", NamePart.MAJOR, 13, "write v1"),
        ("opm.dev/data@v#Backup", NamePart.MAJOR, 13, "as in "),
        ("opm.dev/data@v1", NamePart.NAME, 15, "as in opm.dev/data@v1#Name"),
        ("opm.dev/data@v1#", NamePart.NAME, 16, "as in "),
        ("opm.dev/data@v1#backup", NamePart.NAME, 16, "write #Backup"),
        ("opm.dev/data@v1#Back-up", NamePart.NAME, 20, ""),
        ("opm.dev/data@v1#1Backup", NamePart.NAME, 16, "as in "),
        ("opm.dev/data@v1#Backup#Again", NamePart.NAME, 22, ""),
    ],
)
def test_the_part_that_is_wrong_is_named(text: str, part: NamePart, offset: int, hint: str) -> None:
    with pytest.raises(NotAnFqn) as caught:
        parse(text)
    assert (caught.value.part, caught.value.offset) == (part, offset)
    assert caught.value.hint.startswith(hint)
    assert bool(caught.value.hint) == bool(hint)


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        ("opm.dev/lifecycle/data@v1#Backup", ["opm.dev/lifecycle/data@v10#Backup", "opm.dev/lifecycle/data@v2#Backup"]),
        ("ordito.dev/lifecycle/notify@v1#Webhok", ["ordito.dev/lifecycle/notify@v1#Webhook"]),
        ("opm.dev/lifecycle/data@v0#Migrat", ["opm.dev/lifecycle/data@v0#Migrate"]),
        ("example.org/notify@v1#Webhook", ["ordito.dev/lifecycle/notify@v1#Webhook"]),
        ("Webhook", ["ordito.dev/lifecycle/notify@v1#Webhook"]),
        ("ordito.dev/lifecycle/notify#Webhook", ["ordito.dev/lifecycle/notify@v1#Webhook"]),
        ("nothing/like@v1#It", []),
    ],
)
def test_what_was_probably_meant(text: str, nearest: list[str]) -> None:
    assert [str(fqn) for fqn in nearest_names(text, KNOWN)] == nearest


@settings(max_examples=examples(100), deadline=None)
@given(st.text(alphabet="abAB09.-/@v#\u00e9 ", max_size=30))
def test_a_text_is_a_name_or_a_fault_with_a_place(text: str) -> None:
    offset = 0
    try:
        assert str(parse(text)) == text
    except NotAnFqn as fault:
        offset = fault.offset
    assert 0 <= offset <= len(text)
