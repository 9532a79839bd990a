"""The grammar of the command: its verbs, each loaded only when it is called, and help for misspelt ones."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click
import msgspec

from ordito.base.suggest import nearest
from ordito.cli.options import completing, global_options, input_options

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class VerbEntry(msgspec.Struct, frozen=True):
    """A verb in the list of verbs; ``module`` has it as ``NAME_command``."""

    module: str
    summary: str


PURPOSES: Mapping[str, Mapping[str, VerbEntry]] = {
    "Begin": {
        "init": VerbEntry("begin", "Make a new project that can be deployed at once."),
        "doctor": VerbEntry("begin", "Show what this machine can run, and check an ensemble."),
        "completion": VerbEntry("begin", "Make your shell complete words of commands."),
    },
    "Describe a service": {
        "validate": VerbEntry("validate", "Check a service and its inputs; needs no ensemble."),
        "fmt": VerbEntry("templates", "Format service templates; comments and meaning stay."),
        "explain": VerbEntry("explain", "Explain a type, an entity of the language, or a finding."),
        "graph": VerbEntry("graph", "Show a service as a graph: text, Mermaid, DOT, SVG."),
        "schema": VerbEntry("templates", "Make a JSON Schema of your types, for editors."),
        "compile": VerbEntry("templates", "Write the resolved model of a service, for programs."),
        "package": VerbEntry("templates", "Pack a service into an archive (CSAR)."),
        "unpackage": VerbEntry("templates", "Unpack an archive into a folder."),
        "port": VerbEntry("templates", "Write a service in another language as one of TOSCA."),
        "spec": VerbEntry("templates", "Show the result of your part of ensemble.yaml."),
    },
    "Deploy and change it": {
        "plan": VerbEntry("plan", "Show what a deployment, or another job, would do, and why."),
        "deploy": VerbEntry("deploy", "Bring the running system to its description."),
        "diff": VerbEntry("plan", "Show how what runs differs from what a service says."),
        "upgrade": VerbEntry("deploy", "Change what runs into what a service says now."),
        "scale": VerbEntry("operate", "Change the number of instances of a node."),
        "rollback": VerbEntry("deploy", "Go back to an earlier revision."),
        "revisions": VerbEntry("look", "List the revisions: what was deployed, and when."),
        "undeploy": VerbEntry("deploy", "Remove everything that was deployed."),
    },
    "Operate what runs": {
        "run": VerbEntry("operate", "Run one operation on all instances, or on chosen ones."),
        "workflow": VerbEntry("workflows", "Show the workflows of the template, and run them."),
        "stop": VerbEntry("operate", "Stop instances, and what depends on them."),
        "start": VerbEntry("operate", "Start instances that are stopped."),
        "restart": VerbEntry("operate", "Stop and start instances, and what depends on them."),
        "notify": VerbEntry("policies", "Report that something has happened; triggers act on it."),
    },
    "Look at it": {
        "status": VerbEntry("look", "Show what exists, and its status."),
        "describe": VerbEntry("look", "Show all that is known about a node or an instance."),
        "output": VerbEntry("look", "Show the outputs of the service, or one of them."),
        "check": VerbEntry("check", "Check whether what exists is as recorded."),
        "discover": VerbEntry("check", "Find out what exists, and record it."),
        "policy": VerbEntry("policies", "Show policies: what triggers wait for, and did."),
    },
    "Repair it": {
        "heal": VerbEntry("heal", "Check and repair an instance, or replace it and its host."),
        "jobs": VerbEntry("jobs", "Show jobs; resume, retry, cancel and replay them."),
        "state": VerbEntry("state", "Show the records, and change them by hand."),
        "forget": VerbEntry("state", "Drop the records of deleted instances."),
    },
    "Serve a team": {
        "serve": VerbEntry("serve", "Serve ensembles to several people, over HTTP."),
        "server": VerbEntry("server", "Check a server, back it up, and restore it."),
        "store": VerbEntry("store", "Keep ensembles in PostgreSQL, for many machines."),
        "worker": VerbEntry("workers", "Carry out what waits in a store, on this machine."),
        "workers": VerbEntry("workers", "Show the workers of a store; drain and forget them."),
        "queue": VerbEntry("queue", "Show what waits in a store; hold it back."),
        "login": VerbEntry("signing_in", "Sign in at a server."),
        "whoami": VerbEntry("signing_in", "Show with whose rights commands ask a server."),
        "projects": VerbEntry("projects", "Show and make projects, and give roles in them."),
        "packages": VerbEntry("packages", "Send services to a server, and get them."),
        "ensembles": VerbEntry("ensembles", "Show the ensembles of a server, and add some."),
        "users": VerbEntry("users", "Show, make and disable the users of a server."),
        "groups": VerbEntry("groups", "Show and make groups of users."),
        "accounts": VerbEntry("accounts", "Show and make service accounts, for programs."),
        "tokens": VerbEntry("tokens", "Show, make and end tokens."),
        "plans": VerbEntry("plans", "Show, approve and apply what was asked of a server."),
        "schedules": VerbEntry("schedules", "Show and make what is asked by the clock."),
        "webhooks": VerbEntry("webhooks", "Show and make receivers of a server's events."),
        "audit": VerbEntry("audit", "Show what was done at a server."),
        "logout": VerbEntry("signing_in", "Sign out at a server, and forget it."),
    },
    "Provide what it needs": {
        "hosts": VerbEntry("hosts", "Show the hosts of the inventory, and check them."),
        "secrets": VerbEntry("secrets", "Keep secrets that ensemble.yaml names."),
        "blocks": VerbEntry("blocks", "Show the blocks of lifecycle steps, and try them."),
        "lifecycle": VerbEntry("blocks", "Import lifecycle steps from modules in CUE."),
    },
}
"""The verbs by purpose, in the order in which they are needed."""

VERBS: Mapping[str, VerbEntry] = {name: verb for verbs in PURPOSES.values() for name, verb in verbs.items()}

ALIASES: Mapping[str, str] = {
    "apply": "deploy",
    "install": "deploy",
    "destroy": "undeploy",
    "teardown": "undeploy",
    "execute_operation": "run",
    "execute-operation": "run",
    "uninstall": "undeploy",
}
"""Names of verbs in other tools; they work, but are not listed."""

JOBS_VERBS: Mapping[str, VerbEntry] = {
    "list": VerbEntry("jobs", "List all jobs, the latest first."),
    "show": VerbEntry("jobs", "Show one job: what it did, task by task."),
    "logs": VerbEntry("jobs", "Read what the operations of a job printed."),
    "events": VerbEntry("jobs", "Read the events of a job, and follow it while it runs."),
    "report": VerbEntry("jobs", "Make a page about a job, to be kept, sent or printed."),
    "cancel": VerbEntry("jobs", "End a running job, or close one that was interrupted."),
    "resume": VerbEntry("jobs", "Continue a job that was interrupted."),
    "retry": VerbEntry("jobs", "Do what a failed job has left undone."),
    "skip": VerbEntry("jobs", "The same, with one of its steps counted as done by hand."),
    "replay": VerbEntry("jobs", "Rebuild what exists from the records of all jobs."),
    "unlock": VerbEntry("jobs", "Remove the lock that clones share, if its holder was killed."),
}


STATE_VERBS: Mapping[str, VerbEntry] = {
    "show": VerbEntry("state", "Show the records of instances."),
    "mv": VerbEntry("state", "Follow a node that was renamed in the template."),
    "rm": VerbEntry("state", "Forget instances, whether they exist or not."),
    "adopt": VerbEntry("state", "Record something that exists already as an instance."),
    "renew": VerbEntry("state", "Put back deployed files that were changed since."),
    "export": VerbEntry("state", "Write everything that is recorded, for programs."),
}

POLICY_VERBS: Mapping[str, VerbEntry] = {
    "list": VerbEntry("policies", "List the policies with their triggers."),
    "show": VerbEntry("policies", "Show one policy: targets, triggers, what they did."),
}

WORKFLOW_VERBS: Mapping[str, VerbEntry] = {
    "list": VerbEntry("workflows", "List all workflows."),
    "show": VerbEntry("workflows", "Show a workflow of the template: its inputs and steps."),
    "run": VerbEntry("workflows", "Run a workflow of the template."),
}

HOSTS_VERBS: Mapping[str, VerbEntry] = {
    "list": VerbEntry("hosts", "List the hosts: what they have, and who uses them."),
    "show": VerbEntry("hosts", "Show the inventory as it is written."),
    "set": VerbEntry("hosts", "Replace the inventory, once it is checked."),
    "check": VerbEntry("hosts", "Connect to hosts, and compare them with the inventory."),
    "release": VerbEntry("hosts", "Take hosts back from an ensemble that no longer exists."),
}

BLOCKS_VERBS: Mapping[str, VerbEntry] = {
    "list": VerbEntry("blocks", "List the blocks that steps can name."),
    "show": VerbEntry("blocks", "Show a block: what it does, and its config."),
    "test": VerbEntry("blocks", "Carry out a block once, as a step would."),
}

LIFECYCLE_VERBS: Mapping[str, VerbEntry] = {
    "import": VerbEntry("blocks", "Import the steps of a module in CUE."),
}

SECRETS_VERBS: Mapping[str, VerbEntry] = {
    "set": VerbEntry("secrets", "Keep a secret."),
    "get": VerbEntry("secrets", "Show a secret."),
    "list": VerbEntry("secrets", "List the names of all secrets."),
    "rm": VerbEntry("secrets", "Delete secrets."),
}

WORKERS_VERBS: Mapping[str, VerbEntry] = {
    "list": VerbEntry("workers", "List the workers of a store."),
    "drain": VerbEntry("workers", "Let one hand over its jobs, and end."),
    "lost": VerbEntry("workers", "Say that the machine of one is off."),
    "forget": VerbEntry("workers", "Remove one from the list."),
}

QUEUE_VERBS: Mapping[str, VerbEntry] = {
    "list": VerbEntry("queue", "List what waits, by pool and class."),
    "hold": VerbEntry("queue", "Let nothing of a pool begin."),
    "release": VerbEntry("queue", "Let it begin again."),
    "follow": VerbEntry("queue", "Wait for the end of an item."),
    "cancel": VerbEntry("queue", "Let the job of an item be ended."),
}

STORE_VERBS: Mapping[str, VerbEntry] = {
    "init": VerbEntry("store", "Make its tables, and the key of its workers."),
    "upgrade": VerbEntry("store", "Bring its tables up to date."),
    "status": VerbEntry("store", "Show what is in it, and who works on what."),
    "change": VerbEntry("store", "Change what holds for all who work with it."),
    "import": VerbEntry("store", "Put an ensemble of a directory into it."),
    "export": VerbEntry("store", "Write an ensemble of it into a directory."),
}

SERVER_VERBS: Mapping[str, VerbEntry] = {
    "status": VerbEntry("server", "Show whether it runs, and what is not well."),
    "backup": VerbEntry("server", "Back it up with all its ensembles, while it runs."),
    "restore": VerbEntry("server", "Restore it into an empty directory."),
    "resume": VerbEntry("server", "Let a restored server go on."),
    "audit": VerbEntry("server", "Check its audit log."),
    "settings": VerbEntry("server_settings", "Show and set what can be set while it runs."),
}

SERVER_SETTINGS_VERBS: Mapping[str, VerbEntry] = {
    "show": VerbEntry("server_settings", "Show how it is set."),
    "set": VerbEntry("server_settings", "Set the banner, jobs, limits, and what it may reach."),
}

SERVER_AUDIT_VERBS: Mapping[str, VerbEntry] = {
    "verify": VerbEntry("server", "Check whether the audit log is whole."),
}

PROJECTS_VERBS: Mapping[str, VerbEntry] = {
    "list": VerbEntry("projects", "List the projects that you may see."),
    "create": VerbEntry("projects", "Make a project."),
    "change": VerbEntry("projects", "Change the description of a project."),
    "members": VerbEntry("projects", "Show who has which role; give and take roles."),
    "remove": VerbEntry("projects", "Remove a project that has no ensembles."),
}

ENSEMBLES_VERBS: Mapping[str, VerbEntry] = {
    "list": VerbEntry("ensembles", "List the ensembles that you may see."),
    "show": VerbEntry("ensembles", "Show what the server knows of one."),
    "create": VerbEntry("ensembles", "Make one of a package, or add one of the server's machine."),
    "change": VerbEntry("ensembles", "Change the labels of one."),
    "source": VerbEntry("sources", "The repository in git that one follows."),
    "remove": VerbEntry("ensembles", "Let the server forget one."),
}

ENSEMBLES_SOURCE_VERBS: Mapping[str, VerbEntry] = {
    "set": VerbEntry("sources", "Let it follow a branch of a repository."),
    "show": VerbEntry("sources", "Show the repository, and what came of it."),
    "fetch": VerbEntry("sources", "Have the server look at it now."),
    "remove": VerbEntry("sources", "Let it follow none any more."),
}

PACKAGES_VERBS: Mapping[str, VerbEntry] = {
    "push": VerbEntry("packages", "Send a service to a project."),
    "list": VerbEntry("packages", "List the packages of a project."),
    "show": VerbEntry("packages", "Show what is in one."),
    "label": VerbEntry("packages", "Let a label point to one."),
    "fetch": VerbEntry("packages", "Get the archive of one."),
    "remove": VerbEntry("packages", "Remove one that nothing needs."),
}

SCHEDULES_VERBS: Mapping[str, VerbEntry] = {
    "create": VerbEntry("schedules", "Make one."),
    "list": VerbEntry("schedules", "List those of an ensemble."),
    "show": VerbEntry("schedules", "Show one, and what came of its last turn."),
    "change": VerbEntry("schedules", "Change one, pause it, or let it go on."),
    "remove": VerbEntry("schedules", "Remove one."),
}

WEBHOOKS_VERBS: Mapping[str, VerbEntry] = {
    "create": VerbEntry("webhooks", "Make one."),
    "list": VerbEntry("webhooks", "List those of a project."),
    "show": VerbEntry("webhooks", "Show one."),
    "test": VerbEntry("webhooks", "Post an event to one, to see whether it arrives."),
    "deliveries": VerbEntry("webhooks", "List what was posted to one, and what waits."),
    "again": VerbEntry("webhooks", "Post one event once more."),
    "change": VerbEntry("webhooks", "Change one, pause it, or let it go on."),
    "remove": VerbEntry("webhooks", "Remove one."),
}

USERS_VERBS: Mapping[str, VerbEntry] = {
    "list": VerbEntry("users", "List the users."),
    "create": VerbEntry("users", "Make a user, and a link to sign in with."),
    "change": VerbEntry("users", "Disable a user, or make them an administrator."),
    "reset": VerbEntry("users", "Give a user a new link to sign in with."),
    "remove": VerbEntry("users", "Remove a user."),
}

GROUPS_VERBS: Mapping[str, VerbEntry] = {
    "set": VerbEntry("groups", "Set the members of a group."),
    "list": VerbEntry("groups", "List the groups with their members."),
    "remove": VerbEntry("groups", "Remove a group."),
}

ACCOUNTS_VERBS: Mapping[str, VerbEntry] = {
    "create": VerbEntry("accounts", "Make a service account."),
    "list": VerbEntry("accounts", "List them, with their tokens."),
    "remove": VerbEntry("accounts", "Remove one."),
}

PLANS_VERBS: Mapping[str, VerbEntry] = {
    "list": VerbEntry("plans", "List the plans of an ensemble, or what needs you."),
    "show": VerbEntry("plans", "Show a plan: its state, approvals, and what it does."),
    "approve": VerbEntry("plans", "Approve a plan of somebody else."),
    "reject": VerbEntry("plans", "Reject a plan."),
    "apply": VerbEntry("plans", "Carry a plan out, and follow its job."),
    "discard": VerbEntry("plans", "Discard a plan that has not begun."),
    "rules": VerbEntry("plans", "Show or set which plans need approvals."),
    "freeze": VerbEntry("plans", "Let no plan begin."),
    "thaw": VerbEntry("plans", "End a freeze."),
}

TOKENS_VERBS: Mapping[str, VerbEntry] = {
    "create": VerbEntry("tokens", "Make a token, which is shown once."),
    "list": VerbEntry("tokens", "List your tokens."),
    "remove": VerbEntry("tokens", "End a token."),
}


class VerbGroup(click.Group):
    """A group whose verbs are in modules by purpose, which are only read when a verb is called."""

    def __init__(
        self,
        name: str,
        verbs: Mapping[str, VerbEntry],
        aliases: Mapping[str, str],
        summary: str,
        purposes: Mapping[str, Mapping[str, VerbEntry]] | None = None,
    ) -> None:
        super().__init__(
            name,
            params=[*input_options(), *global_options()],
            help=summary,
            callback=self._without_verb,
            invoke_without_command=True,
            subcommand_metavar="VERB ...",
            context_settings={"help_option_names": ["-h", "--help"]},
        )
        self._verbs = verbs
        self._aliases = aliases
        self._purposes = purposes or {"Verbs": verbs}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the verbs, in the order in which they are needed."""
        return list(self._verbs)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The verb with a name or alias."""
        verb = self._verbs.get(self._aliases.get(cmd_name, cmd_name))
        if verb is None:
            return None
        module = importlib.import_module(f"ordito.cli.verbs.{verb.module}")
        command: click.Command = getattr(module, f"{self._aliases.get(cmd_name, cmd_name)}_command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The verb with which the arguments begin. Raises ``click.UsageError`` with the most similar one."""
        name = args[0]
        if name.startswith("-") or self.get_command(ctx, name) is not None:
            return super().resolve_command(ctx, args)
        raise click.UsageError(f'there is no verb "{name}"{self._meant(name)}', ctx)

    def _meant(self, name: str) -> str:
        if name == "help":
            return "; --help at the end of any command shows how to use it"
        if self._verbs is VERBS and name in OTHER_WORDS:
            return f"; for what other tools call so, use: {OTHER_WORDS[name]}"
        return did_you_mean(nearest(name, [*self._verbs, *self._aliases]))

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """The options, with the words that a shell can offer for them."""
        return completing(super().get_params(ctx), ctx)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The verbs and options with this beginning; no verb is loaded for it."""
        from click.shell_completion import CompletionItem

        verbs = [CompletionItem(n, help=v.summary) for n, v in self._verbs.items() if n.startswith(incomplete)]
        return [*verbs, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the verbs from the tables, so that none of them is loaded, and then the options."""
        longest = max(map(len, self._verbs))
        for purpose, verbs in self._purposes.items():
            with formatter.section(purpose):
                formatter.write_dl([(name.ljust(longest), verb.summary) for name, verb in verbs.items()])
        click.Command.format_options(self, ctx, formatter)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write how to get more help."""
        formatter.write_paragraph()
        formatter.write_text(f"{ctx.command_path} VERB --help says more about a verb, with examples.")

    def _without_verb(self) -> None:
        """Called before each verb, and also without one."""
        context = click.get_current_context()
        if context.invoked_subcommand is None:
            names = ", ".join(self._verbs)
            raise click.UsageError(f"say what to do: {context.command_path} VERB, with one of {names}", context)


def did_you_mean(near: Sequence[str]) -> str:
    """The end of a message about an unknown name."""
    return "; did you mean " + " or ".join(f'"{name}"' for name in near) + "?" if near else ""


ABOUT = """Deploys services that are described in TOSCA 1.3, and keeps a record of every change.

