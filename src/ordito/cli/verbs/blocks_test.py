"""`ordito blocks test`."""

from __future__ import annotations

import codecs
import json

import click
import msgspec

from ordito.app.given_inputs import GivenInputs
from ordito.cli.change_options import catalog_option
from ordito.cli.channel import Channel
from ordito.cli.exit_codes import ExitCode
from ordito.cli.options import block_service_option
from ordito.cli.session import Session
from ordito.cli.text_width import printable
from ordito.cli.verb import verb

HELP = """Carry out a block once, as a lifecycle step would, in a folder of its own; what it does is really done.

Its config is given as inputs are: -i KEY=VALUE, or -I FILE. Files of the archive that the config names are those of
--root. With --undo what it did is undone afterwards. Nothing is recorded."""


@verb("test", HELP, named="blocks test", takes_inputs=True)
@click.argument("name", metavar="FQN")
@click.option("--undo", is_flag=True, help="Undo it afterwards.")
@click.option(
    "--root", metavar="DIR", default=".", show_default=True, help="Where files of the archive are looked for."
)
@click.option("--phase", default="install.after", show_default=True, help="The phase in which it is told to be.")
@block_service_option
@catalog_option
def command(session: Session, name: str, inputs: GivenInputs, service: str, **given: object) -> ExitCode:
    """Try a block."""
    from ordito.app.block_test import BlockTest, BlockTestRequest, Tried, test_block
    from ordito.app.blocks import BlocksRequest

    printed = _Printed(session)
    catalogs = tuple(map(str, given["catalogs"])) if isinstance(given["catalogs"], tuple) else ()
    request = BlockTestRequest(
        BlocksRequest(session.settings.directory, catalogs, service),
        name,
        inputs,
        bool(given["undo"]),
        str(given["root"]),
        str(given["phase"]),
    )

    def line(what: str, tried: Tried, channel: Channel) -> None:
        why = f": {tried.message}" if tried.message else ""
        channel.line(printable(f"{what} {tried.ending} after {tried.seconds:.1f} s{why}"))
        for key, value in tried.outputs.items():
            channel.line(printable(f"  {key}: {json.dumps(value, ensure_ascii=False)}"))

    def text(channel: Channel) -> None:
        channel.line(f"{channel.paint('strong', found.fqn)} {found.version}  from {printable(found.origin)}")
        line("execute", found.execute, channel)
        if found.undo is not None:
            line("undo", found.undo, channel)

    found: BlockTest = test_block(request, printed.feed)
    printed.end()
    session.result({**msgspec.to_builtins(found), "succeeded": found.succeeded}, text)
    return ExitCode.DONE if found.succeeded else ExitCode.JOB_FAILED


class _Printed:
    """What a block prints, told line by line."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._begun = ""

    def feed(self, data: bytes) -> None:
        """Tell what is complete."""
        *lines, self._begun = f"{self._begun}{self._decoder.decode(data)}".split("\n")
        for line in lines:
            self._tell(line)

    def end(self) -> None:
        """Tell what is left."""
        if self._begun:
            self._tell(self._begun)

    def _tell(self, line: str) -> None:
        if self._session.stream is not None:
            self._session.stream.say("output", {"line": line})
        else:
            self._session.err.line(f"  | {printable(line)}")
