"""`ordito blocks` and `ordito lifecycle`: what lifecycle steps run, and where they come from."""

from __future__ import annotations

import codecs
import json
import os
import textwrap
from typing import TYPE_CHECKING

import click
import msgspec

from ordito.app.requests import GivenInputs
from ordito.cli.channel import Channel
from ordito.cli.exit_codes import ExitCode
from ordito.cli.grammar import BLOCKS_VERBS, LIFECYCLE_VERBS, VerbGroup
from ordito.cli.options import block_service_option
from ordito.cli.progress.lines import plural
from ordito.cli.request_options import single
from ordito.cli.session import Session
from ordito.cli.text_width import printable
from ordito.cli.verb import verb
from ordito.work.options import HookOptions

if TYPE_CHECKING:
    from ordito.authoring.blocks import BlockEntry, ConfigField
    from ordito.results.blocks import BlockData, BlockListData, BlockTestData, TriedData


blocks_command = VerbGroup(
    "blocks", BLOCKS_VERBS, {}, "Look at the blocks that lifecycle steps can name, and try them."
)


TITLES = ("BLOCK", "VERSION", "UNDO", "FROM", "WHAT IT DOES")


@verb("list", named="blocks list")
@click.argument("words", nargs=-1, metavar="[WORD]...")
@block_service_option
@single(HookOptions, "catalogs")
def list_command(session: Session, words: tuple[str, ...], service: str, catalogs: tuple[str, ...]) -> ExitCode:
    """List the blocks that lifecycle steps can name; with WORD, only those with WORD in their name or description.

    They are searched for in the folder "catalog" of the directory, in the given catalogues, in those of the user and in
    the one that comes with the program; with --service also in that service and in "catalog" beside it."""
    from ordito.authoring.blocks import BlocksRequest, list_blocks
    from ordito.results.blocks import block_list_data

    every = list_blocks(BlocksRequest(session.settings.directory, catalogs, service))
    sought = [word.casefold() for word in words]
    found = [b for b in every if all(w in f"{b.fqn} {b.description}".casefold() for w in sought)]
    session.show(block_list_data(found), _list)
    return ExitCode.DONE


def _list(found: BlockListData, channel: Channel) -> None:
    from ordito.cli.channel import write_columns

    write_columns(TITLES, list(map(_row, found.blocks)), channel)


def _row(block: BlockEntry) -> tuple[str, ...]:
    undo = "yes" if block.can_be_undone else ""
    version = block.version if block.taken else f"{block.version} (older)"
    return block.fqn, version, undo, block.origin, first_sentence(block.description)


def first_sentence(text: str) -> str:
    """The first sentence of a description."""
    return " ".join(text.split()).partition(". ")[0].removesuffix(".")


MOST_WIDTH = 100


@verb("show", named="blocks show")
@click.argument("name", metavar="FQN")
@block_service_option
@single(HookOptions, "catalogs")
def show_command(session: Session, name: str, service: str, catalogs: tuple[str, ...]) -> ExitCode:
    """Show a block: what it does, its config, and where it is.

    FQN is the name of the block, as in ordito.dev/lifecycle/notify@v1#Webhook; the part after the # is enough if no
    other block has it."""
    from ordito.authoring.blocks import BlocksRequest, show_block
    from ordito.results.blocks import block_data

    page = show_block(BlocksRequest(session.settings.directory, catalogs, service), name)
    session.show(block_data(page), _text)
    return ExitCode.DONE


def _text(page: BlockData, channel: Channel) -> None:
    block = page.block
    channel.line(f"{channel.paint('strong', block.fqn)} {block.version}  {channel.paint('place', page.declared)}")
    _paragraph(block.description, "  ", channel)
    channel.line(f"  from: {printable(block.origin)}")
    undo = f"yes, once the component is {page.undone_once} again" if block.can_be_undone else "no, what it did stays"
    channel.line(f"  undo: {undo}")
    for name, script in page.scripts.items():
        timeout = f", at most {page.timeouts[name]} s" if name in page.timeouts else ""
        channel.line(f"  {name}: {printable(script)}{timeout}")
    channel.line(f"  sha256: {page.digest}")
    for other in page.others:
        channel.line(f"  also there: {other.version} in {printable(other.origin)}")
    channel.line()
    if not page.config:
        channel.line("It takes no config.")
        return
    channel.line("config:" if page.config_required else "config, optional:")
    for field in page.config:
        _field(field, channel)


