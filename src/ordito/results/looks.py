"""All that can be asked of an ensemble or a package without changing anything, by the names of the verbs that ask."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ordito.results.answer import UseCase
from ordito.results.by_hand import STATE, STATE_EXPORT
from ordito.results.deployed_service import SERVICE, SERVICE_FILE, SERVICE_GRAPH, SERVICE_TYPE
from ordito.results.description import DESCRIBE
from ordito.results.ensembles import NAMES, SUMMARY
from ordito.results.given import (
    DIFF,
    INVENTORY,
    INVENTORY_CHECK,
    NOTICES,
    OUTPUTS,
    SECRETS,
    SPEC_CHECK,
    SPEC_SHOWN,
    SPEC_TEXT,
)
from ordito.results.hosts import HOSTS
from ordito.results.instances import INSTANCES, NODES
from ordito.results.jobs import JOB, JOBS
from ordito.results.log_search import LOG_FACETS, LOG_SEARCH
from ordito.results.packages import (
    PACKAGE,
    PACKAGE_FILE,
    PACKAGE_GRAPH,
    PACKAGE_TOPOLOGY,
    PACKAGE_TYPE,
    PACKAGE_VALIDATE,
)
from ordito.results.picture.plan import PLAN_TOPOLOGY
from ordito.results.picture.topology import TOPOLOGY
from ordito.results.policies import POLICIES
from ordito.results.report.report import JOB_REPORT
from ordito.results.revisions import REVISION_DIFF
from ordito.results.service_inputs import SERVICE_INPUTS
from ordito.results.services import SPEC
from ordito.results.status import REVISIONS, STATUS
from ordito.results.timeline import JOB_CHANGES, JOB_STEPS, TIMELINE
from ordito.results.topology import WORKFLOW, WORKFLOWS

_ALL: tuple[UseCase[Any, Any], ...] = (
    *(STATUS, TOPOLOGY, NODES, INSTANCES, DESCRIBE, REVISIONS, JOBS, JOB),
    *(TIMELINE, JOB_STEPS, JOB_CHANGES, LOG_SEARCH, LOG_FACETS, JOB_REPORT, PLAN_TOPOLOGY),
    *(WORKFLOWS, WORKFLOW, POLICIES, HOSTS, SPEC),
    *(SUMMARY, NAMES),
    *(SPEC_TEXT, SPEC_SHOWN, SPEC_CHECK, INVENTORY, INVENTORY_CHECK, SECRETS, OUTPUTS),
    *(SERVICE, SERVICE_FILE, SERVICE_GRAPH, SERVICE_TYPE, DIFF, NOTICES),
    *(STATE, STATE_EXPORT),
    *(SERVICE_INPUTS, REVISION_DIFF),
    *(PACKAGE, PACKAGE_FILE, PACKAGE_GRAPH, PACKAGE_TOPOLOGY, PACKAGE_TYPE, PACKAGE_VALIDATE),
)

LOOKS: Mapping[str, UseCase[Any, Any]] = {look.name: look for look in _ALL}
"""By name."""
