"""Real repositories of git, and a service that leaves its marks in a file."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
metadata: { template_name: mini }
node_types:
  mini.Node:
    derived_from: tosca.nodes.Root
    properties: { word: { type: string, default: one } }
    interfaces:
      Standard:
        operations:
          create: scripts/do.sh
          delete: scripts/do.sh
topology_template:
  inputs:
    count: { type: integer, default: 1 }
  node_templates:
    thing:
      type: mini.Node
      instance_count: { get_input: count }
      occurrences: [ 0, 9 ]
"""
SCRIPT = """\
#!/bin/sh
touch "$HOME/began"
while [ -e "$HOME/hold" ]; do sleep 0.1; done
[ ! -e "$HOME/fail" ] || exit 7
"""


@dataclass(frozen=True)
class Repository:
    """A working tree."""

    top: Path

    def git(self, *arguments: str | Path, code: int | None = 0) -> str:
        """Call git as the user would; ``code`` is what its exit code must be, None for any."""
        done = subprocess.run(
            ["git", *map(str, arguments)], cwd=self.top, capture_output=True, text=True, check=False, timeout=60
        )
        assert code is None or done.returncode == code, done.stdout + done.stderr
        return done.stdout

    def write(self, name: str, text: str) -> None:
        """Write a file, with the folders above it."""
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        if text.startswith("#!"):
            path.chmod(0o755)

    def commit(self, message: str = "by hand") -> str:
        """Commit everything; gives the commit's id."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "-m", message)
        return self.head

    @property
    def head(self) -> str:
        """The last commit."""
        return self.git("rev-parse", "HEAD").strip()

    @property
    def messages(self) -> list[str]:
        """The first lines of all commits, the latest first; none where there is no commit."""
        return self.git("log", "--format=%s", code=None).splitlines()

    @property
    def changes(self) -> list[str]:
        """What `git status` shows."""
        return self.git("status", "--porcelain", "--untracked-files=all").splitlines()

    def held(self, commit: str = "HEAD") -> set[str]:
        """The files that a commit changed."""
        return set(self.git("show", "--format=", "--name-only", commit).split())

    def hook(self, name: str, script: str) -> None:
        """Make a hook."""
        path = self.top / self.git("rev-parse", "--git-path", f"hooks/{name}").strip()
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        path.chmod(0o755)


def make_repository(top: Path, *, bare: bool = False) -> Repository:
    """A new repository."""
    top.mkdir(parents=True, exist_ok=True)
    repository = Repository(top)
    repository.git("init", "--quiet", "--initial-branch=main", *(["--bare"] if bare else []))
    return repository


def clone(source: Path, top: Path) -> Repository:
    """A clone."""
    Repository(source).git("clone", "--quiet", source, top)
    return Repository(top)


def write_service(repository: Repository, folder: str = "") -> None:
    """Put the service there."""
    prefix = f"{folder}/" if folder else ""
    repository.write(f"{prefix}service.yaml", SERVICE)
    repository.write(f"{prefix}scripts/do.sh", SCRIPT)


def settings_of_git(home: Path) -> dict[str, str]:
    """Variables with which git reads no settings but those of the tests."""
    config = home / "gitconfig"
    config.write_text("[user]\n\tname = Tester\n\temail = tester@example.org\n[init]\n\tdefaultBranch = main\n")
    return {"GIT_CONFIG_GLOBAL": str(config), "GIT_CONFIG_NOSYSTEM": "1", "HOME": str(home)}


def without_git(folder: Path) -> str:
    """A search path with what scripts need, and no git."""
    folder.mkdir()
    for directory in os.environ["PATH"].split(os.pathsep):
        for program in Path(directory).iterdir() if Path(directory).is_dir() else ():
            if not program.name.startswith("git") and not (folder / program.name).exists():
                (folder / program.name).symlink_to(program)
    return str(folder)
