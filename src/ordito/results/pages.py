"""The pages of the codes of findings and errors: what each means, why it is so, a document that gives it, and its cure.

A page is the file ``codes/CODE.yaml``, with the keys

    title      one line, without a full stop
    severity   error (the default), warning or note
    sections   those of the specification that the rule comes from, possibly none
    text       what is wrong and why that is a rule
    mend       what to do about it
    example    a document that gives the code; or a map of file names to documents, of which `service.yaml` is read,
               or where there is none their folder; `ensemble.yaml` among them makes the folder an ensemble, and then
               that is what is read
    mended     the same without that fault, in the same form
    by         the verb that finds it: validate (the default) or plan; or `command`, where no document is at fault: an
               error with which commands refuse what they are asked for. Its page has neither example nor test
    command    of a finding whose code commands also refuse with: what it means then
    test       where no document can show it (bytes, archives, the network): the test that does, in place of the two
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from ordito.base.diagnostics import Diagnostics
from ordito.results.report.style import STYLE
from ordito.results.report.text import text as as_text
from ordito.source.nodes import Mapping as MappingNode
from ordito.source.nodes import Node, Scalar, Sequence
from ordito.source.package import load_file

FOLDER = Path(__file__).parent / "codes"
MAIN = "service.yaml"
COMMAND = "command"
CODE = re.compile(r"[a-z0-9-]{1,80}")


class Page(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One page; ``example`` and ``mended`` are documents by their file names."""

    code: str
    title: str
    text: str
    mend: str
    sections: tuple[str, ...] = ()
    severity: str = "error"
    by: str = "validate"
    command: str = ""
    example: Mapping[str, str] = {}
    mended: Mapping[str, str] = {}
    test: str = ""

    @property
    def kind(self) -> str:
        """Who gives this code: a finding about a document, or an error of a command."""
        return "error" if self.by == COMMAND else "finding"


def page_codes() -> list[str]:
    """The codes that have a page."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def has_page(code: str) -> bool:
    """Whether a code has a page."""
    return bool(CODE.fullmatch(code)) and (FOLDER / f"{code}.yaml").is_file()


def read_page(code: str) -> Page | None:
    """The page of a code, None if there is none. Raises ``ValueError`` if the page is not valid."""
    if not has_page(code):
        return None
    fields = page_data(FOLDER / f"{code}.yaml")
    if isinstance(fields, dict):
        for name in ("example", "mended"):
            if isinstance(fields.get(name), str):
                fields[name] = {MAIN: fields[name]}
    return msgspec.convert({"code": code, **(fields if isinstance(fields, dict) else {})}, Page)


def as_markdown(page: Page) -> Iterator[str]:
    """The lines of a page in Markdown."""
    yield f"## {page.code}"
    yield ""
    severity = page.severity if page.by != COMMAND else "error of commands"
    yield f"**{page.title}** ({severity}). {explanation(page.text, page.sections)}"
    yield ""
    if page.command:
        yield f"{OF_COMMANDS} {page.command.strip()}"
        yield ""
    yield from _fenced(page.example)
    yield page.mend.strip()
    yield ""
    yield from _fenced(page.mended)


def _fenced(documents: Mapping[str, str]) -> Iterator[str]:
    for name, text in documents.items():
        yield "```yaml"
        if len(documents) > 1:
            yield f"# {name}"
        yield from text.rstrip("\n").split("\n")
        yield "```"
        yield ""


def as_html(page: Page) -> Iterator[str]:
    """The lines of a page for a browser, which needs nothing else; ``POLICY`` is for it."""
    severity = page.severity if page.by != COMMAND else "error of commands"
    yield "<!doctype html>"
    yield '<html lang="en"><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">'
    yield f"<title>{as_text(page.code)} · Ordito</title><style>{STYLE}</style></head><body><main>"
    yield f"<h1>{as_text(page.title)}</h1>"
    yield f'<p class="dim"><code>{as_text(page.code)}</code> · {severity}</p>'
    yield from _paragraphs(explanation(page.text, page.sections))
    if page.command:
        yield from _paragraphs(f"{OF_COMMANDS} {page.command}")
    yield from _listings(page.example, "with the fault")
    yield "<h2>What to do</h2>"
    yield from _paragraphs(page.mend)
    yield from _listings(page.mended, "without it")
    yield "</main></body></html>"


QUOTED, CODE_ELEMENT = re.compile("`([^`]+)`"), r"<code>\1</code>"


def _paragraphs(written: str) -> Iterator[str]:
    for paragraph in re.split(r"\n\s*\n", written.strip()):
        yield f"<p>{QUOTED.sub(CODE_ELEMENT, as_text(paragraph))}</p>"


def _listings(documents: Mapping[str, str], how: str) -> Iterator[str]:
    for name, content in documents.items():
        # Whoever cannot use a mouse scrolls it too.
        yield f'<pre tabindex="0" role="region" aria-label="{as_text(name)} {how}">{as_text(content.rstrip())}</pre>'


OF_COMMANDS = "Where a command refuses with this code:"


def explanation(text: str, sections: tuple[str, ...]) -> str:
    """What is wrong and why that is a rule, with the sections of the specification."""
    where = f" (TOSCA 1.3, {', '.join('§' + section for section in sections)})" if sections else ""
    return text.strip() + where


# Files of text that come with the command, in YAML, in which every scalar is a text.


def page_data(path: Path) -> object:
    """The content of a file: texts, lists and dictionaries. Raises ``ValueError`` if it cannot be read."""
    found = Diagnostics()
    document = load_file(str(path), found)
    if document is None or found.has_errors:
        raise ValueError(f"{path}: {'; '.join(str(d) for d in found)}")
    return _plain(document.root)


def _plain(node: Node) -> object:
    if isinstance(node, Scalar):
        return node.text.strip("\n") if node.plain else node.text
    if isinstance(node, Sequence):
        return [_plain(item) for item in node.items]
    assert isinstance(node, MappingNode)
    return {key.text: _plain(value) for key, value in node.entries()}
