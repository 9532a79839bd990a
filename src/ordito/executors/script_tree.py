"""Where a script runs: in the service's own tree, or in a copy of a part of it with its dependencies beside it.

An operation's dependencies must be in the folder of its script (TOSCA 1.3 §3.6.16) and also at their relative path in
the service (``../lib/x``, §13.2.5). If all of them are in the script's folder, the script runs there. If not, a part of
the tree is rebuilt in the operation's work directory: the folders on the path to the script are real, the script and
its dependencies beside it are copies, and everything else in those folders is a link into the service. So ``$(dirname
"$0")/x`` and ``$(dirname "$0")/../lib/x`` both work, also after ``readlink -f "$0"``.

Templates are filled, and put beside the script as if they had been written for this run.

Dependencies are copied in the declared order; of two with the same name the first gets it, and the other is still at
its path in the service. The script itself is never replaced.
"""

# Paths are texts here: they come as texts, go to the kernel, and there may be very many.
# ruff: noqa: PTH102, PTH119, PTH120, PTH211

from __future__ import annotations

import os
from collections.abc import Container, Mapping, Sequence
from pathlib import Path

import msgspec

from ordito.executors.copies import Unusable, copy_tree, in_tree
from ordito.executors.environment import write_private
from ordito.work.invocation import SCRATCH, Invocation
from ordito.work.needs import filled_name


def runs_in_place(artifact: str, dependencies: Sequence[str]) -> bool:
    """Whether all dependencies are in the script's folder."""
    folder = os.path.dirname(os.path.normpath(artifact))
    return all(os.path.dirname(os.path.normpath(dependency)) == folder for dependency in dependencies)


def build(root: str, artifact: str, dependencies: Sequence[str], tree: str, filled: Mapping[str, str]) -> str:
    """Build the part of the tree; returns the path of the script in it. ``filled`` are the texts of files to put beside
    the script, by name: they are for this operation alone, and override dependencies of the same name. Raises
    ``Unusable`` and ``OSError``."""
    script = os.path.normpath(artifact)
    sources = [in_tree(root, dependency) for dependency in dependencies]
    source, target = root, tree
    os.mkdir(target, 0o700)
    for part in os.path.dirname(script).split("/") if os.path.dirname(script) else ():
        _link_all(source, target, but={part})
        source, target = f"{source}/{part}", f"{target}/{part}"
        os.mkdir(target)
    name = os.path.basename(script)
    copies = {name: f"{source}/{name}"}
    for dependency in sources:
        copies.setdefault(os.path.basename(dependency), dependency)
    _link_all(source, target, but={*copies, *filled})
    for copy, origin in copies.items():
        if copy not in filled:
            copy_tree(origin, f"{target}/{copy}")
    for file, text in filled.items():
        write_private(f"{target}/{file}", text, 0o600)
    return f"{target}/{name}"


def write_filled(tree: str, filled: Mapping[str, str], name: str) -> str:
    """Write filled templates, and nothing else; returns the path of the one with that name."""
    os.mkdir(tree, 0o700)
    for file, text in filled.items():
        write_private(f"{tree}/{file}", text, 0o600)
    return f"{tree}/{name}"


def _link_all(source: str, target: str, *, but: Container[str]) -> None:
    """Link everything in a folder except some names."""
    with os.scandir(source) as entries:
        for entry in entries:
            if entry.name not in but:
                os.symlink(entry.path, f"{target}/{entry.name}")


# Templates that are filled before an operation runs (TOSCA 1.3 §5.4.5, §13.2.5).

MOST_HINT = 300
"""How many characters of a message list the names that a template may use."""


def filled(invocation: Invocation, scratch: str) -> dict[str, str]:
    """The texts of an invocation's templates, by the names that they get beside the script; ``scratch`` is the folder
    that replaces ``SCRATCH``. Raises ``Unusable``, with the template and the line, for one that cannot be filled."""
    needs = invocation.needs
    if needs is None or not needs.templates:
        return {}
    # Few operations have templates, and importing this takes a tenth of a second.
    from ordito.base.templating.sandbox import Sandbox, Unevaluated

    values = msgspec.json.encode({**invocation.environment, **needs.values})
    stands_for = msgspec.json.encode(f"{scratch}/")[1:-1]
    sandbox = Sandbox(msgspec.json.decode(values.replace(SCRATCH.encode(), stands_for), type=dict[str, object]))
    script = invocation.artifact.rpartition("/")[2]
    found: dict[str, str] = {}
    for template in needs.templates:
        name = filled_name(template)
        if name in found or (name == script and template != invocation.artifact):
            raise Unusable(f"the template {template} cannot be filled to {name}: something else has that name")
        try:
            found[name] = sandbox.text(_read(invocation.root, template))
        except Unevaluated as wrong:
            where = f"{template}:{wrong.line}" if wrong.line else template
            hint = f"; {wrong.hint}" if wrong.hint and len(wrong.hint) <= MOST_HINT else ""
            raise Unusable(f"{where}: {wrong.message}{hint}") from None
    return found


def _read(root: str, template: str) -> str:
    try:
        return Path(in_tree(root, template)).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise Unusable(f"the template {template} is not UTF-8 text (byte {error.start})") from None
    except OSError as error:
        raise Unusable(f"the template {template} cannot be read ({error.strerror})") from None
