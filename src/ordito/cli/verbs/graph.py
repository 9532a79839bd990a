"""`ordito graph`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from ordito.app.errors import Refused
from ordito.app.requests import ChoiceOptions, DeployRequest, Request
from ordito.cli.delivery import STANDARD_OUTPUT, deliver, out_option
from ordito.cli.exit_codes import ExitCode
from ordito.cli.job_verb import environment_for, hosts_for
from ordito.cli.planned import WorkflowCommand, workflow_option
from ordito.cli.request_options import group, single, takes
from ordito.cli.service_there import is_there, service_there
from ordito.cli.session import Session
from ordito.cli.settings import COMMON_FORMATS, Format
from ordito.cli.verb import verb

if TYPE_CHECKING:
    from ordito.authoring.graph import Graph, PlanGraph


OF_WORKFLOW = """Show what {workflow} would do as a graph: its operations, and what waits for what and why.

As text, or with -o as mermaid, dot (Graphviz), svg, json or yaml. {about}"""

FORMATS = (*COMMON_FORMATS, Format.MERMAID, Format.DOT, Format.SVG)
PICTURES = (Format.MERMAID, Format.DOT, Format.SVG)
MOST_IN_PICTURES = 500

limit_option = click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    default=None,
    help=f"Show at most this many nodes or operations (pictures: {MOST_IN_PICTURES}, else all).",
)


@verb("graph", formats=FORMATS)
@click.argument("service", required=False)
@workflow_option("Show what a workflow would do")
@limit_option
@out_option
@single(DeployRequest, "fetch")
@group(ChoiceOptions, "choices")
def of_service(
    session: Session, service: str | None, limit: int | None, out: str, *, fetch: bool, choices: ChoiceOptions
) -> ExitCode:
    """Show SERVICE as a graph: its nodes, each inside the node that hosts it, their relationships and groups.

    The graph is a text outline, or with -o mermaid, dot (Graphviz), svg, json or yaml. Without SERVICE it is that of
    the ensemble: with a server and -e as it was deployed there. SERVICE may also name a package of the server.

    With --workflow W, and the arguments of that workflow, the graph shows what it would do now: its operations, and
    what waits for what and why."""
    from ordito.authoring.graph import Drawn, GraphRequest, graph
    from ordito.cli.graph.text import write_tree
    from ordito.results.topology import graph_data

    most = _most(session, limit)
    if is_there(session, service or ""):
        drawn = Drawn(_graph_there(session, service or "", most))
    else:
        drawn = graph(GraphRequest(service or "", session.settings.directory, most, fetch, choices))
    if _is_picture(session):
        if drawn.graph.left_out and limit is None:
            session.note(f"{drawn.graph.left_out} nodes are left out; show more with --limit")
        return _deliver(session, _picture(drawn.graph, session.settings.output), out, drawn.sources)
    _refuse_out(out)
    session.show(graph_data(drawn.graph), write_tree)
    return ExitCode.DONE


def _graph_there(session: Session, service: str, most: int) -> Graph:
    """The graph of the ensemble at the server, or of a package there. Raises ``ServerError``."""
    from ordito.results.topology import GraphData

    connection, path = service_there(session, service)
    return connection.get(f"{path}/graph", GraphData, {"boxes": most} if most else {})


def _of_workflow(workflow: str, kind: type[Request]) -> click.Command:
    """The command that shows one workflow."""
    text = OF_WORKFLOW.format(workflow=workflow, about=kind.about)

    @verb(
        "graph",
        text,
        takes_inputs="inputs" in kind.__struct_fields__,
        formats=FORMATS,
        named=f"graph --workflow {workflow}",
    )
    @takes(kind)
    @limit_option
    @out_option
    def command(session: Session, request: Request, *, limit: int | None, out: str) -> ExitCode:
        """Show a workflow as a graph."""
        from ordito.app.plan import PlanRequest, plan
        from ordito.authoring.graph import plan_graph
        from ordito.cli.graph.text import plan_graph_data, write_plan_graph

        if is_there(session, ""):
            hint = f"`ordito plan {workflow}` shows what it would do"
            raise Refused("local-only", "a graph of a workflow is for ensembles of this machine", hint)
        environment = environment_for(request, session.settings.wanted_environment)
        result = plan(
            PlanRequest(session.settings.directory, request, environment, hosts=hosts_for(request, session.settings))
        )
        if result.unfinished:
            session.warn(f"job {result.unfinished} is not finished; this is planned from the current state")
        if result.proposal is None:
            session.result({}, lambda channel: channel.line("Nothing to do: nothing is deployed."))
            return ExitCode.DONE
        session.diagnostics(result.proposal.diagnostics)
        graph = plan_graph(result.proposal, _most(session, limit))
        if _is_picture(session):
            if graph.left_out and limit is None:
                session.note(f"{graph.left_out} operations are left out; show more with --limit")
            return _deliver(session, _picture_of_plan(graph, session.settings.output), out)
        _refuse_out(out)
        session.result(plan_graph_data(graph), lambda channel: write_plan_graph(graph, channel))
        return ExitCode.DONE

    return command


graph_command = WorkflowCommand(of_service, _of_workflow)


def _is_picture(session: Session) -> bool:
    return session.settings.output in PICTURES and session.stream is None


def _most(session: Session, limit: int | None) -> int:
    return limit or (MOST_IN_PICTURES if session.settings.output in PICTURES else 0)


def _refuse_out(out: str) -> None:
    if out not in STANDARD_OUTPUT:
        raise click.UsageError("--out is for pictures: choose one with -o mermaid, dot or svg")


def _deliver(session: Session, lines: Iterator[str], out: str, sources: tuple[str, ...] = ()) -> ExitCode:
    picture = "".join(f"{line}\n" for line in lines)
    return deliver(session, picture.encode("utf-8"), out, sources)


def _picture(graph: Graph, form: Format) -> Iterator[str]:
    if form is Format.SVG:
        from ordito.cli.graph.svg import svg

        return svg(graph)
    if form is Format.DOT:
        from ordito.cli.graph.dot import dot

        return dot(graph)
    from ordito.cli.graph.mermaid import mermaid

    return mermaid(graph)


def _picture_of_plan(graph: PlanGraph, form: Format) -> Iterator[str]:
    if form is Format.SVG:
        from ordito.cli.graph.svg import plan_svg

        return plan_svg(graph)
    if form is Format.DOT:
        from ordito.cli.graph.dot import plan_dot

        return plan_dot(graph)
    from ordito.cli.graph.mermaid import plan_mermaid

    return plan_mermaid(graph)
