"""`./run` makes its environment once, whole, and in few calls of pip; here with a pip that only keeps a diary.

The real one needs the network and half a minute: whoever runs these tests has already tried it.
"""

import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
# The interpreter that the environment of these tests was made with: `./run` looks through it as well.
BASE = getattr(sys, "_base_executable", sys.executable)

PIP = """\
import os, pathlib, sys, time

if sys.argv[1:] == ["--version"]:
    print("pip 23.0.1 from here (python 3.11)")
    raise SystemExit
here = pathlib.Path(__file__).parent
with open(here / "diary", "a") as diary:
    diary.write(" ".join(sys.argv[1:]) + "\\n")
if (here / "fails").exists():
    raise SystemExit("ERROR: no matching distribution")
end = time.monotonic() + 60
while (here / "hangs").exists() and time.monotonic() < end:
    time.sleep(0.01)
program = pathlib.Path(sys.argv[2]).parent / "ordito"
program.write_text('#!/bin/sh\\necho ordito "$@" in "$PWD"\\n')
program.chmod(0o755)
"""


class Tree:
    """A copy of `./run` with files to pin, an interpreter with the fake pip, and nothing else."""

    def __init__(self, place: Path) -> None:
        self.root = place / "tree with spaces"
        self.pip = place / "site" / "pip"
        self.root.mkdir()
        self.pip.mkdir(parents=True)
        shutil.copy(ROOT / "run", self.root)
        (self.root / "requirements.txt").write_text("one==1\n")
        (self.root / "pyproject.toml").write_text("[project]\n")
        (self.pip / "__main__.py").write_text(PIP)
        (self.pip / "__init__.py").touch()

    def start(self, *arguments: str, **more: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [BASE, str(self.root / "run"), *arguments],
            cwd="/",
            env={"PYTHONPATH": str(self.pip.parent), **more},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str, **more: str) -> tuple[int, str, str]:
        process = self.start(*arguments, **more)
        output, errors = process.communicate(timeout=60)
        return process.returncode, output, errors

    def diary(self) -> list[str]:
        """What pip was asked to install since the last look."""
        diary = self.pip / "diary"
        lines = diary.read_text().splitlines() if diary.exists() else []
        diary.unlink(missing_ok=True)
        return ["project" if "--no-deps" in line else "packages" for line in lines]

    def wait_for_pip(self) -> None:
        deadline = time.monotonic() + 30
        while not (self.pip / "diary").exists():
            assert time.monotonic() < deadline
            time.sleep(0.01)


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


def test_help_and_usage(tree: Tree) -> None:
    code, output, errors = tree.run()
    assert (code, output) == (64, "")
    assert errors.startswith("usage: ./run VERB")
    code, output, errors = tree.run("--help")
    assert (code, errors) == (0, "")
    assert {"demo", "test", "check", "bench", "lock", "ordito"} <= set(output.split())
    code, _, errors = tree.run("tset")
    assert code == 64
    assert "there is no verb 'tset'; did you mean 'test'?" in errors
    assert not (tree.root / ".venv").exists()


def test_first_call_makes_the_environment_and_later_calls_only_use_it(tree: Tree) -> None:
    code, output, errors = tree.run("ordito", "plan", "-o", "json")
    assert (code, output) == (0, "ordito plan -o json in /\n"), errors
    assert tree.diary() == ["packages", "project"]
    assert tree.run("ordito") == (0, "ordito in /\n", "")
    assert tree.diary() == []


def test_pip_is_told_to_check_hashes_and_to_build_nothing_apart(tree: Tree) -> None:
    assert tree.run("ordito")[0] == 0
    packages, project = (tree.pip / "diary").read_text().splitlines()
    assert f"--no-compile --require-hashes -r {tree.root}/requirements.txt" in packages
    assert f"--no-compile --no-deps --no-build-isolation -e {tree.root}" in project


@pytest.mark.parametrize(
    ("changed", "installed"),
    [("requirements.txt", ["packages", "project"]), ("pyproject.toml", ["project"])],
)
def test_a_changed_file_is_noticed(tree: Tree, changed: str, installed: list[str]) -> None:
    tree.run("ordito")
    tree.diary()
    with (tree.root / changed).open("a") as file:
        file.write("# changed\n")
    assert tree.run("ordito")[0] == 0
    assert tree.diary() == installed


