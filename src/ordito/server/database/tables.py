"""The tables of the server: what cannot be found out from ensembles. Times are seconds since the epoch."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Dialect,
    Float,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    TypeDecorator,
)

METADATA = MetaData()


class InHome(TypeDecorator[str]):
    """A path. Where several servers share the database, one below the home is kept as seen from there, since each has a
    home of its own."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """The path as it is kept."""
        home = getattr(dialect, HOME, "")
        is_below = bool(home) and value is not None and value.startswith(f"{home}/")
        return f"{BELOW}{value[len(home) + 1 :]}" if value is not None and is_below else value

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        """The path on this machine."""
        home = getattr(dialect, HOME, "")
        return f"{home}/{value[len(BELOW) :]}" if value is not None and home and value.startswith(BELOW) else value


HOME, BELOW = "ordito_home", "~/"
"""The attribute of a dialect that has the home of a server, and how paths below it begin."""


def _text(name: str, *, key: bool = False) -> Column[str]:
    return Column(name, Text, primary_key=key, nullable=False)


def _time(name: str) -> Column[float]:
    return Column(name, Float, nullable=False)


LARGE = Integer().with_variant(BigInteger(), "postgresql")
"""A count of bytes."""

USERS = Table(
    "user",
    METADATA,
    _text("name", key=True),
    # Argon2id; "" where there is none, so that nobody can sign in with a password.
    _text("password"),
    Column("admin", Boolean, nullable=False),
    Column("auditor", Boolean, nullable=False),
    Column("disabled", Boolean, nullable=False),
    _time("created"),
)

IDENTITIES = Table(
    "identity",
    METADATA,
    _text("issuer", key=True),
    _text("subject", key=True),
    Column("user", Text, nullable=False, unique=True),
)
"""As whom a provider of OpenID Connect knows users: by its own id, which stays, never by a name or an address."""

MEMBERS = Table(
    "member",
    METADATA,
    _text("team", key=True),
    _text("user", key=True),
    # The provider that has said so when the user signed in the last time; "" where an administrator has.
    Column("issuer", Text, nullable=False, server_default=""),
)
"""Who belongs to a group; a group without members is not known."""

SESSIONS = Table(
    "session",
    METADATA,
    _text("id", key=True),
    Column("hash", LargeBinary, nullable=False, unique=True),
    _text("user"),
    _text("address"),
    _text("agent"),
    _time("created"),
    _time("seen"),
    # The provider by which it began, "" for none.
    Column("issuer", Text, nullable=False, server_default=""),
)

LINKS = Table(
    "link",
    METADATA,
    Column("hash", LargeBinary, primary_key=True),
    _text("user"),
    _time("expires"),
)
"""Links with which somebody signs in once."""

PROJECTS = Table("project", METADATA, _text("name", key=True), _text("description"), _time("created"))


def _of_project() -> ForeignKeyConstraint:
    return ForeignKeyConstraint(["project"], ["project.name"], ondelete="CASCADE")


ACCOUNTS = Table(
    "account",
    METADATA,
    _text("project", key=True),
    _text("name", key=True),
    _time("created"),
    _of_project(),
)

TOKENS = Table(
    "token",
    METADATA,
    _text("id", key=True),
    Column("hash", LargeBinary, nullable=False),
    _text("name"),
    # A user, where there is no project, or an account of the project.
    _text("project"),
    _text("owner"),
    # "" for all that its owner may do.
    _text("role"),
    # Names with a space between them; "" for all.
    _text("projects"),
    _time("expires"),
    _time("created"),
    _time("used"),
    # The user who made a token of an account, and holds what it can do; "" for a token of one's own.
    Column("made_by", Text, nullable=False, server_default=""),
)

BINDINGS = Table(
    "binding",
    METADATA,
    _text("project", key=True),
    # "" for all of the project.
    _text("ensemble", key=True),
    # user, group or account
    _text("kind", key=True),
    _text("who", key=True),
    _text("role", key=True),
    _of_project(),
)

ENSEMBLES = Table(
    "ensemble",
    METADATA,
    _text("project", key=True),
    _text("name", key=True),
    Column("directory", InHome, nullable=False),
    _time("created"),
    # JSON: labels by name.
    Column("labels", Text, nullable=False, server_default="{}"),
    # The digest of the package that it is made of, "" for none.
    Column("package", Text, nullable=False, server_default=""),
    # Where the service lies that an ensemble deploys which was added where it lies; NULL until that was found out.
    Column("reads", Text, nullable=True),
    ForeignKeyConstraint(["project"], ["project.name"]),
)


def _of_ensemble() -> ForeignKeyConstraint:
    return ForeignKeyConstraint(["project", "ensemble"], ["ensemble.project", "ensemble.name"], ondelete="CASCADE")


PLANS = Table(
    "plan",
    METADATA,
    _text("id", key=True),
    _text("project"),
    _text("ensemble"),
    # Who has asked for it: a kind of principal, and its id.
    _text("kind"),
    _text("who"),
    # The user behind that: who made the token of an account, the schedule or the source; "" for the author itself.
    Column("made_by", Text, nullable=False, server_default=""),
    _text("workflow"),
    # What was asked, sealed with the server's key: it may hold values of inputs.
    Column("request", LargeBinary, nullable=False),
    _text("comment"),
    # ask or auto; exact or latest
    _text("apply"),
    _text("bind"),
    _text("state"),
    _text("digest"),
    # JSON: totals and risks, and the approvals that are wanted.
    _text("about"),
    _text("wanted"),
    # JSON: a problem, "" for none.
    _text("problem"),
    # Who has applied it.
    _text("applied"),
    _text("job"),
    _text("job_status"),
    # How often its process, or its runner, was started.
    Column("attempts", Integer, nullable=False),
    _time("created"),
    _time("changed"),
    _time("queued"),
    _time("expires"),
    _of_ensemble(),
    Index("plan_of_ensemble", "project", "ensemble", "id"),
    Index("plan_in_state", "state"),
)
"""What somebody has asked for, from the request to its job."""

PLAN_FILES = Table(
    "plan_file",
    METADATA,
    _text("plan", key=True),
    # As ``plans/files.py`` names them.
    _text("kind", key=True),
    Column("body", LargeBinary, nullable=False),
    ForeignKeyConstraint(["plan"], ["plan.id"], ondelete="CASCADE"),
)
"""The files of plans, where several servers need them."""

APPROVALS = Table(
    "approval",
    METADATA,
    _text("plan", key=True),
    _text("who", key=True),
    _text("digest"),
    # approve or reject
    _text("decision"),
    _text("comment"),
    _time("created"),
    ForeignKeyConstraint(["plan"], ["plan.id"], ondelete="CASCADE"),
)

RULES = Table(
    "rules",
    METADATA,
    _text("project", key=True),
    # "" for all of the project.
    _text("ensemble", key=True),
    # JSON
    _text("body"),
    _of_project(),
)
"""Which approvals plans need."""

FREEZES = Table(
    "freeze",
    METADATA,
    # "" for the whole server, or all of the project.
    _text("project", key=True),
    _text("ensemble", key=True),
    _text("reason"),
    _text("who"),
    # 0 for no end.
    _time("until"),
    _time("created"),
)

SETTINGS = Table("setting", METADATA, _text("name", key=True), _text("body"))
"""What administrators have set through the API, as JSON."""

PACKAGES = Table(
    "package",
    METADATA,
    _text("project", key=True),
    # SHA-256 of the archive, in hex.
    _text("digest", key=True),
    Column("size", LARGE, nullable=False),
    # JSON: what is in it.
    _text("summary"),
    _text("who"),
    _time("created"),
    _of_project(),
)

LABELS = Table(
    "label",
    METADATA,
    _text("project", key=True),
    _text("name", key=True),
    _text("version", key=True),
    _text("digest"),
    _time("created"),
    ForeignKeyConstraint(["project", "digest"], ["package.project", "package.digest"], ondelete="CASCADE"),
)

SCHEDULES = Table(
    "schedule",
    METADATA,
    _text("id", key=True),
    _text("project"),
    _text("ensemble"),
    _text("name"),
    # Five fields, and the name of a time zone.
    _text("cron"),
    _text("zone"),
    # As in a plan.
    Column("request", LargeBinary, nullable=False),
    _text("apply"),
    Column("paused", Boolean, nullable=False),
    _text("who"),
    # Who made the token with which an account has set it.
    Column("made_by", Text, nullable=False, server_default=""),
    _time("created"),
    # When its next turn is, when the last one was, and what came of that.
    _time("next"),
    _time("last"),
    _text("outcome"),
    _of_ensemble(),
)

SOURCES = Table(
    "source",
    METADATA,
    _text("project", key=True),
    _text("ensemble", key=True),
    # The id in the address of its hook.
    Column("id", Text, nullable=False, unique=True),
    _text("repository"),
    _text("branch"),
    _text("path"),
    _text("apply"),
    # Sealed with the server's key.
    Column("secret", LargeBinary, nullable=False),
    # Seconds between two looks, 0 for none.
    _time("every"),
    _time("looked"),
    # When a push, or somebody, has asked for a look the last time.
    _time("asked"),
    # The last commit of which a plan was made, and why the last look failed.
    _text("revision"),
    _text("problem"),
    _text("who"),
    # As of a schedule.
    Column("made_by", Text, nullable=False, server_default=""),
    _time("created"),
    _of_ensemble(),
)
"""Git repositories that ensembles follow."""

DRIFTS = Table(
    "drift",
    METADATA,
    _text("project", key=True),
    _text("ensemble", key=True),
    # JSON: what was found.
    _text("found"),
    _time("created"),
    _of_ensemble(),
)
"""What the last look for drift found."""

WEBHOOKS = Table(
    "webhook",
    METADATA,
    _text("id", key=True),
    _text("project"),
    _text("url"),
    # Sealed with the server's key.
    Column("secret", LargeBinary, nullable=False),
    # JSON lists: types of events, and names of ensembles; an empty one for all.
    _text("events"),
    _text("ensembles"),
    Column("paused", Boolean, nullable=False),
    # The number of the last event of which a delivery was made.
    Column("seen", Integer, nullable=False),
    _text("who"),
    _time("created"),
    _of_project(),
)

DELIVERIES = Table(
    "delivery",
    METADATA,
    _text("id", key=True),
    _text("webhook"),
    Column("event", Integer, nullable=False),
    _text("type"),
    _text("body"),
    # waiting, done or failed
    _text("state"),
    Column("attempts", Integer, nullable=False),
    _time("next"),
    _text("outcome"),
    _time("created"),
    ForeignKeyConstraint(["webhook"], ["webhook.id"], ondelete="CASCADE"),
    Index("delivery_of_webhook", "webhook", "event"),
)

LOGINS = Table(
    "login",
    METADATA,
    _text("id", key=True),
    # What the user types, and the hash of what the command knows.
    Column("code", Text, nullable=False, unique=True),
    Column("hash", LargeBinary, nullable=False),
    # What wants to sign in, as in "ordito on laptop".
    _text("name"),
    _text("address"),
    # The user who has confirmed it, "" for nobody yet.
    _text("user"),
    _time("expires"),
)
"""Sign-ins of commands that a browser confirms."""

PROVIDER_LOGINS = Table(
    "provider_login",
    METADATA,
    # Hashes: of the state that goes to the provider and comes back, and of what the browser keeps meanwhile.
    Column("state", LargeBinary, primary_key=True),
    Column("browser", LargeBinary, nullable=False),
    # What belongs to it, sealed with the server's key: nonce, verifier, and the page that is shown afterwards.
    Column("sealed", LargeBinary, nullable=False),
    _text("address"),
    _time("expires"),
    Index("provider_login_of_address", "address"),
)
"""Browsers that were sent to a provider to sign in."""

EVENTS = Table(
    "event",
    METADATA,
    Column("number", Integer, primary_key=True, autoincrement=True),
    _text("topic"),
    _text("type"),
    # "" for those of the whole server.
    _text("project"),
    _text("ensemble"),
    # JSON
    _text("body"),
    _time("created"),
    Index("event_of_topic", "topic", "number"),
    sqlite_autoincrement=True,
)
"""What the server itself has to tell, written in the transaction of what it tells."""

LEADERS = Table(
    "leader",
    METADATA,
    _text("name", key=True),
    _text("holder"),
    # By the clock of the database.
    _time("until"),
)
"""Which of several servers does what only one may do, and until when."""

SERVER_KEYS = Table("server_key", METADATA, Column("digest", LargeBinary, primary_key=True))
"""The hash of the key with which servers seal what they keep here."""

ANSWERS = Table(
    "idempotency",
    METADATA,
    _text("principal", key=True),
    _text("key", key=True),
    Column("digest", LargeBinary, nullable=False),
    Column("answer", LargeBinary, nullable=False),
    _time("expires"),
)
"""Answers that are given again, sealed with the server's key."""

AUDIT = Table(
    "audit",
    METADATA,
    Column("number", Integer, primary_key=True, autoincrement=False),
    _time("time"),
    _text("principal"),
    _text("by"),
    _text("address"),
    _text("request"),
    _text("action"),
    _text("project"),
    _text("ensemble"),
    _text("object"),
    _text("outcome"),
    _text("detail"),
    Column("hash", LargeBinary, nullable=False),
    Index("audit_of_project", "project", "number"),
)
"""What was done: each row has the hash of itself and of the row before it."""
