"""Putting an artifact where its ``deploy_path`` says, and removing it from there (TOSCA 1.3 §3.6.7).

It is done by a few lines for any POSIX shell, on whichever machine the node lies: that shell is all they need.
"""

from __future__ import annotations

from ordito.executors.commands import Script
from ordito.executors.copies import Unusable
from ordito.executors.spawn import Command
from ordito.model.deploying import DEPLOY
from ordito.work.artifact_calls import LEFT
from ordito.work.invocation import Invocation

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
    """The program and its arguments that put the artifact which lies at a path to where it belongs, or remove it.
    ``Unusable`` where no place is named."""
    data = invocation.data or {}
    to = str(data.get("deploy_path", ""))
    if not to:
        raise Unusable(f"{invocation.artifact} names no deploy_path")
    verb = {DEPLOY: "put", LEFT: "leave"}.get(str(data.get("verb")), "remove")
    return [SHELL, "-c", _TEXT, "place", verb, path, to]


def placing_command(script: Script) -> Command:
    """The same as a command of this machine."""
    words = placing_words(script.invocation, script.path)
    return Command(SHELL, words, script.environment.variables, script.slot.work)
