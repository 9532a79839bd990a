"""`ordito graph`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from ordito.app.given_choices import GivenChoices
from ordito.cli.delivery import STANDARD_OUTPUT, deliver, out_option
from ordito.cli.exit_codes import ExitCode
from ordito.cli.options import choice_options, fetch_option
from ordito.cli.session import Session
from ordito.cli.settings import COMMON_FORMATS, Format
from ordito.cli.verb import verb

if TYPE_CHECKING:
    from ordito.app.graph import Graph

HELP = """Show SERVICE as a graph: its nodes, each in the one that hosts it, their connections and groups.

As an outline of text, or with -o as mermaid, dot (Graphviz), svg, json or yaml."""

PICTURES = (Format.MERMAID, Format.DOT, Format.SVG)
MOST_IN_PICTURES = 500


@verb("graph", HELP, formats=(*COMMON_FORMATS, *PICTURES))
@click.argument("service", required=False)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    default=None,
    help=f"Show so many nodes at most (pictures: {MOST_IN_PICTURES}, else all).",
)
@out_option
@fetch_option
@choice_options
def command(
    session: Session, service: str | None, limit: int | None, out: str, *, fetch: bool, choices: GivenChoices
) -> ExitCode:
    """Show a service as a graph."""
    from ordito.app.graph import GraphRequest, graph
    from ordito.cli.graph.tree import graph_data, write_tree

    form = session.settings.output
    usual = MOST_IN_PICTURES if form in PICTURES else 0
    drawn = graph(GraphRequest(service or "", session.settings.directory, limit or usual, fetch, choices))
    if form in PICTURES and session.stream is None:
        if drawn.graph.left_out and limit is None:
            session.note(f"{drawn.graph.left_out} nodes are left out; show more with --limit")
        picture = "".join(f"{line}\n" for line in _picture(drawn.graph, form))
        return deliver(session, picture.encode("utf-8"), out, drawn.sources)
    if out not in STANDARD_OUTPUT:
        raise click.UsageError("--out is for pictures: say which with -o mermaid, dot or svg")
    session.result(graph_data(drawn.graph), lambda channel: write_tree(drawn.graph, channel))
    return ExitCode.DONE


def _picture(graph: Graph, form: Format) -> Iterator[str]:
    if form is Format.SVG:
        from ordito.cli.graph.svg import svg

        return svg(graph)
    if form is Format.DOT:
        from ordito.cli.graph.dot import dot

        return dot(graph)
    from ordito.cli.graph.mermaid import mermaid

    return mermaid(graph)