def test_a_moved_tree_and_a_removed_interpreter_are_noticed(tree: Tree) -> None:
    tree.run("ordito")
    tree.diary()
    tree.root = tree.root.rename(tree.root.with_name("elsewhere"))
    assert tree.run("ordito")[0] == 0
    assert tree.diary() == ["packages", "project"]
    (tree.root / ".venv/bin/python").unlink()
    assert tree.run("ordito")[0] == 0
    assert tree.diary() == ["packages", "project"]


def test_two_calls_at_once_make_one_environment(tree: Tree) -> None:
    (tree.pip / "hangs").touch()
    first = tree.start("ordito", "first")
    tree.wait_for_pip()
    second = tree.start("ordito", "second")
    assert second.stderr is not None
    assert "another ./run is making .venv" in second.stderr.readline()
    (tree.pip / "hangs").unlink()
    assert first.communicate(timeout=60)[0] == "ordito first in /\n"
    assert second.communicate(timeout=60)[0] == "ordito second in /\n"
    assert tree.diary() == ["packages", "project"]


def test_a_killed_call_leaves_nothing_that_the_next_one_trusts(tree: Tree) -> None:
    (tree.pip / "hangs").touch()
    with tree.start("ordito") as killed:
        tree.wait_for_pip()
        killed.kill()
    tree.diary()
    # Its pip is still at work, and the next call must not remove the environment under it.
    second = tree.start("ordito")
    assert second.stderr is not None
    assert "another ./run is making .venv" in second.stderr.readline()
    (tree.pip / "hangs").unlink()
    output, errors = second.communicate(timeout=60)
    assert output == "ordito in /\n", errors
    assert tree.diary() == ["packages", "project"]


def test_a_failing_pip_is_reported_and_tried_again(tree: Tree) -> None:
    (tree.pip / "fails").touch()
    code, output, errors = tree.run("ordito")
    assert (code, output) == (69, "")
    assert "ERROR: no matching distribution" in errors
    assert "pip could not install the packages" in errors
    assert "Traceback" not in errors
    tree.diary()
    (tree.pip / "fails").unlink()
    assert tree.run("ordito")[0] == 0
    assert tree.diary() == ["packages", "project"]


def test_a_python_without_pip_is_told_apart(tree: Tree) -> None:
    (tree.pip / "__main__.py").write_text("raise SystemExit('No module named pip')")
    code, _, errors = tree.run("ordito")
    assert code == 69
    assert "has no pip" in errors
    (tree.pip / "__main__.py").write_text("print('pip 20.3.4 from here (python 3.11)')")
    code, _, errors = tree.run("ordito")
    assert code == 69
    assert "pip 22.3 or newer is needed" in errors


def test_the_exit_code_and_the_signals_are_those_of_the_program(tree: Tree) -> None:
    tree.run("ordito")
    (tree.root / ".venv/bin/ordito").write_text("#!/bin/sh\necho ready; kill -TERM $$\n")
    code, output, _ = tree.run("ordito")
    assert (code, output) == (-signal.SIGTERM, "ready\n")


def test_what_real_targets_need_is_installed_once_or_said(tree: Tree) -> None:
    programs = tree.root / "programs"
    programs.mkdir()
    (programs / "apt-get").write_text(
        f'#!/bin/sh\necho "$@" >> {shlex.quote(str(programs))}/diary\n[ ! -e "{programs}/fails" ] || exit 100\n'
        f'case "$*" in *sudo*) printf "" > "{programs}/sudo"; /bin/chmod +x "{programs}/sudo";; esac\n'
    )
    (programs / "apt-get").chmod(0o755)
    (tree.root / "run").write_text(with_one_package().replace("os.geteuid()", "0"))
    tree.run("ordito")
    stand_in(tree, "echo tested")
    (programs / "fails").touch()
    code, output, errors = tree.run("test", PATH=str(programs))
    assert (code, output) == (0, "tested\n"), errors
    assert "missing for the tests of real targets: sudo-of-tests (sudo). Apt-get could not install them" in errors
    assert "tests that need them are skipped\n" in errors
    (programs / "fails").unlink()
    code, output, errors = tree.run("test", PATH=str(programs))
    assert (code, output) == (0, "tested\n"), errors
    assert "skipped" not in errors
    assert "install --quiet --yes --no-install-recommends sudo-of-tests" in (programs / "diary").read_text()
    (programs / "diary").unlink()
    assert tree.run("test", PATH=str(programs)) == (0, "tested\n", "")
    assert not (programs / "diary").exists()


