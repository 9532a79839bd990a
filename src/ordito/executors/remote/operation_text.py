"""The text that a shell on a host reads to run one operation. Every value in it is quoted; none is an argument of a
process.

It is one compound command: a shell that gets only the beginning of it, because the connection is lost, runs nothing.
"""

# Paths are texts here: they come as texts, and are those of another machine.
# ruff: noqa: PTH119, PTH120

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from shlex import quote

import msgspec

from ordito.executors.commands import OLD_PYTHON, placing_words, read_head
from ordito.executors.copies import LARGEST, MOST_FILES, Unusable, in_tree, path_in_tree
from ordito.executors.environment import ENVIRONMENT_FILE, ProcessEnvironment, unfit_variable
from ordito.executors.environment import SHELL_NAME as NAME
from ordito.executors.interpreters import finding, version_of
from ordito.executors.outcomes import tells_result
from ordito.executors.process_table import JOB, OUTPUTS, STEP
from ordito.executors.remote.tree import LocalFile, Tree
from ordito.executors.script_tree import filled
from ordito.executors.shell import UnusableInterpreter, interpreter_of, wrapper
from ordito.model.deploying import PLACING
from ordito.work.invocation import SCRATCH, FilePlacement, Hold, Invocation
from ordito.work.needs import filled_name

SHELL = "tosca.artifacts.Implementation.Bash"
PYTHON = "tosca.artifacts.Implementation.Python"
KINDS = frozenset({SHELL, PYTHON, PLACING})
"""The kinds of artifact that run on other hosts, with types derived from them, and the kind that is put in place there.
"""

STALE = 97
"""The exit status of a shell that does not find the tools."""

READ_ONLY = frozenset({"UID", "EUID", "PPID", "SHELLOPTS", "BASHOPTS", "BASH_VERSINFO"})
"""Variables that a shell sets itself and that cannot be given to it."""


class HostSpot(msgspec.Struct, frozen=True):
    """Where an operation runs on its host.

    ``tools`` and ``tree`` are folders, and so is ``slot``, the work directory of its shell. ``shared`` is a file of
    variables for several operations; ``script`` is its script, if that is not in the tree; ``helpers`` is the folder of
    programs that are given to it, "" for none.
    """

    tools: str
    tree: str
    slot: str
    shared: str = ""
    script: str = ""
    helpers: str = ""


def outputs_path(slot: str, word: str) -> str:
    """The path of ``$ORDITO_OUTPUTS`` of an attempt; every process of the attempt has it in its environment, and is
    found by it."""
    return f"{slot}/{word}.json"


