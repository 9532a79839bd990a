"""`ordito blocks show`."""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING

import click
import msgspec

from ordito.cli.change_options import catalog_option
from ordito.cli.channel import Channel
from ordito.cli.exit_codes import ExitCode
from ordito.cli.options import block_service_option
from ordito.cli.session import Session
from ordito.cli.text_width import printable
from ordito.cli.verb import verb

if TYPE_CHECKING:
    from ordito.app.blocks import BlockPage, ConfigField

HELP = """Show a block: what it does, what it is configured with, and where it is.

FQN is the name of the block, as in ordito.dev/lifecycle/notify@v1#Webhook; what stands behind the # is enough where
there is no other of that name."""

MOST_WIDTH = 100


@verb("show", HELP, named="blocks show")
@click.argument("name", metavar="FQN")
@block_service_option
@catalog_option
def command(session: Session, name: str, service: str, catalogs: tuple[str, ...]) -> ExitCode:
    """Show a block."""
    from ordito.app.blocks import BlocksRequest, show_block

    page = show_block(BlocksRequest(session.settings.directory, catalogs, service), name)
    session.result(msgspec.to_builtins(page), lambda channel: _text(page, channel))
    return ExitCode.DONE


def _text(page: BlockPage, channel: Channel) -> None:
    block = page.block
    channel.line(f"{channel.paint('strong', block.fqn)} {block.version}  {channel.paint('place', page.declared)}")
    _paragraph(block.description, "  ", channel)
    channel.line(f"  from: {printable(block.origin)}")
    undo = f"yes, once the component is {page.undone_once} again" if block.can_be_undone else "no, what it does stays"
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
    channel.line("config:" if page.config_required else "config, which may be left out:")
    for field in page.config:
        _field(field, channel)


def _field(field: ConfigField, channel: Channel) -> None:
    need = ", required" if field.required else ""
    default = (
        f", {json.dumps(field.default, ensure_ascii=False)} if nothing is said" if field.default is not None else ""
    )
    secret = ", secret" if field.sensitive else ""
    channel.line(printable(f"  {field.name}: {field.type}{need}{default}{secret}"))
    _paragraph(field.description, "      ", channel)
    for constraint in field.constraints:
        channel.line(printable(f"      {constraint}"))


def _paragraph(text: str, indent: str, channel: Channel) -> None:
    width = min(channel.width, MOST_WIDTH)
    for line in textwrap.wrap(" ".join(text.split()), width, initial_indent=indent, subsequent_indent=indent):
        channel.line(printable(line))
