"""The page about environment variables: those that the program reads, and those that operations and blocks get."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import yaml

from ordito.executors.environment import BASE_NAMES
from tools.reference.markdown import MADE, cell, joined, table
from tools.reference.structs import FOLDER

HEAD = f"""\
# Environment variables

This page is good for knowing what the surroundings of a command decide, and what an operation or a block finds in
its own.

{MADE}
"""
PROGRAM = """\
## What Ordito reads

Options win over variables. Besides these, `{ env: NAME }` and `{{ env.NAME }}` in `ensemble.yaml` and in an
inventory read any variable that they name.
"""
OTHERS = """\
Programs that Ordito starts read their own: `ssh` agents are found by `SSH_AUTH_SOCK`; git gets the variables that say
who commits and how servers are reached (`GIT_AUTHOR_NAME`, `GIT_SSH_COMMAND` and the like), and none that would lead it
to another repository; Ansible gets those for collections and engines of containers (`ANSIBLE_COLLECTIONS_PATH`,
`DOCKER_HOST` and the like).
"""
OPERATIONS = """\
## What operations find

An operation sees nothing of the environment of the command but a few basic variables, so that it runs the same from a
terminal and from a service manager:
"""
OWN = """\
On a host that is reached by SSH they are those of that host. Over them come the `variables` of `ensemble.yaml`, and
over those what is the operation's own:
"""
INPUTS = """\
Besides there is each input under its own name, and once for each instance as `INSTANCE_INPUT` (`web_1_port`); the
path of each artifact of the node; and the properties of each connection of `ensemble.yaml`, as in `CLOUD_URL`. What
exactly is there for which operation is told by [the lifecycle](../lifecycle.md).
"""
BLOCKS = """\
## What blocks find
"""
TAIL = """\
Next: [blocks](../blocks.md), [file formats](file-formats.md).
"""


def variables() -> Mapping[str, Mapping[str, str]]:
    """The variables with their meanings, by who finds them: ``program``, ``operations`` or ``blocks``."""
    found: Mapping[str, Mapping[str, str]] = yaml.load(
        (FOLDER / "environment.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader
    )
    return found


def document() -> str:
    """The whole page."""
    return joined(_lines())


def _lines() -> Iterator[str]:
    known = variables()
    yield HEAD
    yield PROGRAM
    yield from _table(known["program"])
    yield OTHERS
    yield OPERATIONS
    yield f"{', '.join(f'`{name}`' for name in BASE_NAMES)}, and all that begin with `LC_`."
    yield ""
    yield OWN
    yield from _table(known["operations"])
    yield INPUTS
    yield BLOCKS
    yield from _table(known["blocks"])
    yield TAIL


def _table(known: Mapping[str, str]) -> Iterator[str]:
    yield from table(("variable", "meaning"), [(f"`{name}`", cell(meaning)) for name, meaning in known.items()])