def identity(job: str, step: str, attempt: int) -> str:
    """The word that identifies one attempt of a step."""
    return blake2b(f"{job}\0{step}\0{attempt}".encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()


def identity_of(invocation: Invocation) -> str:
    """The word that identifies an invocation."""
    return identity(invocation.job, invocation.step, invocation.attempt)


def named_files(invocation: Invocation) -> list[str]:
    """Paths in the tree that an operation names, as its artifact or in its variables: it may need these even if they
    are large. A folder includes everything in it."""
    named = {os.path.normpath(f) for f in (invocation.artifact, *invocation.dependencies)}
    named.update(os.path.normpath(p.file) for p in invocation.files if "://" not in p.file)
    start = f"{invocation.root.rstrip('/')}/"
    for variables in (invocation.environment, invocation.large):
        for value in variables.values():
            if start in value:
                named.update(_paths_in(value, start))
    return sorted(named)


def _paths_in(value: str, start: str) -> Iterator[str]:
    if value.startswith(start):
        yield os.path.normpath(value.removeprefix(start))
    for part in value.split(start)[1:]:
        for end in ('"', "'", ":", " ", ",", "\n"):
            part = part.split(end, 1)[0]
        yield os.path.normpath(part)


def words_of_epoch(hold: Hold | None) -> dict[str, str]:
    """What a shell is told of the epoch in which it begins something, by name."""
    if hold is None:
        return {}
    epoch = hold.epoch
    worker, ensemble = (blake2b(word.encode(), digest_size=8).hexdigest() for word in (epoch.worker, epoch.ensemble))
    return {"epoch": str(epoch.number), "worker": worker, "epochs": f"epochs/{ensemble}"}


def operation_text(invocation: Invocation, tree: Tree, spot: HostSpot, mark: str, hold: Hold | None = None) -> str:
    """The text; raises ``Unusable`` for an artifact that cannot be run, and ``ValueError`` for variables that no
    process can get."""
    environment = _environment(invocation, spot)
    texts = _filled(invocation, spot)
    if texts:
        spot = msgspec.structs.replace(spot, script=f"{spot.slot}/tree/{os.path.normpath(invocation.artifact)}")
    lines = [
        "{",
        f"ordito_mark={mark} ordito_identity={identity_of(invocation)}",
        *(f"ordito_{name}={word}" for name, word in words_of_epoch(hold).items()),
        "(",
        "ordito_begin",
        *_files(spot.slot, environment),
        *_tree(invocation, spot, texts),
        *_copies(invocation, tree, spot),
        *_documents(invocation, spot),
        *_exports(environment.variables),
        *_helpers(spot),
        *([f"ordito_folder={quote(invocation.launch.folder)}"] if invocation.launch.folder else []),
        *_started(invocation, spot, environment),
        ")",
        f"ordito_end $? {'wanted' if tells_result(invocation) else quote('')}",
        "}",
    ]
    return "\n".join(lines) + "\n"


def opening_text(tools: str, slot: str) -> str:
    """The first text that is sent to a shell."""
    return f'ordito_tools={quote(tools)} ordito_slot={quote(slot)}\n. "$ordito_tools/operation.sh" || exit {STALE}\n'


def environment_text(invocation: Invocation, tree: str) -> str:
    """The text of the variables that are too large, as all operations on one host can share it; "" if they cannot."""
    if any(SCRATCH in value for value in invocation.large.values()):
        return ""
    moved = _moved(invocation.large, invocation.root, tree)
    return ProcessEnvironment(
        msgspec.structs.replace(invocation, environment={}, large=moved),
        {},
        scratch="",
        outputs="",
        file="-",
        shared="",
    ).file


def _environment(invocation: Invocation, spot: HostSpot) -> ProcessEnvironment:
    moved = msgspec.structs.replace(
        invocation,
        environment=_moved(invocation.environment, invocation.root, spot.tree),
        large=_moved(invocation.large, invocation.root, spot.tree),
    )
    if problem := unfit_variable({**moved.environment, **moved.large}):
        raise Unusable(f"{invocation.artifact} was not started: {problem}")
    slot = spot.slot
    return ProcessEnvironment(
        moved,
        {},
        scratch=f"{slot}/work",
        outputs=outputs_path(slot, identity_of(invocation)),
        file=f"{slot}/environment",
        shared=spot.shared if invocation.large else "",
    )


def _moved(variables: Mapping[str, str], root: str, tree: str) -> Mapping[str, str]:
    """The variables, with paths of the service as they are on the host."""
    root = root.rstrip("/")
    if not any(root in value for value in variables.values()):
        return variables
    return {n: _moved_value(v, root, tree) if root in v else v for n, v in variables.items()}


def _moved_value(value: str, root: str, tree: str) -> str:
    return tree if value == root else value.replace(f"{root}/", f"{tree}/")


def _files(slot: str, environment: ProcessEnvironment) -> Iterator[str]:
    for path, text in ((f"{slot}/environment", environment.file), (f"{slot}/unexported", environment.unexported)):
        if text:
            yield _written(path, text)


def _documents(invocation: Invocation, spot: HostSpot) -> Iterator[str]:
    """The text that writes the documents of an operation, and exports where they are."""
    moved = _moved(dict(invocation.documents), invocation.root, spot.tree)
    for name, text in moved.items():
        path = f"{spot.slot}/document.{name}"
        yield _written(path, text)
        yield f"export {name}={quote(path)}"


def _helpers(spot: HostSpot) -> Iterator[str]:
    if spot.helpers:
        yield f'export PATH={quote(spot.helpers)}/bin:"$PATH"'
        yield f"export PYTHONPATH={quote(spot.helpers)}/lib${{PYTHONPATH:+:$PYTHONPATH}}"
        yield f"command -v python3 >/dev/null 2>&1 || ordito_refuse interpreter {quote('python3')}"


def _written(path: str, text: str) -> str:
    return f"( umask 077; printf %s {quote(text)} >{quote(path)} ) || ordito_refuse disk"


def _filled(invocation: Invocation, spot: HostSpot) -> dict[str, str]:
    """The texts of templates, with paths as they are on the host."""
    if invocation.needs is None or not invocation.needs.templates:
        return {}
    values = msgspec.json.decode(
        msgspec.json.encode(dict(invocation.needs.values)).replace(
            msgspec.json.encode(f"{invocation.root.rstrip('/')}/")[1:-1], msgspec.json.encode(f"{spot.tree}/")[1:-1]
        ),
        type=dict[str, object],
    )
    moved = msgspec.structs.replace(
        invocation,
        environment=_moved(invocation.environment, invocation.root, spot.tree),
        needs=msgspec.structs.replace(invocation.needs, values=values),
    )
    return filled(moved, f"{spot.slot}/work")


def _tree(invocation: Invocation, spot: HostSpot, texts: Mapping[str, str]) -> Iterator[str]:
    """The text that makes a part of the tree for this operation alone, with filled templates beside its script that no
    other operation may see."""
    if not texts:
        return
    folder, _, name = os.path.normpath(invocation.artifact).rpartition("/")
    parts = folder.split("/") if folder else []
    yield 'mkdir "$ordito_slot/tree" || ordito_refuse disk'
    for depth, part in enumerate([*parts, name]):
        above = "".join(f"/{p}" for p in parts[:depth])
        omitted = [*texts, name] if depth == len(parts) else [part]
        yield " ".join(
            ["ordito_link", quote(spot.tree + above), quote(f"{spot.slot}/tree{above}"), *map(quote, omitted)]
        )
        if depth < len(parts):
            yield f"mkdir {quote(f'{spot.slot}/tree{above}/{part}')} || ordito_refuse disk"
    inside = f"{spot.slot}/tree/{folder}".rstrip("/")
    script = f"{spot.tree}/{folder}".rstrip("/") + f"/{name}"
    if name not in texts:
        yield f"cp -p {quote(script)} {quote(f'{inside}/{name}')} || ordito_refuse disk"
    for file, text in texts.items():
        yield _written(f"{inside}/{file}", text)


def _exports(variables: Mapping[str, str]) -> Iterator[str]:
    for name, value in variables.items():
        # Others have an alias that a shell takes.
        if NAME.fullmatch(name) and name not in READ_ONLY:
            yield f"export {name}={quote(value)}"


def _started(invocation: Invocation, spot: HostSpot, environment: ProcessEnvironment) -> list[str]:
    script = spot.script or f"{spot.tree}/{os.path.normpath(invocation.artifact)}"
    source = f"{spot.slot}/unexported" if environment.unexported else ""
    if invocation.processor == PLACING:
        # Of a template it is the filled file that is put in place, which lies beside it.
        if spot.script and invocation.needs is not None:
            script = f"{os.path.dirname(script)}/{filled_name(invocation.artifact)}"
        program, *words = placing_words(invocation, script)
        return [_exec(program, "sh", words)]
    launch = invocation.launch
    if launch.prefix:
        return [_exec("", quote(launch.prefix[0]), [*launch.prefix[1:], script, *launch.arguments])]
    if invocation.processor == PYTHON:
        return _python(invocation, spot, environment, source, script)
    head = read_head(in_tree(invocation.root, invocation.artifact), invocation.artifact)
    try:
        interpreter = interpreter_of(head)
    except UnusableInterpreter as error:
        raise Unusable(f"{invocation.artifact} cannot be run: {error}") from None
    arguments = list(interpreter.options)
    if interpreter.is_shell and (invocation.outputs or source):
        # The shell beside it knows how it ends; what is around a script is there for its variables.
        ids = (invocation.job, invocation.step, str(invocation.attempt))
        result = _result(invocation, spot)
        arguments += ["-c", wrapper(interpreter, ids, invocation.outputs, result, source, tools=spot.tools)]
    lines = [f"export {name}={quote(value)}" for name, value in interpreter.variables]
    if invocation.needs is not None and invocation.needs.version:
        lines.append(_bash_of(invocation.needs.version, interpreter.name))
    program, name = interpreter.program if "/" in interpreter.program else "", quote(interpreter.name)
    if invocation.helpers is not None and interpreter.name in OLD_PYTHON:
        program, name = "", "python3"
    return [*lines, _exec(program, name, [*arguments, script, *launch.arguments])]


def _result(invocation: Invocation, spot: HostSpot) -> str:
    return f"{spot.slot}/{identity_of(invocation)}.result"


def _bash_of(version: str, name: str) -> str:
    """A line that refuses a bash of another version than the wanted one."""
    wanted = version_of(version)
    if not name.endswith("bash"):
        raise Unusable(f'artifact_version "{version}" asks for a version of bash, and its "#!" line for {name}')
    numbers = [f"BASH_VERSINFO[{place}] * {10 ** (6 - 3 * place)}" for place in range(3)]
    least = sum(number * 10 ** (6 - 3 * place) for place, number in enumerate(wanted))
    test = quote(f"(({' + '.join(numbers)} >= {least}))")
    return f"{name} --norc -c {test} 2>/dev/null || ordito_refuse interpreter {quote(f'Bash {version}')}"


def _python(
    invocation: Invocation, spot: HostSpot, environment: ProcessEnvironment, source: str, script: str
) -> list[str]:
    needs = invocation.needs
    ids = {"job": invocation.job, "step": invocation.step, "attempt": str(invocation.attempt)}
    result = {"result": _result(invocation, spot)}
    settings = {
        **ids,
        **result,
        "outputs": invocation.outputs,
        "base": [],
        "given": [n for n in environment.given if n not in (JOB, STEP, OUTPUTS, ENVIRONMENT_FILE)],
        "source": source,
    }
    # -B: the tree stays as it is.
    if invocation.helpers is not None:
        settings["names"] = invocation.helpers.names
    arguments = ["-B", f"{spot.tools}/python_runner.py", json.dumps(settings), script, *invocation.launch.arguments]
    if needs is not None and needs.requirements:
        folder = os.path.dirname(script)
        files = [f"{folder}/{os.path.basename(file)}" for file in needs.requirements]
        packages = {**ids, **result, "requirements": files, "cache": ""}
        arguments[1:1] = [f"{spot.tools}/packages_runner.py", json.dumps(packages)]
    if needs is None or not needs.version:
        return [_exec("", "python3", arguments)]
    named = quote(f"Python {needs.version}")
    return [
        finding(needs.version),
        f'[ -n "$python" ] || ordito_refuse interpreter {named}',
        _exec("", '"$python"', arguments),
    ]


def _exec(program: str, name: str, arguments: Sequence[str]) -> str:
    """The line that replaces the shell by a program: a path ("" for none), else a name, which is quoted already."""
    return " ".join(["ordito_exec", quote(program), name, *map(quote, arguments)])


# ------------------------------------------------------------------------------------------------------------- copies


def _copies(invocation: Invocation, tree: Tree, spot: HostSpot) -> Iterator[str]:
    own = [placement for placement in invocation.files if placement.own]
    for placement in invocation.files:
        if not placement.own:
            yield from _copied(placement, invocation.root, tree, spot)
    yield from _own_copies(own, invocation.root, tree, spot)


def _own_copies(placements: Sequence[FilePlacement], root: str, tree: Tree, spot: HostSpot) -> Iterator[str]:
    """The text that makes own copies of artifacts, or links instead (see ``executors/copies.py``), with few
    processes."""
    work = f"{spot.slot}/work/"
    files = {**tree.files, **tree.large} if placements else {}
    there: list[tuple[str, str, list[LocalFile]]] = []
    for placement in placements:
        path_in_tree(root, placement.file)
        source, target = os.path.normpath(placement.file), os.path.normpath(placement.path.replace(SCRATCH, work))
        inside = [f for path, f in files.items() if path.startswith(f"{source}/")] if source not in files else []
        if source in files or inside or source in tree.folders:
            there.append((source, target, inside))
    if not there:
        return
    folders = dict.fromkeys(os.path.dirname(target) for _, target, _ in there)
    yield f"mkdir -p {' '.join(map(quote, folders))} || ordito_refuse disk"
    programs: list[str] = []
    for source, target, inside in there:
        at, to = quote(f"{spot.tree}/{source}"), quote(target)
        found = inside if source not in files else [files[source]]
        if sum(file.size for file in found) > LARGEST or len(found) > MOST_FILES:
            yield f"ln -s {at} {to} || ordito_refuse copy {to}"
        elif source in files:
            yield f"cat {at} >{to} || ordito_refuse copy {to}"
            programs += [to] if found[0].executable else []
        else:
            yield f"{{ cp -R {at} {to} && chmod -R u+w {to}; }} || ordito_refuse copy {to}"
    if programs:
        yield f"chmod 755 {' '.join(programs)} || ordito_refuse disk"


def _copied(placement: FilePlacement, root: str, tree: Tree, spot: HostSpot) -> Iterator[str]:
    in_tree(root, placement.file)
    source = os.path.normpath(placement.file)
    scratch = f"{spot.slot}/work/"
    path = placement.path or SCRATCH + placement.file
    target = os.path.normpath(path.replace(SCRATCH, scratch))
    if not target.startswith("/"):
        raise Unusable(f"{placement.file} cannot be copied to {path}: the path must be absolute")
    if "\n" in target:
        raise Unusable(f"{placement.file} cannot be copied to a path with a line break")
    remove = "1" if placement.remove else ""
    if not placement.remove and target.startswith(scratch):
        yield ': >"$ordito_slot/kept"'
    files = {**tree.files, **tree.large}
    if source in files:
        yield _copy(spot, source, target, remove)
        return
    yield f"ordito_make_folders {quote(target)} {quote(remove)}"
    for folder in tree.folders:
        if folder.startswith(f"{source}/"):
            yield f"ordito_make_folders {quote(target + folder.removeprefix(source))} {quote(remove)}"
    for file in files:
        if file.startswith(f"{source}/"):
            yield _copy(spot, file, target + file.removeprefix(source), remove)


def _copy(spot: HostSpot, source: str, target: str, remove: str) -> str:
    return f"ordito_copy {quote(f'{spot.tree}/{source}')} {quote(target)} {quote(remove)}"
