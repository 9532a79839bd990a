"""What a service consists of: its nodes as a graph, and its workflows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import msgspec

from ordito.app.workflow_list import ListedWorkflow, ShownInput, ShownStep, list_workflows, show_workflow
from ordito.authoring.graph import Graph
from ordito.results.answer import Asked, ResultData, UseCase

if TYPE_CHECKING:
    from ordito.app.workflow_list import ShownWorkflow


class GraphData(Graph, ResultData, frozen=True, tag="ordito.graph/1"):
    """The nodes of a service, which of them host which, and how they are connected."""


def graph_data(found: Graph) -> GraphData:
    """A graph."""
    return msgspec.convert(found, GraphData, from_attributes=True)


class WorkflowListData(ResultData, frozen=True, tag="ordito.workflow-list/1"):
    """The workflows of the deployed service, and those that every service has."""

    workflows: tuple[ListedWorkflow, ...]


class WorkflowData(ResultData, frozen=True, omit_defaults=True, tag="ordito.workflow-show/1"):
    """A workflow of the template, in full."""

    name: str
    description: str = ""
    place: str = ""
    """Where it is written."""

    replaces: str = ""
    """The workflow that Ordito makes otherwise, "" for none."""

    inputs: tuple[ShownInput, ...] = ()
    preconditions: tuple[str, ...] = ()
    steps: tuple[ShownStep, ...] = ()
    implementation: str = ""
    """The file that carries it out instead of steps."""

    outputs: Mapping[str, tuple[str | int, ...]] = {}


def workflow_list_data(found: Iterable[ListedWorkflow]) -> WorkflowListData:
    """The workflows."""
    return WorkflowListData(tuple(found))


def workflow_data(found: ShownWorkflow) -> WorkflowData:
    """A workflow."""
    return msgspec.convert({"format": "ordito.workflow-show/1", **msgspec.to_builtins(found)}, WorkflowData)


class NamedAsked(Asked, frozen=True):
    """About what has a name."""

    name: str


def _workflows(directory: str, _: Asked) -> WorkflowListData:
    return workflow_list_data(list_workflows(directory))


def _workflow(directory: str, asked: NamedAsked) -> WorkflowData:
    return workflow_data(show_workflow(directory, asked.name))


WORKFLOWS = UseCase("workflow list", Asked, (WorkflowListData,), _workflows)
WORKFLOW = UseCase("workflow show", NamedAsked, (WorkflowData,), _workflow)