New here: `ordito init my-app` makes a small service, `ordito -e my-app deploy` deploys it."""


def root() -> click.Group:
    """The whole grammar."""
    from ordito import __version__

    group = VerbGroup("ordito", VERBS, ALIASES, ABOUT, PURPOSES)
    group.params.append(
        click.Option(
            ["--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            help="Show the version.",
            callback=lambda context, _, wanted: (
                _show_version(context, __version__) if wanted and not context.resilient_parsing else None
            ),
        )
    )
    return group


def _show_version(context: click.Context, version: str) -> None:
    click.echo(f"ordito {version}")
    context.exit()


# The verbs by which other tools call what a verb of ours does, where it is not the same enough to be an alias.

OTHER_WORDS: Mapping[str, str] = {
    # The command lines of Terraform and OpenTofu
    "force-unlock": "jobs unlock",
    "import": "state adopt",
    "refresh": "discover",
    "show": "describe",
    "taint": "upgrade --replace NODE",
    "workspace": "spec --env NAME",
    # of Cloudify
    "blueprints": "validate SERVICE",
    "deployments": "status",
    "events": "jobs events",
    "executions": "jobs list",
    "node-instances": "describe NODE",
    "update": "upgrade",
    "workflows": "workflow list",
    # of xOpera
    "info": "status",
    "outputs": "output",
    "unpack": "unpackage",
    # of Yorc
    "tasks": "jobs list",
    # and of others
    "ls": "status",
    "list": "status",
    "log": "jobs logs",
    "logs": "jobs logs",
    "nodes": "status",
    "repair": "heal",
    "resume": "jobs resume",
    "retry": "jobs retry",
    "cancel": "jobs cancel",
    "replay": "jobs replay",
}
"""By a word of other tools that is none of our verbs: the command that is meant, or the nearest to it."""

OTHER_OPTIONS: Mapping[str, str] = {
    "--auto-approve": "--yes goes ahead without asking",
    "--check": "`ordito plan` shows what would be done",
    "--dry-run": "`ordito plan` shows what would be done",
    "--plan-only": "`ordito plan` shows what would be done",
}
"""By an option of other tools that is none of ours: what to use instead."""

OTHER_ARGUMENTS: Mapping[str, str] = {
    "status": "it shows everything; `ordito describe NAME` shows one node or instance",
}
"""By a verb that takes no arguments: what to use if somebody gives one."""
