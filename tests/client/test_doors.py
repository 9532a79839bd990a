"""What a server can do is reached by command, and what a command can do there by a route; or it is said why not."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from ordito.cli.places import AT_SERVER, BEGINNING, LOCAL_ONLY, ON_THIS_MACHINE
from ordito.server.processes.looks import SERVER_LOOKS
from ordito.server.routes.table import ROUTES


class Doors(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table."""

    verbs: Mapping[str, str]
    without: Mapping[str, str]
    use_cases: Mapping[str, str]


CHANGE_ROUTES = msgspec.yaml.decode(Path(__file__).with_name("doors.yaml").read_bytes(), type=Doors)
VERBS = {*AT_SERVER, *ON_THIS_MACHINE, *LOCAL_ONLY}
NAMED = {f"{route.method} {route.template}": route.verb for route in ROUTES}


def test_every_route_has_a_command_or_a_reason() -> None:
    unnamed = {route for route, verb in NAMED.items() if not verb}
    assert not {*CHANGE_ROUTES.verbs} & {*CHANGE_ROUTES.without}
    assert {*CHANGE_ROUTES.verbs, *CHANGE_ROUTES.without} == unnamed
    assert {verb for verb in (*NAMED.values(), *CHANGE_ROUTES.verbs.values()) if verb} <= VERBS
    assert all(CHANGE_ROUTES.without.values())


def test_every_verb_at_a_server_has_a_route() -> None:
    # Verbs that begin a job ask for a plan; "logout" ends the token with which it asks.
    reached = {*NAMED.values(), *CHANGE_ROUTES.verbs.values()}
    others = {*BEGINNING, "logout", "policy show", "plans reject"}
    assert NAMED["POST /api/v1/projects/{project}/ensembles/{ensemble}/plans"]
    assert AT_SERVER - reached - others == set()


def test_every_use_case_has_a_verb_and_a_route() -> None:
    named = {name for name in SERVER_LOOKS if name in VERBS}
    assert {*CHANGE_ROUTES.use_cases} == {*SERVER_LOOKS} - named
    assert {*CHANGE_ROUTES.use_cases.values()} <= {*NAMED}
    assert named <= {*NAMED.values(), *CHANGE_ROUTES.verbs.values()}
