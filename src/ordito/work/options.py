"""The options that more than one floor works with: how what runs is changed, which lifecycle steps are carried out, and
how a job runs. What else a command may ask of a workflow stands in `app/requests.py`."""

from __future__ import annotations

from typing import Annotated

import msgspec

from ordito.base.options import Option
from ordito.base.portion import ALL, Portion

USUAL = "usual"
"""What a failure usually does to the rest of a job of its workflow, if the command does not say."""
ON_FAILURE = ("continue", "abort", "rollback")
COMMITS = ("auto", "always", "never")

AUTO, INSTANCE_ONLY, WHOLE_HOST = "auto", "instance", "host"
"""How far healing goes: to the instance with what it hosts, and to its whole host where that is not ok
itself; never to the host; or to the whole host at once, as TOSCA orchestrators used to do."""
LAST, EARLY = "last", "early"
"""When what is no longer in the template is removed: when everything else has succeeded, or first."""
CHANGED, ALL_STEPS, NO_STEPS = "changed", "all", "none"

MOST_ATTEMPTS = 1_000
MOST_ON_HOST = 10_000

MayLose = Annotated[
    tuple[str, ...],
    Option("--allow-data-loss", "The data of this node or instance may be lost; may be repeated.", metavar="NODE"),
]
"""The nodes and instances whose data may be lost."""
MaxUnavailable = Annotated[
    Portion,
    Option(
        "--max-unavailable",
        "How many instances of a node may be down at one time, if the node does not say it (100%: all; default: no"
        " limit, but where all would be down, one of up to seven, a quarter of more).",
        metavar="N|P%",
    ),
]
"""How many instances of a node may be down at one time, unless the node says otherwise."""


class ChangeOptions(msgspec.Struct, frozen=True):
    """How what runs is changed."""

    prune: Annotated[
        str,
        Option(
            "--prune",
            "When to remove what is no longer in the template: after all else has succeeded, or first ({prunes}).",
            choices=(LAST, EARLY),
            opposite="--no-prune",
            opposite_help="Keep what is no longer in the template.",
        ),
    ] = ""
    """When what is no longer in the template is removed: ``last``, ``early``, ``no``, or "" for the default."""
    replaced: Annotated[
        tuple[str, ...],
        Option(
            "--replace",
            "Replace the instances of this node even if no change requires it; may be repeated.",
            metavar="NODE",
        ),
    ] = ()
    """Nodes whose instances are replaced even if no change requires it."""
    max_unavailable: MaxUnavailable = ALL
    skip_heal: Annotated[
        bool, Option("--skip-heal", "Change instances that are not ok without repairing them first.")
    ] = False
    """Whether instances that are not ok are changed without being repaired first."""
    checks: Annotated[bool, Option("--check", "First check what stays unchanged, and repair what is not ok.")] = False
    """Whether unchanged instances are checked, and repaired where they are not ok."""
    may_lose: MayLose = ()

    def __post_init__(self) -> None:
        if self.checks and self.skip_heal:
            raise ValueError("--check and --skip-heal exclude each other")


class HookOptions(msgspec.Struct, frozen=True):
    """Which lifecycle steps are carried out, and where they and their blocks are found."""

    catalogs: Annotated[
        tuple[str, ...],
        Option(
            "--catalog",
            "A catalogue of blocks, a folder or an archive, searched before the usual ones; may be repeated.",
            metavar="PATH",
            is_path=True,
        ),
    ] = ()
    """Paths of catalogues of blocks, which take precedence over those that are found by default."""
    lifecycle: Annotated[
        str,
        Option(
            "--lifecycle",
            "A file that declares lifecycle steps, instead of the one beside the service.",
            metavar="FILE",
            is_path=True,
        ),
    ] = ""
    """The path of a file that declares further lifecycle steps, "" for none."""
    which: Annotated[
        str,
        Option(
            "--hooks",
            "Which lifecycle steps to carry out: those of what changes, all, or none.",
            choices=(CHANGED, ALL_STEPS, NO_STEPS),
            shows_default=True,
        ),
    ] = CHANGED
    """The lifecycle steps that are carried out: those of what is ``changed``, ``all``, or ``none``."""
    strict: Annotated[
        bool,
        Option(
            "--strict",
            "Refuse a lifecycle step that asks for a rollback if something before it cannot be undone.",
        ),
    ] = False
    """Whether a step that asks for a rollback, with something before it that cannot be undone, is an error."""


class JobOptions(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a job runs."""

    parallel: Annotated[
        int, Option("--parallel", "How many operations run at one time.", metavar="N", least=1, shows_default=True)
    ] = 64
    """The largest number of operations at one time."""
    on_failure: Annotated[
        str, Option("--on-failure", "{on_failure}", metavar="{on_failure_values}", choices=ON_FAILURE)
    ] = "continue"
    """What a failure does to the rest: ``continue``, ``abort``, or ``rollback``, which aborts and undoes what was
    done."""
    attempts: Annotated[
        int,
        Option(
            "--attempts",
            "How often a failing operation is tried in all, if its node does not say it (default: once, or three"
            " times if it ends with exit code 75).",
            metavar="N",
            least=1,
            most=MOST_ATTEMPTS,
        ),
    ] = 0
    """The number of attempts of an operation whose call sets none, 0 for the default."""
    interval: Annotated[
        float | None,
        Option(
            "--interval",
            "The pause before the second attempt of an operation; it doubles with each further one (default: 1).",
            metavar="SECONDS",
            unit="seconds",
        ),
    ] = None
    """The seconds before the second attempt of an operation, None for the default."""
    host_concurrency: Annotated[
        int,
        Option(
            "--host-concurrency",
            "How many operations run at one time on a Compute instance without ordito.concurrency.",
            metavar="N",
            least=1,
            most=MOST_ON_HOST,
            shows_default=True,
        ),
    ] = 1
    """Operations at one time on a Compute instance whose node sets no number."""
    timeout: Annotated[
        float | None,
        Option(
            "--timeout",
            "Cancel the job after this time, such as 90, 90s, 10m or 1h30m; exit code 6.",
            metavar="DURATION",
            unit="duration",
        ),
    ] = None
    """The seconds after which the job is cancelled."""
    commit: Annotated[
        str,
        Option(
            "--commit",
            "Whether the files of the job are committed to git (default: {commits}).",
            choices=COMMITS,
        ),
    ] = "auto"
    """Whether the job's files are committed to git."""
    message: Annotated[
        str, Option("--message", "The message of the commit, instead of a generated one.", metavar="TEXT")
    ] = ""
    """The message of the commit, "" for the default."""
    told: dict[str, object] = {}
    """The workflow's own options, by name."""
