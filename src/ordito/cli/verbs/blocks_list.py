"""`ordito blocks list`."""

from __future__ import annotations

import click
import msgspec

from ordito.cli.change_options import catalog_option
from ordito.cli.channel import Channel
from ordito.cli.exit_codes import ExitCode
from ordito.cli.options import block_service_option
from ordito.cli.session import Session
from ordito.cli.verb import verb

HELP = """List the blocks that lifecycle steps can name, with those of WORD in their name or description only.

They are looked for in the folder "catalog" of the directory, in the catalogues that are given, in those of the user and
in the one that comes with the program; with --service in that service too, and in "catalog" beside it."""

TITLES = ("BLOCK", "VERSION", "UNDO", "FROM", "WHAT IT DOES")


@verb("list", HELP, named="blocks list")
@click.argument("words", nargs=-1, metavar="[WORD]...")
@block_service_option
@catalog_option
def command(session: Session, words: tuple[str, ...], service: str, catalogs: tuple[str, ...]) -> ExitCode:
    """List blocks."""
    from ordito.app.blocks import BlockEntry, BlocksRequest, list_blocks

    def row(block: BlockEntry) -> tuple[str, ...]:
        undo = "yes" if block.can_be_undone else ""
        version = block.version if block.taken else f"{block.version} (older)"
        return block.fqn, version, undo, block.origin, first_sentence(block.description)

    every = list_blocks(BlocksRequest(session.settings.directory, catalogs, service))
    sought = [word.casefold() for word in words]
    found = [b for b in every if all(w in f"{b.fqn} {b.description}".casefold() for w in sought)]

    def text(channel: Channel) -> None:
        from ordito.cli.columns import write_columns

        write_columns(TITLES, [row(block) for block in found], channel)

    session.result({"blocks": [msgspec.to_builtins(block) for block in found]}, text)
    return ExitCode.DONE


def first_sentence(text: str) -> str:
    """The first sentence of a description."""
    return " ".join(text.split()).partition(". ")[0].removesuffix(".")