@pytest.mark.parametrize(
    ("user", "there", "why"),
    [
        ("0", False, "there is no apt-get here"),
        ("1", True, "Only root may install them: apt-get install sudo-of-tests"),
    ],
)
def test_who_cannot_install_is_told_what_to_do(tree: Tree, user: str, there: bool, why: str) -> None:
    programs = tree.root / "programs"
    programs.mkdir()
    if there:
        (programs / "apt-get").write_text(f"#!/bin/sh\n: > {shlex.quote(str(programs))}/called\n")
        (programs / "apt-get").chmod(0o755)
    text = with_one_package().replace("os.geteuid()", user)
    (tree.root / "run").write_text(text)
    tree.run("ordito")
    stand_in(tree, "echo tested")
    code, output, errors = tree.run("test", PATH=str(programs), ORDITO_REQUIRED="sshd")
    assert (code, output) == (0, "tested\n"), errors
    assert why in errors
    assert "tests that need them are skipped, those of sshd fail" in errors
    assert not (programs / "called").exists()


def without_programs() -> str:
    """The text of a `./run` that needs nothing of this machine."""
    text = re.sub(r"PROGRAMS = \{.*?\n\}", "PROGRAMS = {}", (ROOT / "run").read_text(), count=1, flags=re.DOTALL)
    return re.sub(r"MODULES = \{.*?\}", "MODULES = {}", text, count=1)


def with_one_package() -> str:
    """The text of a `./run` that needs one program which this machine lacks."""
    text = without_programs().replace("PROGRAMS = {}", 'PROGRAMS = {"sudo-of-tests": ["sudo"]}')
    return text.replace('"/usr/local/sbin", "/usr/sbin", "/sbin"', '""')


def stand_in(tree: Tree, command: str) -> None:
    """Let a command be what runs instead of the tests."""
    (tree.root / ".venv/bin/python").unlink()
    (tree.root / ".venv/bin/python").write_text(f"#!/bin/sh\n{command}\n")
    (tree.root / ".venv/bin/python").chmod(0o755)


def test_everything_that_tries_more_in_a_thorough_run_is_in_it(tree: Tree) -> None:
    (tree.root / "run").write_text(without_programs())
    for name, text in {
        "some/test_random.py": "@given(st.text())\n",
        "some/test_few.py": "from tests.support.thorough import examples\n",
        "other/test_crash.py": "RECORDS = 30 if THOROUGH else 2\n",
        "other/test_plain.py": "def test_plain() -> None: ...\n",
        "support/thorough.py": "THOROUGH = True\n",
    }.items():
        place = tree.root / "tests" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    tree.run("ordito")
    stand_in(tree, 'echo "$ORDITO_THOROUGH" "$@"')
    code, output, errors = tree.run("crash", "-k", "one")
    assert code == 0, errors
    files = "tests/other/test_crash.py tests/some/test_few.py tests/some/test_random.py"
    assert output == f"1 -m pytest -n 4 --dist worksteal {files} -k one\n"


TRIED = """\
import os, pytest
@pytest.mark.parametrize("number", range(NUMBER))
def test_of_one(number): assert "PYTEST_XDIST_WORKER" not in os.environ
def test_good(): pass
def test_other(): assert GOOD
def test_skipped():
    if "PYTEST_XDIST_WORKER" not in os.environ: pytest.skip()
    assert SKIPPED
"""


