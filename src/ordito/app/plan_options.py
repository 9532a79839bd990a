"""The options for planning about the machine and the files of a service, which do not depend on the workflow."""

from __future__ import annotations

from collections.abc import Mapping

from ordito.app.plugins import Plugins
from ordito.app.services.left_behind import ServiceWithOrphans
from ordito.ensemble.layout import Layout
from ordito.ensemble.vault import Vault
from ordito.executors.interpreters import lacking_here
from ordito.planning.options import Abilities, FileDigests, Orphans, PlanOptions


def plan_options(
    layout: Layout, plugins: Plugins, whole: ServiceWithOrphans, digests: Mapping[str, str]
) -> PlanOptions:
    """The options that every plan for a service has; ``digests`` are those of the files that it names itself."""
    return PlanOptions(
        Abilities(
            accepts=plugins.accepts,
            accepts_on=plugins.accepts,
            takes=plugins.takes,
            provides=plugins.provides,
            maker=plugins.maker,
            lacking=lacking_here,
        ),
        FileDigests({**digests, **whole.digests}, whole.names, Vault(layout).digest_key),
        orphans=Orphans(whole.nodes),
    )
