"""What a service asks for and this version does not support: reported before anything runs."""

from __future__ import annotations

from ordito.app.services.workflows import OVERRIDES
from ordito.app.trigger_checks import check_triggers
from ordito.base.diagnostics import Diagnostics
from ordito.executors.processors import GROUP, command_for
from ordito.model.block_types import LIFECYCLE_STEP
from ordito.model.imperative import Policy
from ordito.model.service import Service
from ordito.planning.imperative import NOT_RUN, processor_of
from ordito.planning.placement import container_type
from ordito.planning.policy_targets import SCALING

DEPLOYMENT_WORKFLOWS = ("deploy", "undeploy", "install", "uninstall")
"""The names of workflows that replace the generated ones (§7.1)."""

PORT = "tosca.nodes.network.Port"

ABSTRACT = "abstract"
"""The metadata of node templates whose type is one that only says what others have to offer."""

ENFORCED = frozenset({SCALING, LIFECYCLE_STEP})
"""The types of policies that have an effect without triggers."""


def is_heeded(service: Service, policy: Policy) -> bool:
    """Whether a policy has an effect: by its type, or by its triggers."""
    return bool(policy.triggers) or not ENFORCED.isdisjoint(policy.kinds) or bool(container_type(service, policy))


def check_supported(service: Service, diagnostics: Diagnostics) -> None:
    """Report as errors what would make a deployment differ from the service, and warn about what only adds to it."""
    called = {target for s in service.substituted.values() for target in s.operations.values()}
    for name, workflow in service.workflows.items():
        if "/" in name and name not in called and name.rpartition("/")[2] in DEPLOYMENT_WORKFLOWS:
            diagnostics.error(
                "not-supported-yet",
                f'the workflow "{name}" of a topology that substitutes a node would deploy a part of the service by '
                "itself, which is not carried out in this version",
                workflow.span,
                hint="remove it to have its nodes deployed with all others",
            )
    _warn_of_second_workflows(service, diagnostics)
    for name, substituted in service.substituted.items():
        template = substituted.template
        if template.instance_count is not None or template.occurrences not in {None, (1, 1)}:
            diagnostics.error(
                "not-supported-yet",
                f'"{name}" should have several instances, which this version does not support for a node that '
                f"{substituted.file} substitutes",
                template.span,
                hint="remove occurrences and instance_count, or give them to the nodes inside of the topology",
            )
    for node in service.nodes.values():
        if node.metadata.get(ABSTRACT) == "true" and not node.existing:
            diagnostics.error(
                "abstract-type",
                f'node template "{node.name}" is of the type {node.type}, which is abstract: it says what is wanted,'
                " and nothing makes it",
                node.span,
                hint="name a type that derives from it and can be made",
            )
    for policy in service.policies.values():
        if is_heeded(service, policy):
            continue
        diagnostics.warning(
            "not-enforced",
            f'policy "{policy.name}" ({policy.type}) is kept and not enforced',
            policy.span,
            hint="what it asks for must be ensured by other means",
        )
    _warn_of_default_ports(service, diagnostics)
    check_triggers(service, diagnostics)
    warn_of_unprocessed(service, diagnostics)


def _warn_of_default_ports(service: Service, diagnostics: Diagnostics) -> None:
    """Warn about ports with is_default (§8.5.2) that no operation sets up: providers set no routes."""
    for node in service.nodes.values():
        asks = PORT in node.kinds and node.properties.get("is_default") not in (None, False)
        operations = (o for interface in node.interfaces.values() for o in interface.operations.values())
        if asks and not any(operation.implementation for operation in operations):
            diagnostics.warning(
                "not-enforced",
                f'is_default of port "{node.name}" has no effect: the operating system of its Compute chooses'
                " the default port by their order",
                node.span,
                hint="set the route in an operation on the Compute, or remove is_default",
            )


def _warn_of_second_workflows(service: Service, diagnostics: Diagnostics) -> None:
    """Warn if two workflows would replace the same generated one, and say which is used."""
    for made, names in OVERRIDES.items():
        both = [service.workflows[name] for name in names if name in service.workflows]
        for other in both[1:]:
            diagnostics.warning(
                "second-workflow",
                f'workflow "{other.name}" means {made} as well, and "{both[0].name}" takes its place already: this one'
                " runs only where it is called by its name",
                other.span,
                hint="keep one of them, or give this one a name of its own",
            )


# Workflows that are written in a language which nothing here processes.


def warn_of_unprocessed(service: Service, diagnostics: Diagnostics) -> None:
    """Warn about workflows that cannot be run here; other workflows are not affected (R-7.3.8-2)."""
    for workflow in service.workflows.values():
        artifact = workflow.implementation
        if artifact is not None and artifact.kinds[:1] == (NOT_RUN,):
            continue  # It is said where it is read.
        if artifact is not None and not processor_of(artifact, lambda kinds: command_for(kinds[0]) is not None):
            diagnostics.warning(
                "no-processor",
                f'no processor carries out workflow "{workflow.name}": {artifact.file} is of type {artifact.kinds[0]}',
                workflow.span,
                hint=f"install a processor for it (entry point group {GROUP}), or write it in steps or as a script",
            )