@pytest.mark.parametrize(
    ("number", "good", "skipped", "code"),
    [
        pytest.param(5, True, True, 0, id="few that pass alone"),
        pytest.param(6, True, True, 1, id="too many"),
        pytest.param(1, False, True, 1, id="one that fails alone too"),
        pytest.param(1, True, False, 1, id="one that is skipped alone"),
    ],
)
def test_what_fails_is_tried_again_alone(tree: Tree, number: int, good: bool, skipped: bool, code: int) -> None:
    (tree.root / "run").write_text(without_programs().replace('WORKERS = "4"', 'WORKERS = "1"'))
    (tree.root / "tests").mkdir()
    text = TRIED.replace("NUMBER", str(number)).replace("GOOD", str(good)).replace("SKIPPED", str(skipped))
    (tree.root / "tests" / "test_tried.py").write_text(text)
    tree.run("ordito")
    stand_in(tree, f'exec {shlex.quote(sys.executable)} "$@"')
    (tree.root / "pyproject.toml").write_text("[project]\n[tool.pytest.ini_options]\nmarkers = ['targets']\n")
    # Of the plug-ins that are installed here only that one is needed.
    found, output, errors = tree.run(
        "test", "--again", PYTEST_DISABLE_PLUGIN_AUTOLOAD="1", PYTEST_PLUGINS="xdist.plugin"
    )
    assert found == code, output + errors
    names = [f"tests/test_tried.py::test_of_one[{at}]" for at in range(number)]
    unsteady = tree.root / ".cache" / "unsteady"
    if code == 0:
        assert unsteady.read_text().splitlines() == names
        assert f"unsteady, failed among the others and passed alone: {', '.join(names)}\n" in errors
    else:
        assert not unsteady.exists()
        assert "unsteady" not in errors


NODE = """\
#!/bin/sh
case "$1" in
    --version) echo v{version}.4.1 ;;
    *vite.js) echo built >> ../built; mkdir -p {built} && touch {built}/index.html ;;
esac
"""


def with_web(tree: Tree, version: int) -> dict[str, str]:
    """Give a tree a web UI and a machine that has a Node.js; what that runs is written down."""
    web, programs, built = tree.root / "web", tree.root / "programs", tree.root / "src" / "ordito" / "server" / "web"
    web.mkdir()
    programs.mkdir()
    (web / "package.json").write_text("{}")
    (web / "package-lock.json").write_text("{}")
    (web / "requirements.txt").write_text("nodejs==1\n")
    (programs / "node").write_text(NODE.format(version=version, built=shlex.quote(str(built))))
    (programs / "npm").write_text('#!/bin/sh\n[ "$1" = --version ] && echo 10.1.0 || mkdir -p node_modules\n')
    for program in programs.iterdir():
        program.chmod(0o755)
    return {"PATH": f"{programs}:/usr/bin:/bin"}


def test_the_web_ui_is_built_once_and_again_after_a_change(tree: Tree) -> None:
    machine = with_web(tree, 22)
    for builds in (1, 1, 2):
        if builds == 2:
            (tree.root / "web" / "package.json").write_text('{"name": "web"}')
        code, output, errors = tree.run("web", **machine)
        assert (code, output) == (0, ""), errors
        assert (tree.root / "built").read_text().count("built") == builds
    assert tree.diary() == []
    assert tree.run("web", "now", **machine)[0] == 64


def test_a_node_that_is_too_old_is_not_taken(tree: Tree) -> None:
    machine = with_web(tree, 20)
    (tree.pip / "fails").touch()
    code, _, errors = tree.run("web", **machine)
    assert code == 69
    assert "installing Node.js" in errors
    assert tree.diary() == ["packages"]


def pinned() -> dict[str, Requirement]:
    lines = [line.removesuffix(" \\") for line in (ROOT / "requirements.txt").read_text().splitlines()]
    requirements = [Requirement(line) for line in lines if line[:1].isalnum()]
    return {canonicalize_name(requirement.name): requirement for requirement in requirements}


def test_what_is_pinned_is_what_the_project_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    asked = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]
    for requirement in map(Requirement, asked):
        (pin,) = pinned()[canonicalize_name(requirement.name)].specifier
        assert pin.operator == "=="
        assert requirement.specifier.contains(pin.version), f"{requirement}: ./run lock was forgotten"


def test_pins_carry_hashes_and_no_addresses() -> None:
    text = (ROOT / "requirements.txt").read_text()
    assert not re.search(r"://| @ |^ *-(?!-hash)", text, re.MULTILINE)
    for entry in re.split(r"\n(?=\w)", text)[1:]:
        assert "--hash=sha256:" in entry, entry