def _field(field: ConfigField, channel: Channel) -> None:
    need = ", required" if field.required else ""
    default = f", {json.dumps(field.default, ensure_ascii=False)} by default" if field.default is not None else ""
    secret = ", secret" if field.sensitive else ""
    channel.line(printable(f"  {field.name}: {field.type}{need}{default}{secret}"))
    _paragraph(field.description, "      ", channel)
    for constraint in field.constraints:
        channel.line(printable(f"      {constraint}"))


def _paragraph(text: str, indent: str, channel: Channel) -> None:
    width = min(channel.width, MOST_WIDTH)
    for line in textwrap.wrap(" ".join(text.split()), width, initial_indent=indent, subsequent_indent=indent):
        channel.line(printable(line))


@verb("test", named="blocks test", takes_inputs=True)
@click.argument("name", metavar="FQN")
@click.option("--undo", is_flag=True, help="Undo it afterwards.")
@click.option("--root", metavar="DIR", default=".", show_default=True, help="The folder with the files of the archive.")
@click.option("--phase", default="install.after", show_default=True, help="The phase that the block is told.")
@block_service_option
@single(HookOptions, "catalogs")
def test_command(session: Session, name: str, inputs: GivenInputs, service: str, **given: object) -> ExitCode:
    """Carry out a block once, as a lifecycle step would, in a folder of its own. It really does what it does.

    Give its config like inputs: -i KEY=VALUE, or -I FILE. Files of the archive that the config names are taken from
    --root. With --undo it is undone afterwards. Nothing is recorded."""
    from ordito.authoring.block_test import BlockTestRequest, test_block
    from ordito.authoring.blocks import BlocksRequest
    from ordito.results.blocks import block_test_data

    printed = _PrintedLines(session)
    catalogs = tuple(map(str, given["catalogs"])) if isinstance(given["catalogs"], tuple) else ()
    request = BlockTestRequest(
        BlocksRequest(session.settings.directory, catalogs, service),
        name,
        inputs,
        bool(given["undo"]),
        str(given["root"]),
        str(given["phase"]),
    )
    found = test_block(request, printed.feed)
    printed.end()
    session.show(block_test_data(found), _write_test)
    return ExitCode.DONE if found.succeeded else ExitCode.JOB_FAILED


def _write_test(found: BlockTestData, channel: Channel) -> None:
    channel.line(f"{channel.paint('strong', found.fqn)} {found.version}  from {printable(found.origin)}")
    _tried("execute", found.execute, channel)
    if found.undo is not None:
        _tried("undo", found.undo, channel)


def _tried(what: str, tried: TriedData, channel: Channel) -> None:
    why = f": {tried.message}" if tried.message else ""
    channel.line(printable(f"{what} {tried.ending} after {tried.seconds:.1f} s{why}"))
    for key, value in tried.outputs.items():
        channel.line(printable(f"  {key}: {json.dumps(value, ensure_ascii=False)}"))


class _PrintedLines:
    """What a block prints, shown line by line."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._begun = ""

    def feed(self, data: bytes) -> None:
        """Show the complete lines."""
        *lines, self._begun = f"{self._begun}{self._decoder.decode(data)}".split("\n")
        for line in lines:
            self._tell(line)

    def end(self) -> None:
        """Show the rest."""
        if self._begun:
            self._tell(self._begun)

    def _tell(self, line: str) -> None:
        if self._session.stream is not None:
            self._session.stream.say("output", {"line": line})
        else:
            self._session.err.line(f"  | {printable(line)}")


lifecycle_command = VerbGroup("lifecycle", LIFECYCLE_VERBS, {}, "Make files of lifecycle steps.")


@verb("import", named="lifecycle import")
@click.argument("module", metavar="MODULE")
@click.option("--value", metavar="NAME", default="", help="The value that is the module, if not the whole file is.")
@click.option("--out", metavar="FILE", default="", help="Write it to this file instead of standard output.")
def import_command(session: Session, module: str, value: str, out: str) -> ExitCode:
    """Convert the lifecycle steps of a MODULE in CUE, a file or a folder, into a file of lifecycle steps.

    This needs the program `cue` (0.9 or later), on the path or where CUE_EXE says. Put the file beside the service as
    lifecycle.json, or give it with --lifecycle."""
    from ordito.authoring.import_steps import ImportRequest, import_steps
    from ordito.results.blocks import ImportedStepsData

    found = import_steps(ImportRequest(module, value, "" if out == "-" else out), os.environ)
    if found.out:
        data = ImportedStepsData(found.out, found.steps)
        session.show(data, lambda one, channel: channel.line(f"{one.out}: {plural(one.steps, 'lifecycle step')}"))
    else:
        steps = msgspec.json.decode(found.text)
        session.result(steps, lambda channel: channel.write(found.text), bare=True)
    return ExitCode.DONE
