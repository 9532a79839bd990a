"""Where a script runs: in the service's own tree, or in a copy of a part of it that brings its dependencies to it.

An operation's dependencies must be found in the folder of its script (TOSCA 1.3 §3.6.16) and also where the service
has them, relative to it (``../lib/x``, §13.2.5). When all of them lie in the script's folder, the script runs where it
is. When not, a part of the tree is made anew in the operation's slot: the folders on the way to the script are real,
the script and its dependencies beside it are copies, and everything else in those folders is a link into the service.
So ``$(dirname "$0")/x`` and ``$(dirname "$0")/../lib/x`` both hold, also after ``readlink -f "$0"``.

Templates are filled, and lie beside the script as if they had been written for this very run.

Dependencies are brought in the declared order; where two have the same name the first has it, and the other is still
where the service has it. The script itself is never replaced.
"""

# Paths are texts here: they come as texts, go to the kernel, and there may be very many.
# ruff: noqa: PTH102, PTH119, PTH120, PTH211

from __future__ import annotations

import os
from collections.abc import Container, Mapping, Sequence

from ordito.executors.copies import copy_tree, in_tree
from ordito.executors.environment_files import write_private


def runs_in_place(artifact: str, dependencies: Sequence[str]) -> bool:
    """Whether all dependencies lie in the script's folder."""
    folder = os.path.dirname(os.path.normpath(artifact))
    return all(os.path.dirname(os.path.normpath(dependency)) == folder for dependency in dependencies)


def build(root: str, artifact: str, dependencies: Sequence[str], tree: str, filled: Mapping[str, str]) -> str:
    """Make the part of the tree; the path of the script in it. ``filled`` are the texts of files to put beside the
    script, by name: they are for the operation alone, and come before dependencies of the same name. Raises
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
    """Write the files that templates give, and nothing else; the path of the one of that name."""
    os.mkdir(tree, 0o700)
    for file, text in filled.items():
        write_private(f"{tree}/{file}", text, 0o600)
    return f"{tree}/{name}"


def _link_all(source: str, target: str, *, but: Container[str]) -> None:
    """Make a link for everything in a folder but for some names."""
    with os.scandir(source) as entries:
        for entry in entries:
            if entry.name not in but:
                os.symlink(entry.path, f"{target}/{entry.name}")
