"""The command lines that start each kind of script."""

# Paths are texts here: they come as texts, and go to the kernel.
# ruff: noqa: PTH119, PTH120

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import msgspec

from ordito.executors.copies import Unusable
from ordito.executors.environment import ENVIRONMENT_FILE, ProcessEnvironment
from ordito.executors.interpreters import find_bash, find_python
from ordito.executors.process_table import JOB, OUTPUTS, STEP
from ordito.executors.shell import Interpreter, UnusableInterpreter, interpreter_of, wrapper
from ordito.executors.slots import WorkDirectory
from ordito.executors.spawn import ProcessCommand
from ordito.model.deploying import DEPLOY
from ordito.work.artifact_calls import LEFT
from ordito.work.invocation import Invocation

PYTHON_RUNNER = str(Path(__file__).with_name("python_runner.py"))
PACKAGES_RUNNER = str(Path(__file__).with_name("packages_runner.py"))

OLD_PYTHON = frozenset({"python", "python2"})
"""The names by which scripts of blueprints ask for Python 3, which their module needs."""

HEAD = 4096
"""How many bytes of a script are read for its ``#!`` line."""


class StartableScript(msgspec.Struct, frozen=True):
    """A script that is ready to start: ``path`` is where it runs, ``head`` its first bytes."""

    invocation: Invocation
    path: str
    head: bytes
    slot: WorkDirectory
    environment: ProcessEnvironment

    @property
    def version(self) -> str:
        """The version of the interpreter that is asked for, "" for any."""
        return self.invocation.needs.version if self.invocation.needs is not None else ""


def read_head(path: str, artifact: str) -> bytes:
    """The first bytes of a script; raises ``Unusable`` if it cannot be read."""
    try:
        found = os.stat(path)  # noqa: PTH116
        return _head(path, found.st_ino, found.st_mtime_ns, found.st_size)
    except IsADirectoryError:
        raise Unusable(f"{artifact} is a folder, not a script") from None
    except OSError as error:
        raise Unusable(f"the script {artifact} cannot be read ({error.strerror})") from None


@lru_cache(maxsize=1_024)
def _head(path: str, *version: int) -> bytes:  # noqa: ARG001  (a file that is written again is read again)
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123
        return file.read(HEAD)


def shell_command(script: StartableScript) -> ProcessCommand:
    """The command of a shell script: bash or sh with a wrapper; another interpreter of its ``#!`` line runs it
    directly."""
    artifact, environment = script.invocation.artifact, script.environment.variables
    launch = script.invocation.launch
    if script.invocation.helpers is not None:
        python3(environment["PATH"], artifact)
    if launch.prefix:
        return prefixed_command(script)
    try:
        interpreter = interpreter_of(script.head)
    except UnusableInterpreter as error:
        raise Unusable(f"{artifact} cannot be run: {error}") from None
    is_old = script.invocation.helpers is not None and interpreter.name in OLD_PYTHON
    program = python3(environment["PATH"], artifact) if is_old else _program(interpreter, environment)
    if program is None:
        raise Unusable(
            f'{artifact} needs the interpreter "{interpreter.program}", which is not installed on this machine '
            f"(or not in PATH={environment['PATH']})"
        )
    if script.version:
        find_bash(script.version, program, environment["PATH"])
    if interpreter.variables:
        environment = {**environment, **dict(interpreter.variables)}
    arguments = [program, *interpreter.options]
    if interpreter.is_shell:
        source = script.slot.unexported if script.environment.unexported else ""
        outputs = script.invocation.outputs
        arguments += ["-c", wrapper(interpreter, _identity(script.invocation), outputs, script.slot.result, source)]
    return ProcessCommand(program, [*arguments, script.path, *launch.arguments], environment, folder_for(script))


def prefixed_command(script: StartableScript) -> ProcessCommand:
    """The command of a script that is started by a command of its own."""
    launch, environment = script.invocation.launch, script.environment.variables
    program = shutil.which(launch.prefix[0], path=environment["PATH"])
    if program is None:
        raise Unusable(
            f'{script.invocation.artifact} is to be started by "{launch.prefix[0]}", which is not installed on this'
            f" machine (or not in PATH={environment['PATH']})"
        )
    return ProcessCommand(program, [*launch.prefix, script.path, *launch.arguments], environment, folder_for(script))


def folder_for(script: StartableScript) -> str:
    """The working directory of a script; raises ``Unusable`` for one that is not there."""
    folder = script.invocation.launch.folder
    if folder and not os.path.isdir(folder):  # noqa: PTH112
        raise Unusable(f"{script.invocation.artifact} is to be run in {folder}, which is no folder on this machine")
    return folder or script.slot.work


def python3(path: str, artifact: str) -> str:
    """The program that helpers need; raises ``Unusable`` where there is none."""
    found = shutil.which("python3", path=path)
    if found is None:
        raise Unusable(f"{artifact} needs python3 on this machine, for the programs that it is given (PATH={path})")
    return found


