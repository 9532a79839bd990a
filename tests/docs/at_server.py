"""A page read by somebody who works at a server: the same commands, with ``ORDITO_SERVER`` set.

The server is beside the reader's files and serves, in place, each directory that the page makes an ensemble; what a
command names with ``-e`` and is not there is made at the server, of the package that the command sends. ``AT_SERVER``
says which pages and which of their commands are about this machine alone, and why.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import msgspec

from ordito.cli.grammar import ALIASES
from ordito.cli.places import AT_SERVER as VERBS_THERE
from ordito.ensemble.layout import MANIFEST
from tests.docs.needs import Prepared
from tests.docs.page import CONSOLE, SHELL, Block, Page, commands
from tests.docs.session import Result
from tests.support.serving import MANY_REQUESTS, Served

TABLE = Path(__file__).with_name("at_server.yaml")
PROGRAM = re.compile(r"(?:^|[\s(;|&])ordito\s+([^|;&<>()]*)")
SERVICE = "service.yaml"
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")


class Exceptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What of a page is not as it is read by somebody who works here. Each has a reason."""

    here: Mapping[str, str] = {}
    """Commands that are given to this machine all the same."""

    differs: Mapping[str, str] = {}
    """Commands that print something else."""

    skipped: Mapping[str, str] = {}
    """Commands that are not given at all."""

    @property
    def all(self) -> Mapping[str, str]:
        """All of them."""
        return {**self.here, **self.differs, **self.skipped}


PLAN_STAYS = re.compile(r"(Next:|     )  ordito (--?\S+ \S+ )*plans (apply|discard) pl_\w+ .*")
"""A plan stays at the server, so the command says how to go on with it."""


def without_plan(result: Result) -> Result:
    """What a command has printed, without how to go on with a plan."""
    return Result(result.code, tuple(line for line in result.lines if not PLAN_STAYS.fullmatch(line)))


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which pages are not read so, and why; and what is special in others."""

    left_out: Mapping[str, str]
    pages: Mapping[str, Exceptions]


@cache
def table() -> Table:
    """The table."""
    return msgspec.yaml.decode(TABLE.read_bytes(), type=Table)


def commands_of(page: Page) -> Iterator[str]:
    """All commands that a page shows."""
    for part in page.parts:
        if isinstance(part, Block) and part.language in (SHELL, CONSOLE) and not part.title:
            yield from (command.text for command in commands(page, part))


def asks_a_server(page: Page) -> bool:
    """Whether a page has commands that a server could be asked."""
    if page.generated:
        return False
    return any(_verb(words) in VERBS_THERE for text in commands_of(page) for words in _calls(text))


def _calls(text: str) -> Iterator[list[str]]:
    """The words of each call of the program in a command."""
    for found in PROGRAM.finditer(text):
        try:
            yield shlex.split(found[1], comments=True)
        except ValueError:
            yield found[1].split()


def _verb(words: list[str]) -> str:
    names = [ALIASES.get(word, word) for word in words if re.fullmatch(r"[a-z][a-z_-]*", word)]
    return next((name for name in (" ".join(names[:2]), " ".join(names[1:3]), *names) if name in VERBS_THERE), "")


class ServerBeside:
    """The server of one page. It is started before the page begins, with the environment of the reader."""

    def __init__(self, prepared: Prepared, stack: ExitStack) -> None:
        settings = f"{MANY_REQUESTS}reads: [ {prepared.folder} ]\n"
        home = prepared.folder / "server"
        self.server = stack.enter_context(Served(home, settings=settings, environment=prepared.environment))
        self._admin = self.server.admin()
        self._admin.do("POST", "projects", {"name": "default"})
        self._known: set[str] = set()

    @property
    def variables(self) -> Mapping[str, str]:
        """What the shell of the reader has for it."""
        return {"ORDITO_SERVER": self.server.url, "ORDITO_TOKEN": self._admin.token}

    def prepare(self, text: str, directory: Path) -> None:
        """Before a command is given: let the server know the directories of the ensembles that it names."""
        for words in _calls(text):
            if _verb(words) not in VERBS_THERE:
                continue
            name = next((words[at + 1] for at, word in enumerate(words[:-1]) if word in ("-e", "--ensemble")), "")
            place = directory / name
            is_new = place.name not in self._known and NAME.fullmatch(place.name)
            if is_new and self._is_ensemble(place, named=bool(name)):
                self._add(place)

    def _is_ensemble(self, place: Path, *, named: bool) -> bool:
        """Whether a directory is that of an ensemble, or becomes one by the first command that is given in it."""
        if not place.is_dir() or (place / MANIFEST).exists():
            return place.is_dir()
        return named or ((place / SERVICE).exists() and not self._admin.get("ensembles")["items"])

    def _add(self, place: Path) -> None:
        if not (place / MANIFEST).exists():
            # As the first deployment would write it.
            has_service = (place / SERVICE).exists()
            (place / MANIFEST).write_text(f"spec: {{ service: {SERVICE} }}\n" if has_service else "spec: {}\n")
        self._admin.do("POST", "projects/default/ensembles", {"name": place.name, "path": str(place)})
        self._known.add(place.name)
