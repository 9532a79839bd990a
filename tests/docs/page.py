"""A page of the documentation as what can be carried out: the blocks of its Markdown, in their order.

``README.md`` beside this file says what each kind of block is.
"""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import msgspec

FENCE = re.compile(r"^(?P<indent> *)(?P<mark>`{3,}|~{3,})(?P<info>.*)$")
TITLE = re.compile(r'\btitle="([^"]+)"')
COMMENT = re.compile(r"^ *<!-- *(needs|run): *(.*?) *-->$")
GENERATED = "<!-- generated"
INLINE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
UNFENCED = re.compile(r"^ {4,}(\$ |ordito |\./run )")
PLAIN = re.compile(r"[\w ./=:,@%+-]*")
KEYWORD = re.compile(r"\s*(if|for|while|until|case|select|function)\b")
COMPLETE = ("bash", "--noprofile", "--norc", "-n")
SHELL = "sh"
CONSOLE = "console"
TEXT = "text"


class Mistake(Exception):
    """A page that is not written as it must be, or does not do what it says; the message begins with where."""


class Block(msgspec.Struct, frozen=True):
    """What stands between two fences. ``line`` is the line of its first line of text, counted from 1."""

    line: int
    language: str
    title: str
    text: str


class Hidden(msgspec.Struct, frozen=True):
    """A comment that asks for something: ``needs`` or ``run``."""

    line: int
    word: str
    text: str


class Command(msgspec.Struct, frozen=True):
    """A command with what it must print; ``None`` where the page does not show that."""

    line: int
    text: str
    output: tuple[str, ...] | None = None


class Words(msgspec.Struct, frozen=True):
    """Code within a sentence."""

    line: int
    text: str


class Page(msgspec.Struct, frozen=True):
    """A page: ``parts`` in their order, and the code within its sentences. The examples of one that is ``generated``
    are run by the tests of what makes it."""

    name: str
    parts: tuple[Block | Hidden, ...]
    words: tuple[Words, ...]
    prose: str
    generated: bool

    def needs(self) -> Iterator[Hidden]:
        """What must be there before it begins."""
        return (part for part in self.parts if isinstance(part, Hidden) and part.word == "needs")

    def place(self, line: int) -> str:
        """Where a line is, for messages."""
        return f"{self.name}:{line}"


def read_page(path: Path, name: str) -> Page:
    """Read a page. Raises ``Mistake``."""
    parts: list[Block | Hidden] = []
    prose: list[str] = []
    lines = path.read_text(encoding="utf-8").splitlines()
    at = 0
    while at < len(lines):
        if opened := FENCE.match(lines[at]):
            end = _end_of(lines, at, opened, name)
            parts.append(_block(lines[at + 1 : end], at + 2, opened, name))
            prose += [""] * (end + 1 - at)
            at = end + 1
            continue
        if hidden := COMMENT.match(lines[at]):
            parts.append(Hidden(at + 1, hidden[1], hidden[2]))
        if UNFENCED.match(lines[at]):
            raise Mistake(f"{name}:{at + 1}: a command stands in an indented block; write it between fences")
        prose.append("" if hidden else lines[at])
        at += 1
    text = "\n".join(prose)
    return Page(name, tuple(parts), tuple(_words(text)), text, lines[0].startswith(GENERATED) if lines else False)


def _end_of(lines: list[str], at: int, opened: re.Match[str], name: str) -> int:
    """The line that closes a fence."""
    for number in range(at + 1, len(lines)):
        closing = lines[number].strip()
        if closing.startswith(opened["mark"]) and not closing.strip(opened["mark"][0]):
            return number
    raise Mistake(f"{name}:{at + 1}: this block is not closed")


def _block(lines: list[str], line: int, opened: re.Match[str], name: str) -> Block:
    indent = len(opened["indent"])
    text = "".join(f"{each[indent:] if not each[:indent].strip() else each}\n" for each in lines)
    info = opened["info"].strip()
    title = TITLE.search(info)
    language = re.split(r"[\s{]", info, maxsplit=1)[0]
    if not language:
        raise Mistake(f"{name}:{line - 1}: say what this block is: sh, console, text, yaml ...")
    return Block(line, language, title[1] if title else "", text)


def _words(prose: str) -> Iterator[Words]:
    # A blank line ends what a backtick has begun.
    at = 0
    for paragraph in re.split(r"(\n\s*\n)", prose):
        for found in INLINE.finditer(paragraph):
            line = 1 + prose.count("\n", 0, at + found.start())
            yield Words(line, " ".join(found[2].replace("\n>", "\n").split()))
        at += len(paragraph)


# ------------------------------------------------------------------------------------------------------ commands


def commands(page: Page, block: Block) -> list[Command]:
    """The commands of a block of the shell or of a console. Raises ``Mistake``."""
    return list(_typed(page, block) if block.language == CONSOLE else _listed(page, block))


def _listed(page: Page, block: Block) -> Iterator[Command]:
    """Commands one below the other."""
    lines = block.text.splitlines()
    at = 0
    while at < len(lines):
        if not lines[at].strip() or lines[at].lstrip().startswith("#"):
            at += 1
            continue
        end = at + 1
        while not complete(text := "\n".join(lines[at:end])):
            if end == len(lines):
                raise Mistake(f"{page.place(block.line + at)}: this command does not end, or is not one")
            end += 1
        yield Command(block.line + at, text)
        at = end


def complete(text: str) -> bool:
    """Is it a whole command? One that ends with a backslash, within quotes or a document is not."""
    if text.endswith("\\") or (_plain(text) and "\n" not in text):
        return not text.endswith("\\")
    done = subprocess.run(COMPLETE, input=text + "\n", capture_output=True, text=True, check=False)
    return done.returncode == 0 and not done.stderr


def _plain(text: str) -> bool:
    return PLAIN.fullmatch(text) is not None and KEYWORD.match(text) is None


def _typed(page: Page, block: Block) -> Iterator[Command]:
    """Commands behind a prompt, each with its output below."""
    lines = block.text.splitlines()
    at = 0
    if not lines or not lines[0].startswith("$ "):
        raise Mistake(f"{page.place(block.line)}: a console begins with a command: $ COMMAND")
    while at < len(lines):
        start = at
        text = lines[at][2:]
        at += 1
        while at < len(lines) and (text.endswith("\\") or (lines[at].startswith("> ") and not complete(text))):
            text += "\n" + lines[at].removeprefix("> ")
            at += 1
        end = at
        while end < len(lines) and not lines[end].startswith("$ "):
            end += 1
        yield Command(block.line + start, text, tuple(lines[at:end]))
        at = end


def words_of(hidden: Hidden) -> list[str]:
    """What a comment asks for, word by word."""
    return shlex.split(hidden.text)
