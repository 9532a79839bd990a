"""Where each verb works once a server is named: there, on this machine as ever, or not at all."""

from __future__ import annotations

from collections.abc import Mapping

BEGINNING = frozenset(
    {
        *("plan", "deploy", "upgrade", "scale", "rollback", "undeploy", "run", "workflow run"),
        *("stop", "start", "restart", "check", "discover", "heal", "jobs retry", "jobs skip"),
    }
)
"""The verbs that begin a job there, or plan one."""

AT_SERVER = frozenset(
    {
        *("status", "describe", "revisions", "spec", "hosts list"),
        *("jobs list", "jobs show", "workflow list", "workflow show", "policy list", "policy show"),
        *("login", "logout", "whoami", "audit", "projects list", "projects create", "projects members"),
        *("projects remove", "ensembles list", "ensembles show", "ensembles create", "ensembles remove"),
        *("users list", "users create", "users change", "users reset", "users remove", "groups list", "groups set"),
        *("groups remove", "accounts list", "accounts create", "accounts remove", "tokens list", "tokens create"),
        *("tokens remove", "plans list", "plans show", "plans approve", "plans reject", "plans apply"),
        *("plans rules", "plans freeze", "plans thaw"),
        *("output", "diff", "notify", "secrets list", "secrets set", "secrets rm", "hosts check", "hosts release"),
        *("state show", "state mv", "state rm", "state adopt", "state renew", "state export", "forget"),
        *("jobs replay", "jobs unlock"),
        *("projects change", "ensembles change", "hosts show", "hosts set"),
        *("ensembles source set", "ensembles source show", "ensembles source fetch", "ensembles source remove"),
        *("packages push", "packages list", "packages show", "packages label", "packages fetch", "packages remove"),
        *("schedules create", "schedules list", "schedules show", "schedules change", "schedules remove"),
        *("webhooks create", "webhooks list", "webhooks show", "webhooks test", "webhooks deliveries"),
        *("webhooks again", "webhooks change", "webhooks remove"),
        *("server settings show", "server settings set", "explain", "graph"),
        *("plans discard", "jobs logs", "jobs events", "jobs report", "jobs cancel", "jobs resume"),
        *BEGINNING,
    }
)
"""The verbs that ask the server."""

TO_WORKERS = frozenset({"deploy", "upgrade", "scale", "rollback", "undeploy", "stop", "start", "restart"})
"""The verbs whose job can be left to the workers of a store."""

ABOUT_STORE = frozenset(
    {
        *("store init", "store upgrade", "store status", "store change", "store import", "store export", "worker"),
        "serve",
        *("workers list", "workers drain", "workers lost", "workers forget"),
        *("queue list", "queue hold", "queue release", "queue follow", "queue cancel"),
    }
)
"""The verbs that are about a store, and not about one of its ensembles."""

ON_THIS_MACHINE = frozenset(
    {
        *("init", "doctor", "completion", "validate", "fmt", "schema", "compile"),
        *("server status", "server backup", "server restore", "server resume", "server audit verify"),
        *ABOUT_STORE,
        *("package", "unpackage", "port", "serve", "blocks list", "blocks show", "blocks test", "lifecycle import"),
    }
)
"""The verbs that work on files and programs of this machine whatever server is named."""

IN_STORE = frozenset(
    {
        *("plan", "deploy", "upgrade", "scale", "rollback", "undeploy", "run", "workflow run", "diff"),
        *("stop", "start", "restart", "check", "discover", "heal", "jobs retry", "jobs skip", "jobs resume"),
        *("jobs list", "jobs show", "jobs logs", "jobs events", "jobs report", "jobs cancel"),
        *("status", "describe", "output", "revisions", "spec", "workflow list", "workflow show"),
        *("policy list", "policy show", "state show", "state export", "hosts list"),
    }
)
"""The verbs that work on an ensemble of a store."""

_KEY = "it needs the ensemble's key, which is on the server's machine alone"

LOCAL_ONLY: Mapping[str, str] = {"secrets get": _KEY}
"""The verbs that are refused where a server is named, and why."""
