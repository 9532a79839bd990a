"""Routes: what the API can be asked, as values. Dispatch, permissions, OpenAPI and the reference are made from them."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Annotated, Any, Generic, TypeVar
from urllib.parse import quote

import msgspec

from ordito.results.failure import NextStep
from ordito.results.picture.folding import MOST, USUAL
from ordito.server.compression import KeptGzip
from ordito.server.permissions import Access, Permission
from ordito.work.workflows import WORKFLOWS

T = TypeVar("T")

FARTHEST = (1 << 62) - 1
"""The farthest place in a file or a table that a request may name."""

JSON = "application/json"
SECRETS = frozenset({"token", "link", "secret"})
"""The fields of answers in which secrets are: by these, an answer is known not to be compressed."""

BASE = "/api/v1"
PROJECT = BASE + "/projects/{project}"
ENSEMBLE = PROJECT + "/ensembles/{ensemble}"

Handler = Callable[[Any], Awaitable["Reply"]]
"""Answers a ``Call`` (``call.py``)."""


class Reply(msgspec.Struct, frozen=True):
    """What a route answers: a struct, or bytes that are its JSON already, or text of another ``media`` type."""

    data: object = None
    status: int = 0
    """0 for that of the route."""

    headers: Mapping[str, str] = {}
    media: str = JSON
    gzip: KeptGzip | None = None
    """Where the compressed form of ``data`` is kept, None for nowhere."""


class Fields(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Fields of a request: of its body, or of its query."""


Wanted = Annotated[str, msgspec.Meta(max_length=1_000)]
"""The fields of each item of a list that are wanted, with commas between their names."""

FIELDS = "fields"
"""The parameter of lists with which these are asked for."""


class PageFields(Fields, frozen=True):
    """Which part of a list is wanted."""

    limit: Annotated[int, msgspec.Meta(ge=1, le=500)] = 50
    after: str = ""
    """The cursor with which the part before it ended, "" for the first part."""

    fields: Wanted = ""
    """The fields of each item that are wanted, with commas between their names; "" for all."""


class TopologyQuery(Fields, frozen=True):
    """How much of a picture is wanted."""

    boxes: Annotated[int, msgspec.Meta(ge=1, le=MOST)] = USUAL
    """At most so many boxes; what does not fit is folded into others."""

    open: tuple[str, ...] = ()
    """The ids of boxes whose content is to be shown, as long as there are not more than 400 boxes."""


class ListPart(msgspec.Struct, Generic[T], frozen=True):
    """A part of a list."""

    items: tuple[T, ...]
    next: str | None
    """The cursor for the next part, null at the end."""


_NAMED = re.compile(r"\{(\w+)\}")


NOT_IN_STORE = "not-in-store"
"""The problem of routes that change files which an ensemble of a store does not have: a server over a store refuses all
of them."""


class Route(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that can be asked."""

    method: str
    path: str
    """Names in braces are one part of a path each; ``{name:path}`` is all that follows, slashes too."""

    access: Permission | Access
    """Who may ask: by a permission in the project or ensemble that the path names, or on the server."""

    summary: str
    handler: Handler
    query: type[msgspec.Struct] = Fields
    body: type[msgspec.Struct] | None = None
    stream: str = ""
    """The media type of a body that is no JSON, and that the handler takes piece by piece; "" for none."""

    answers: tuple[Any, ...] = ()
    """The types of its answers, none for an empty one."""

    status: int = 200
    problems: tuple[str, ...] = ()
    """The codes of problems that it can answer besides those that every route can."""

    of_part: bool = False
    """Whether who may see no more of a project than an ensemble may ask too, and is answered with what belongs to
    that."""

    keyed: bool = False
    """Whether it takes an ``Idempotency-Key``: the same again gets the stored answer."""

    verb: str = ""
    """The verb of the command for it, "" where there is none yet."""

    media: str = JSON
    """The media type of its answers."""

    @property
    def changes(self) -> bool:
        """Whether it changes something."""
        return self.method not in ("GET", "HEAD")

    @property
    def template(self) -> str:
        """The path with nothing but names in its braces."""
        return self.path.replace(":path}", "}")

    def address(self, names: Mapping[str, str]) -> str:
        """The path with the names in it that are known, "" where one is missing."""
        if not set(_NAMED.findall(self.template)) <= names.keys():
            return ""
        return _NAMED.sub(lambda found: quote(names[found[1]]), self.template)

    @property
    def is_secret(self) -> bool:
        """Whether its answers may hold a secret for who asks, as a new token."""
        return any(not SECRETS.isdisjoint(getattr(kind, "__struct_fields__", ())) for kind in self.answers)

    @property
    def takes_body(self) -> bool:
        """Whether a request has a body."""
        return self.body is not None or bool(self.stream)

    @property
    def name(self) -> str:
        """A name that no other route has, made of method and path."""
        words = self.template.removeprefix(BASE).replace("{", "").replace("}", "").replace("/", " ").replace(".", " ")
        return "_".join([self.method.lower(), *words.replace("-", " ").split()])


def route(
    method: str,
    path: str,
    access: Permission | Access,
    summary: str,
    handler: Handler,
    *,
    problems: Iterable[str] = (),
    **more: Any,
) -> Route:
    """A route as it stands in tables; ``more`` are further fields of it. That the project and the ensemble of its path
    may be unknown need not be said."""
    unknown = (f"unknown-{name}" for name in ("project", "ensemble") if f"{{{name}}}" in path)
    codes = tuple(dict.fromkeys((*unknown, *problems)))
    return Route(method=method, path=path, access=access, summary=summary, handler=handler, problems=codes, **more)


class Ways:
    """The requests that do what verbs of the command do."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self._by_verb: dict[str, Route] = {}
        for route in routes:
            # The first one of a verb is the usual one.
            if route.verb:
                self._by_verb.setdefault(route.verb, route)

    def with_requests(self, steps: Iterable[NextStep], known: Mapping[str, str]) -> tuple[NextStep, ...]:
        """The same steps, each with the request that does it, as far as the names that are known say what it is
        about."""
        return tuple(self._with_request(step, known) for step in steps)

    def _with_request(self, step: NextStep, known: Mapping[str, str]) -> NextStep:
        first = step.words[0] if step.words else ""
        two = " ".join(step.words[:2])
        # A job is begun by a plan, whatever its workflow.
        route = self._by_verb.get("plan" if first in WORKFLOWS else two) or self._by_verb.get(first)
        if step.path or route is None or not (path := route.address(known)):
            return step
        return msgspec.structs.replace(step, method=route.method, path=path)