def python_command(script: StartableScript) -> ProcessCommand:
    """The command of a Python script: ``python3`` from PATH, else the interpreter of this process, with a wrapper."""
    invocation, environment = script.invocation, script.environment
    path = environment.variables["PATH"]
    program = find_python(script.version, path) if script.version else shutil.which("python3", path=path)
    program = program or sys.executable
    if invocation.launch.prefix:
        return prefixed_command(script)
    given = set(environment.given)
    job, step, attempt = _identity(invocation)
    settings = {
        "job": job,
        "step": step,
        "attempt": attempt,
        "result": script.slot.result,
        "outputs": invocation.outputs,
        "base": [n for n in environment.variables if n not in given or n in (JOB, STEP, OUTPUTS, ENVIRONMENT_FILE)],
        "source": script.slot.unexported if environment.unexported else "",
    }
    if invocation.helpers is not None:
        settings["names"] = invocation.helpers.names
    # -B: the tree of the service stays as it is.
    arguments = [program, "-B", *_packages(script), PYTHON_RUNNER, json.dumps(settings), script.path]
    arguments += invocation.launch.arguments
    return ProcessCommand(program, arguments, environment.variables, folder_for(script))


def _packages(script: StartableScript) -> list[str]:
    """The words before the command of a Python script that requires packages: the program finds or creates the virtual
    environment, and continues as the Python in it."""
    needs = script.invocation.needs
    if needs is None or not needs.requirements:
        return []
    job, step, attempt = _identity(script.invocation)
    folder = os.path.dirname(script.path)
    settings = {
        "job": job,
        "step": step,
        "attempt": attempt,
        "result": script.slot.result,
        "requirements": [f"{folder}/{os.path.basename(file)}" for file in needs.requirements],
        "cache": os.environ.get("XDG_CACHE_HOME", ""),
    }
    return [PACKAGES_RUNNER, json.dumps(settings)]


MakeCommand = Callable[[StartableScript], ProcessCommand]

COMMANDS: dict[str, MakeCommand] = {
    "tosca.artifacts.Implementation.Bash": shell_command,
    "tosca.artifacts.Implementation.Python": python_command,
}
"""The kinds of artifact that run on this machine; types derived from these run in the same way."""


def _identity(invocation: Invocation) -> tuple[str, str, str]:
    return invocation.job, invocation.step, str(invocation.attempt)


def _program(interpreter: Interpreter, environment: dict[str, str]) -> str | None:
    """The file of an interpreter: the named path, else the same name in PATH, because systems differ in where they put
    it."""
    if "/" in interpreter.program and os.access(interpreter.program, os.X_OK):
        return interpreter.program
    return shutil.which(interpreter.name, path=environment["PATH"])


# Putting an artifact where its ``deploy_path`` says, and removing it from there (TOSCA 1.3 §3.6.7).
#
# It is done by a few lines for any POSIX shell, on whichever machine the node lies: that shell is all they need.

SHELL = "/bin/sh"

_TEXT = r"""set -eu
verb=$1 from=$2 to=$3
if [ "$verb" = leave ]; then
  echo "another instance needs it: it stays"
  exit
fi
case $to in /*) ;; '~/'*) to=$HOME/${to#??};; *) to=$HOME/$to;; esac
if [ "$verb" = remove ]; then
  if [ -d "$from" ]; then
    cd -- "$from"
    find . ! -type d -exec sh -c 'to=$1; shift; for f; do rm -f -- "$to/$f"; done' - "$to" {} +
    find . -depth -type d -exec sh -c 'to=$1; shift; for f; do rmdir -- "$to/$f" 2>/dev/null || :; done' - "$to" {} +
  else
    rm -f -- "$to"
  fi
  exit
fi
folder=${to%/*}
mkdir -p -- "${folder:-/}"
if [ -d "$from" ]; then
  mkdir -p -- "$to"
  cp -Rf -- "$from/." "$to/"
  cd -- "$from"
  find . ! -type d -exec sh -c 'to=$1; shift; for f; do chmod u+w -- "$to/$f"; done' - "$to" {} +
elif [ -d "$to" ]; then
  echo "$to is a folder: end deploy_path with a slash to put the file into it" >&2
  exit 1
else
  trap 'rm -f -- "$to.ordito.$$"' EXIT
  cp -p -- "$from" "$to.ordito.$$"
  chmod u+w -- "$to.ordito.$$"
  mv -f -- "$to.ordito.$$" "$to"
fi
"""


def placing_words(invocation: Invocation, path: str) -> list[str]:
    """The program and arguments that put the artifact at ``path`` into its place, or remove it. Raises ``Unusable`` if
    it names no place."""
    data = invocation.data or {}
    to = str(data.get("deploy_path", ""))
    if not to:
        raise Unusable(f"{invocation.artifact} names no deploy_path")
    verb = {DEPLOY: "put", LEFT: "leave"}.get(str(data.get("verb")), "remove")
    return [SHELL, "-c", _TEXT, "place", verb, path, to]


def placing_command(script: StartableScript) -> ProcessCommand:
    """The command of this machine that puts an artifact into its place, or removes it."""
    words = placing_words(script.invocation, script.path)
    return ProcessCommand(SHELL, words, script.environment.variables, script.slot.work)
