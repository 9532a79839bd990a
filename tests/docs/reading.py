"""A page carried out from top to bottom, as a reader does it."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path

from tests.docs.at_server import Exceptions, ServerBeside, without_plan
from tests.docs.command_words import wrong
from tests.docs.fragments import is_part, repository_files
from tests.docs.matching import matches
from tests.docs.needs import NEEDS, Prepared, provide
from tests.docs.page import CONSOLE, SHELL, TEXT, Block, Command, Hidden, Mistake, Page, commands, words_of
from tests.docs.session import Ended, Result, Session

TEMPLATE = "tosca_definitions_version"
PICTURES = ("mermaid",)


def carry_out(page: Page, folder: Path, at_server: Exceptions | None = None) -> None:
    """Do all that a page says, in a new folder; with ``at_server`` as somebody does who works at a server, but for
    these exceptions. Raises ``Mistake`` at the first thing that is not as it says."""
    check_words(page)
    if page.generated:
        return
    with ExitStack() as stack:
        prepared = Prepared(folder, stack)
        for hidden in page.needs():
            words = words_of(hidden)
            if not words or words[0] not in NEEDS:
                raise Mistake(f"{page.place(hidden.line)}: what is needed is one of {', '.join(NEEDS)}")
            provide(words, prepared)
        session = Session(folder, prepared.environment, prepared.work, forks=prepared.own_program)
        with session:
            if at_server is None:
                _Reader(page, prepared, session).read()
            else:
                _ReaderAtServer(page, prepared, session, ServerBeside(prepared, stack), at_server).read()
        if session.left:
            left = "\n  ".join(session.left)
            raise Mistake(f"{page.name}: at the end of the page there still run, and were killed:\n  {left}")


def check_words(page: Page) -> None:
    """Commands in sentences must exist. Raises ``Mistake``."""
    for words in page.words:
        if problem := wrong(words.text):
            raise Mistake(f"{page.place(words.line)}: `{words.text}`: {problem}")


class _Reader:
    """Someone who types what the page shows."""

    def __init__(self, page: Page, prepared: Prepared, session: Session) -> None:
        self._page = page
        self._prepared = prepared
        self._session = session
        self._written: list[str] = []

    def read(self) -> None:
        """Do all of it. Raises ``Mistake``."""
        for part in self._page.parts:
            if isinstance(part, Hidden):
                if part.word == "run":
                    self._type([Command(part.line, part.text)])
            elif part.title:
                self._write(part)
            elif part.language in (SHELL, CONSOLE):
                self._type(commands(self._page, part))
            else:
                self._look(part)

    def _write(self, block: Block) -> None:
        """Write the file that a block is."""
        target = self._prepared.work / block.title
        if not target.resolve().is_relative_to(self._prepared.work.resolve()):
            raise Mistake(f"{self._page.place(block.line)}: {block.title} lies outside of the reader's directory")
        if not target.parent.is_dir():
            where = self._page.place(block.line)
            raise Mistake(f"{where}: no folder {target.parent.name} is there for {block.title}; show `mkdir -p` before")
        target.write_text(self._prepared.real(block.text), encoding="utf-8")
        if block.language in ("sh", "bash", "python") or block.text.startswith("#!"):
            target.chmod(0o755)
        self._written.append(block.text)

    def _type(self, typed: list[Command]) -> None:
        for number, command in enumerate(typed):
            where = self._page.place(command.line)
            asked = number + 1 < len(typed) and typed[number + 1].text == "echo $?"
            self._do(where, command, asked=asked)

    def _do(self, where: str, command: Command, *, asked: bool) -> None:
        try:
            result = self._session.run(self._prepared.real(command.text))
        except Ended as ended:
            raise Mistake(f"{where}: {command.text}\n{ended}") from None
        result = Result(result.code, tuple(self._prepared.said(line) for line in result.lines))
        self._compare(where, command, self._seen(result), asked=asked)

    def _seen(self, result: Result) -> Result:
        """What of a result is compared."""
        return result

    def _compare(self, where: str, command: Command, result: Result, *, asked: bool) -> None:
        got = "\n".join(f"  {line}" for line in result.lines)
        if result.code != 0 and not asked:
            raise Mistake(f"{where}: {command.text}\nended with {result.code}, and the page does not say so:\n{got}")
        if command.output is not None and not matches(command.output, result.lines):
            wanted = "\n".join(f"  {line}" for line in command.output)
            raise Mistake(f"{where}: {command.text}\nthe page shows:\n{wanted}\nbut it printed:\n{got}")

    def _look(self, block: Block) -> None:
        """A block that is neither typed nor written."""
        where = self._page.place(block.line)
        if block.language in PICTURES:
            raise Mistake(f"{where}: {block.language} is drawn with code from elsewhere; write the picture as text")
        if block.language == TEXT:
            if any(line.startswith(("ordito ", "$ ")) for line in block.text.splitlines()):
                raise Mistake(f"{where}: commands stand in blocks of sh or console, where they are run")
        elif block.language == "yaml" and block.text.startswith(TEMPLATE):
            self._validate(where, block)
        elif not is_part(block.text, [*self._written, *repository_files(block.language)]):
            raise Mistake(f"{where}: this is part of no file that the page has written or the repository holds")

    def _validate(self, where: str, block: Block) -> None:
        place = self._prepared.folder / "template.yaml"
        place.write_text(block.text, encoding="utf-8")
        result = self._session.run(f"ordito validate {os.fspath(place)}")
        if result.code != 0:
            got = "\n".join(f"  {line}" for line in result.lines)
            raise Mistake(f"{where}: this template is not valid:\n{got}")


class _ReaderAtServer(_Reader):
    """Somebody who works at a server."""

    def __init__(
        self, page: Page, prepared: Prepared, session: Session, server: ServerBeside, exceptions: Exceptions
    ) -> None:
        super().__init__(page, prepared, session)
        self._server = server
        self._exceptions = exceptions
        self._differing: set[str] = set()
        session.export(server.variables)

    def read(self) -> None:
        """Do all of it. Raises ``Mistake``, also where an exception is not needed any more."""
        super().read()
        for text in self._exceptions.differs:
            if text not in self._differing:
                said = "prints the same at a server; at_server.yaml says that it differs"
                raise Mistake(f"{self._page.name}: {text}\n{said}")

    def _seen(self, result: Result) -> Result:
        return without_plan(result)

    def _do(self, where: str, command: Command, *, asked: bool) -> None:
        exceptions, text = self._exceptions, command.text
        if text in exceptions.skipped:
            return
        if text in exceptions.here:
            self._session.export({"ORDITO_SERVER": ""})
            super()._do(where, command, asked=asked)
            self._session.export(self._server.variables)
            return
        if "ordito" in text:
            self._server.prepare(self._prepared.real(text), self._session.directory)
        if text not in exceptions.differs:
            super()._do(where, command, asked=asked)
            return
        try:
            super()._do(where, command, asked=asked)
        except Mistake:
            self._differing.add(text)
