"""How a command wants what runs to be changed, and which lifecycle steps it wants carried out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import msgspec

from ordito.base.portion import ALL, Portion, portion_of


class GivenChanges(msgspec.Struct, frozen=True):
    """How what runs is to be changed. ``prune`` is when what the template has lost is removed: ``last``, ``early``,
    ``no``, or "" for what the verb does by itself. ``replaced`` are nodes whose instances are made anew though that
    need not be, ``max_unavailable`` is how many instances of a node may be down at one time where the node says
    nothing. With ``skip_heal`` what is not as it should be is not mended first. ``may_lose`` are the nodes and
    instances whose data may be lost. With ``checks`` what is as it should be is checked too, and repaired."""

    prune: str = ""
    replaced: tuple[str, ...] = ()
    max_unavailable: Portion = ALL
    skip_heal: bool = False
    may_lose: tuple[str, ...] = ()
    checks: bool = False


class GivenHooks(msgspec.Struct, frozen=True):
    """Which lifecycle steps are carried out: those of what changes (``changed``), of ``all``, or ``none``. ``catalogs``
    are paths of catalogues of blocks, looked through before those that are found by themselves; ``lifecycle`` is the
    path of a file that declares further steps, "" for none. With ``strict`` a step that asks for a rollback, with
    something before it that cannot be undone, is an error."""

    which: str = "changed"
    catalogs: tuple[str, ...] = ()
    lifecycle: str = ""
    strict: bool = False


NO_PRUNE = "no"
LOSES, AGAIN = "allow_data_loss", "again"
NO_CHANGES = GivenChanges()
USUAL_HOOKS = GivenHooks()


def told(changes: GivenChanges, hooks: GivenHooks) -> dict[str, object]:
    """What a command has said of all that, by the names of its options, to be kept with the job; nothing of what it has
    not said."""
    said: dict[str, object] = {
        "prune": changes.prune,
        "replace": list(changes.replaced),
        "max_unavailable": str(changes.max_unavailable),
        "skip_heal": changes.skip_heal,
        **told_to_lose(changes.may_lose),
        "check": changes.checks,
        "hooks": hooks.which if hooks.which != USUAL_HOOKS.which else "",
        "lifecycle": hooks.lifecycle,
        "catalog": list(hooks.catalogs),
    }
    return {name: value for name, value in said.items() if value}


def told_to_lose(names: Collection[str]) -> dict[str, object]:
    """The same of whose data may be lost."""
    return {LOSES: list(names)} if names else {}


def told_again(*words: str) -> dict[str, object]:
    """The words of a command that does not continue where it stopped, by which it is given again."""
    return {AGAIN: list(words)}


def again(said: Mapping[str, object]) -> tuple[str, ...]:
    """Those words, from what was kept with a job; nothing where it has none."""
    words = said.get(AGAIN)
    return tuple(map(str, words)) if isinstance(words, list | tuple) else ()


def words_of_losing(names: Iterable[str]) -> tuple[str, ...]:
    """The options by which a command is told whose data may be lost."""
    return tuple(word for name in names for word in ("--allow-data-loss", name))


def as_told(said: Mapping[str, object]) -> tuple[GivenChanges, str]:
    """What was kept with a job, as it was given; and which lifecycle steps are carried out."""

    def names(option: str) -> tuple[str, ...]:
        found = said.get(option)
        return tuple(map(str, found)) if isinstance(found, list | tuple) else ()

    changes = GivenChanges(
        prune=str(said.get("prune", "")),
        replaced=names("replace"),
        max_unavailable=portion_of(str(said.get("max_unavailable", ""))) or ALL,
        skip_heal=said.get("skip_heal") is True,
        may_lose=names(LOSES),
        checks=said.get("check") is True,
    )
    return changes, str(said.get("hooks", "")) or USUAL_HOOKS.which


def words_of_steps(said: Mapping[str, object]) -> tuple[str, ...]:
    """The options by which a command was told where lifecycle steps and their blocks are, from what was kept of it:
    without them the next one would mean a service without these."""
    lifecycle, catalogs = said.get("lifecycle"), said.get("catalog")
    words = ["--lifecycle", str(lifecycle)] if lifecycle else []
    for catalog in catalogs if isinstance(catalogs, list | tuple) else ():
        words += ["--catalog", str(catalog)]
    return tuple(words)


def words_of_changes(changes: GivenChanges, hooks: GivenHooks) -> tuple[str, ...]:
    """The options by which a command was told all that."""
    words = ["--no-prune"] if changes.prune == NO_PRUNE else ["--prune", changes.prune] if changes.prune else []
    for node in changes.replaced:
        words += ["--replace", node]
    if changes.max_unavailable.amount:
        words += ["--max-unavailable", str(changes.max_unavailable)]
    words += ["--skip-heal"] if changes.skip_heal else []
    words += words_of_losing(changes.may_lose)
    words += ["--check"] if changes.checks else []
    words += ["--hooks", hooks.which] if hooks.which != USUAL_HOOKS.which else []
    words += ["--strict"] if hooks.strict else []
    return (*words, *words_of_steps({"lifecycle": hooks.lifecycle, "catalog": hooks.catalogs}))
