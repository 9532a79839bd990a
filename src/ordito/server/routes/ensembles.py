"""Routes about all that can be seen of an ensemble."""

from __future__ import annotations

from typing import Any

import msgspec

from ordito.results.answer import UseCase
from ordito.results.deployed_service import SERVICE, SERVICE_FILE, SERVICE_GRAPH, SERVICE_TYPE
from ordito.results.description import DESCRIBE, DescribeAsked
from ordito.results.hosts import HOSTS
from ordito.results.instances import INSTANCES, NODES
from ordito.results.jobs import JOBS
from ordito.results.picture.topology import TOPOLOGY
from ordito.results.policies import POLICIES
from ordito.results.revisions import REVISION_DIFF
from ordito.results.services import SPEC
from ordito.results.status import REVISIONS, STATUS
from ordito.results.topology import WORKFLOW, WORKFLOWS, NamedAsked
from ordito.server.call import ApiCall
from ordito.server.live.ensemble import present_place
from ordito.server.live.topics import cursor_text
from ordito.server.permissions import Permission
from ordito.server.problems import ApiProblem
from ordito.server.route import ENSEMBLE, Fields, Handler, Reply, Route
from ordito.server.routes.by_process import reads_of_call

# ----------------------------------------------------------------------------------------------------------- looks


PRINTED = {STATUS.name: "outputs"}
"""The parameter of a look that asks for what was printed or given out: only for those who may see that."""


def look(use_case: UseCase[Any, Any], *, keeps: bool = True, named: str = "") -> Handler:
    """A handler that asks a look. ``named`` is the parameter that the path has, under the same name."""
    printed = PRINTED.get(use_case.name, "")

    async def handler(call: ApiCall) -> Reply:
        asked = call.query
        if named and getattr(asked, named):
            raise ApiProblem("malformed", f'the query has "{named}", which the path says already', "leave it out")
        if named:
            asked = msgspec.structs.replace(asked, **{named: call.path[named]})
        if printed and not call.may(Permission.LOGS, call.project, call.ensemble):
            asked = msgspec.structs.replace(asked, **{printed: False})
        reads = await reads_of_call(call)
        # Before it is read: a stream that begins here may tell a thing twice, and leaves nothing out.
        cursor = cursor_text({_topic(call): present_place(reads[0], call.services.outbox.newest).text})
        found = await call.services.answers.ask(use_case.name, reads[0], asked, keeps=keeps, reads=reads)
        return Reply(found.body, headers={"ETag": found.etag, "Ordito-Cursor": cursor}, gzip=found.gzip)

    return handler


def _topic(call: ApiCall) -> str:
    """The topic of the ensemble that the path names."""
    return f"ensemble:{call.project}/{call.ensemble}"


class _DescribeQuery(DescribeAsked, frozen=True):
    """Nothing besides the name in the path."""

    name: str = ""


class _InstanceQuery(Fields, frozen=True):
    """Nothing besides the name in the path."""


async def _instance(call: ApiCall) -> Reply:
    reads = await reads_of_call(call)
    cursor = cursor_text({_topic(call): present_place(reads[0], call.services.outbox.newest).text})
    asked = DescribeAsked(f"instance:{call.path['name']}", MOST_CHANGES)
    found = await call.services.answers.ask(DESCRIBE.name, reads[0], asked, reads=reads)
    return Reply(found.body, headers={"ETag": found.etag, "Ordito-Cursor": cursor}, gzip=found.gzip)


MOST_CHANGES = 20
"""How many of the last changes of an instance are told."""


class _WorkflowQuery(NamedAsked, frozen=True):
    """Nothing besides the name in the path."""

    name: str = ""


_READ = Permission.READ
_DEPLOYED = ("not-deployed", "unknown-revision", "invalid")
UNKNOWN = ("unknown-project", "unknown-ensemble")


def look_route(
    path: str,
    use_case: UseCase[Any, Any],
    summary: str,
    *,
    named: str = "",
    keeps: bool = True,
    problems: tuple[str, ...] = (),
    **more: Any,
) -> Route:
    """The route of a look; ``more`` are further fields of it."""
    return Route(
        method="GET",
        path=ENSEMBLE + path,
        summary=summary,
        answers=use_case.results,
        problems=(*UNKNOWN, "no-ensemble", "ensemble", "too-costly", *problems),
        **{
            "access": _READ,
            "query": use_case.asked,
            "verb": use_case.name,
            "handler": look(use_case, named=named, keeps=keeps),
            **more,
        },
    )


TABLE = (
    look_route("/status", STATUS, "What exists, with the status of each instance."),
    look_route("/topology", TOPOLOGY, "What exists as a picture: boxes, lines, states in columns.",
                verb="status"),
    look_route("/nodes", NODES, "The nodes, with how their instances are.", verb="status"),
    look_route("/instances", INSTANCES, "The instances, by page.", verb="status"),
    look_route("/instances/{name}", DESCRIBE, "All that is known about an instance, with its last changes.",
                handler=_instance, query=_InstanceQuery, problems=("unknown-name",)),
    look_route("/nodes/{name}", DESCRIBE, "All that is known about a node or an instance.", query=_DescribeQuery,
                named="name", problems=("unknown-name", "ambiguous-name")),
    look_route("/revisions", REVISIONS, "What was deployed, and when."),
    look_route("/service", SERVICE, "What is in the service as it was deployed, its files among it.", verb="",
                problems=_DEPLOYED),
    look_route("/service/files/{path:path}", SERVICE_FILE, "A file of the service as it was deployed.", named="path",
                verb="", problems=(*_DEPLOYED, "unknown-file")),
    look_route("/service/graph", SERVICE_GRAPH, "The nodes of the deployed service, and how they are connected.",
                verb="graph", problems=_DEPLOYED),
    look_route("/service/types/{name}", SERVICE_TYPE, "A type that the deployed service can use, or a part of one.",
                named="name", verb="explain", problems=(*_DEPLOYED, "unknown-type", "unknown-member")),
    look_route("/revisions/diff", REVISION_DIFF, "What differs between what two revisions have deployed.",
               verb="revisions", problems=("unknown-revision", "invalid")),
    look_route("/workflows", WORKFLOWS, "The workflows of the deployed service."),
    look_route("/workflows/{name}", WORKFLOW, "A workflow: its inputs and steps.", query=_WorkflowQuery, named="name",
                problems=("unknown-workflow",)),
    look_route("/policies", POLICIES, "What triggers wait for, and did."),
    look_route("/policies/{name}", POLICIES, "One policy.", named="name",
                problems=("unknown-policy",)),
    look_route("/hosts", HOSTS, "The hosts of the inventory, and who uses them.", keeps=False),
    look_route("/spec/evaluated", SPEC, "What the user's part of the ensemble comes to.", keeps=False,
                access=Permission.PLAN),
    look_route("/jobs", JOBS, "The jobs, the latest first."),
)  # fmt: skip
