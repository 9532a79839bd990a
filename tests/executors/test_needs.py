"""What scripts need besides themselves: interpreters of a version, packages, and templates that are filled."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import zipfile
from pathlib import Path

import pytest

from ordito.executors import packages_runner
from ordito.executors.interpreters import finding, is_python, lacking
from ordito.work.invocation import Ending, FilePlacement, Invocation
from ordito.work.needs import ImplementationNeeds
from tests.executors.place import Place, Ran, auntil

OWN = f"{sys.version_info[0]}.{sys.version_info[1]}"
REQUIREMENTS = "--no-index --find-links ./wheels\n"


@pytest.fixture
def bin_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH of its own, in which there is a shell and nothing else."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("sh", "bash", "cat"):
        (folder / name).symlink_to(shutil.which(name) or name)
    monkeypatch.setenv("PATH", str(folder))
    return folder


def write_program(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)


def write_wheel(folder: Path, name: str, code: str) -> None:
    """A distribution of one module, as pip installs it."""
    folder.mkdir(parents=True, exist_ok=True)
    about = f"{name}-1.0.dist-info"
    files = {
        f"{name}.py": code,
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{about}/RECORD"] = "".join(f"{file},,\n" for file in [*files, f"{about}/RECORD"])
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
        for file, text in files.items():
            wheel.writestr(file, text)


# ------------------------------------------------------------------------------------------------------- interpreters


def test_the_python_of_the_version_runs_it(bin_folder: Path, place: Place) -> None:
    """R-3.6.7-7, R-13.2.1-2: what is called so is asked which version it is."""
    write_program(bin_folder, f"python{OWN}", f'exec {sys.executable} "$@"')
    write_program(bin_folder, "python3", "echo 3.2.0")
    ran = place.run(
        "import sys\nOUT = '%d.%d' % sys.version_info[:2]", "run.py", outputs=("OUT",), needs=ImplementationNeeds(OWN)
    )
    assert (ran.outcome.ending, ran.outcome.outputs) == (Ending.SUCCEEDED, {"OUT": OWN})


@pytest.mark.parametrize("asked", ["2.7", "3.99", f"{OWN}.999"])
def test_a_version_that_is_not_there_is_said_before_anything_runs(bin_folder: Path, place: Place, asked: str) -> None:
    """R-3.6.7-7, R-13.2.1-2, R-13.2.4-1: no other version is taken instead."""
    write_program(bin_folder, "python3", "echo 3.2.0")
    ran = place.run(f"open({str(place.scrap / 'ran')!r}, 'w')", "run.py", needs=ImplementationNeeds(asked))
    assert ran.outcome.ending is Ending.NOT_STARTED
    assert f"Python {asked}" in ran.outcome.message
    assert not list(place.scrap.iterdir())


def test_bash_is_at_least_of_the_version(bin_folder: Path, place: Place) -> None:
    """R-3.6.7-7: a Bash script runs by any later Bash."""
    assert place.run("[[ a == a ]]", needs=ImplementationNeeds("3.2")).outcome.ending is Ending.SUCCEEDED
    assert "Bash 99" in place.run("true", needs=ImplementationNeeds("99")).outcome.message
    assert "#!" in place.run("#!/bin/sh\ntrue", needs=ImplementationNeeds("4")).outcome.message
    assert "is not a version" in place.run("true", needs=ImplementationNeeds("latest")).outcome.message
    assert lacking(("tosca.artifacts.Implementation.Bash",), "4", {"PATH": str(bin_folder)}) == ""
    assert "Python 3.98" in lacking(("tosca.artifacts.Implementation.Python",), "3.98", {"PATH": str(bin_folder)})


def test_versions_of_python() -> None:
    wanted = {(3,): True, (3, 11): True, (3, 11, 2): True, (3, 11, 9): False, (3, 1): False, (2,): False}
    assert {version: is_python(version, (3, 11, 4)) for version in wanted} == wanted


def test_other_hosts_find_the_same_python(bin_folder: Path, place: Place) -> None:
    """What finds an interpreter elsewhere is a line for any shell."""
    write_program(bin_folder, "python3", f'exec {sys.executable} "$@"')
    for version, found in (("", "python3"), (OWN, "python3"), ("3.99", "")):
        assert place.run(f"{finding(version)}\necho ${{python:-}}").text.strip() == found


# ----------------------------------------------------------------------------------------------------------- packages


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache/ordito/python"


def with_packages(place: Place, script: str, name: str = "run.py", lines: str = "helper==1.0\n") -> Invocation:
    place.write("lib/requirements.txt", REQUIREMENTS + lines)
    needs = ImplementationNeeds(requirements=("lib/requirements.txt",))
    # The packages lie beside the file that names them, and so they do beside the script.
    dependencies = ("lib/requirements.txt", "lib/wheels")
    return place.invocation(script, name, dependencies=dependencies, outputs=("OUT",), needs=needs)


def test_requirements_give_a_virtual_environment_made_once(place: Place, cache: Path) -> None:
    """R-5.4-1, R-13.2.5-1: packages are there before the script runs; the next one finds them."""
    write_wheel(place.root / "lib/wheels", "helper", "WORD = 'helped'")
    script = "import helper, os, sys\nOUT = [helper.WORD, sys.prefix == os.environ['VIRTUAL_ENV'], sys.prefix]\n"

    async def both() -> list[Ran]:
        return list(
            await asyncio.gather(*(place.arun(with_packages(place, script, name)) for name in ("run.py", "too.py")))
        )

    first, second = asyncio.run(both())
    assert first.outcome.outputs == second.outcome.outputs == {"OUT": ["helped", True, str(only_folder(cache))]}
    assert (first.text + second.text).count("making a virtual environment") == 1
    assert place.left() == []


def only_folder(cache: Path) -> Path:
    (folder,) = (path for path in cache.iterdir() if path.is_dir())
    return folder


def test_what_cannot_be_installed_is_said(place: Place, cache: Path) -> None:
    write_wheel(place.root / "lib/wheels", "helper", "")
    ran = asyncio.run(place.arun(with_packages(place, "OUT = 1", lines="missing-thing\n")))
    assert ran.outcome.ending is Ending.FAILED
    assert "requirements.txt: ERROR: No matching distribution found for missing-thing" in ran.outcome.message
    assert not [path for path in cache.iterdir() if path.is_dir()]


def test_an_environment_that_was_not_finished_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def make(folder: str, files: list[str]) -> None:
        assert not (Path(folder) / packages_runner.COMPLETE).exists()
        Path(folder).mkdir(exist_ok=True)
        (Path(folder) / packages_runner.COMPLETE).touch()
        made.append(folder)

    monkeypatch.setattr(packages_runner, "make", make)
    file = tmp_path / "requirements.txt"
    file.write_text("a")
    folder, lock = packages_runner.environment([str(file)], str(tmp_path))
    os.close(lock)
    (Path(folder) / packages_runner.COMPLETE).unlink()
    again, lock = packages_runner.environment([str(file)], str(tmp_path))
    os.close(lock)
    assert made == [folder, again] == [folder, folder]


def test_as_many_are_kept_as_may_be_and_none_is_removed_under_a_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packages_runner, "MOST", 2)
    monkeypatch.setattr(packages_runner, "make", lambda folder, _: (Path(folder) / "complete").mkdir(parents=True))
    locks = []
    for number in range(4):
        file = tmp_path / f"requirements{number}.txt"
        file.write_text(str(number))
        folder, lock = packages_runner.environment([str(file)], str(tmp_path))
        os.utime(f"{folder}.lock", (number, number))
        locks.append((folder, lock))
        if number != 0:
            os.close(lock)
    there = [Path(folder).exists() for folder, _ in locks]
    os.close(locks[0][1])
    assert there == [True, False, True, True]


def test_the_key_holds_what_the_files_name(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("-r more.txt\n--no-index --find-links=wheels\n")
    keys = set()
    for text, wheel in (("a", ""), ("b", ""), ("b", "x.whl")):
        (tmp_path / "more.txt").write_text(text)
        (tmp_path / "wheels").mkdir(exist_ok=True)
        (tmp_path / "wheels" / (wheel or "none")).touch()
        keys.add(packages_runner.key_of([str(tmp_path / "requirements.txt")]))
    assert len(keys) == 3


@pytest.mark.usefixtures("cache")
def test_cancelling_ends_the_preparation_too(place: Place) -> None:
    os.mkfifo(place.scrap / "never")
    write_wheel(place.root / "lib/wheels", "helper", "")
    invocation = with_packages(place, "OUT = 1", lines=f"-r {place.scrap}/never\n")

    async def run() -> Ran:
        task = asyncio.create_task(place.arun(invocation))
        await auntil(lambda: place.processes("run.py"), "its process")
        await place.executor.cancel("run.py")
        return await task

    assert asyncio.run(run()).outcome.ending is Ending.CANCELLED
    assert not place.processes("run.py")


# ---------------------------------------------------------------------------------------------------------- templates


def filled(place: Place, text: str, values: dict[str, object], **more: object) -> Ran:
    place.write("templates/app.conf.j2", text)
    needs = ImplementationNeeds(templates=("templates/app.conf.j2",), values=values)
    script = 'cat "$(dirname "$0")/app.conf"\nOUT=$(stat -c %a "$(dirname "$0")/app.conf")'
    files = ("templates/app.conf.j2",)
    return place.run(script, "bin/run.sh", dependencies=files, outputs=("OUT",), needs=needs, **more)


def test_a_template_is_filled_beside_the_script(place: Place) -> None:
    """R-5.4.5-1, R-5.4.5-2: the script finds what run-time values were put into, private, and gone afterwards."""
    text = "port={{ port + 1 }}\n{% for name in names %}{{ name }}@{{ NODE }}\n{% endfor %}{{ place }}\n"
    environment = {"NODE": "web"}
    values: dict[str, object] = {"port": 80, "names": ["a", "ü"], "place": "ordito-scratch:/x"}
    ran = filled(place, text, values, environment=environment)
    scratch = ran.text.splitlines()[-1]
    assert ran.text.splitlines()[:-1] == ["port=81", "a@web", "ü@web"]
    assert scratch.startswith(str(place.slots))
    assert scratch.endswith("/work/x")
    assert ran.outcome.outputs == {"OUT": "600"}
    assert place.left() == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a\n{{ prt }}\n", "templates/app.conf.j2:2: 'prt' is undefined"),
        ("a\n\n{{ port +", "templates/app.conf.j2:3: "),
        ("{{ ''.__class__ }}", "templates/app.conf.j2:1: "),
        ("{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}", "needs more work"),
        ("\udce4", "is not UTF-8 text"),
    ],
)
def test_a_template_that_cannot_be_filled_is_said_with_its_line(place: Place, text: str, said: str) -> None:
    place.write("templates/app.conf.j2", "")
    (place.root / "templates/app.conf.j2").write_text(text, errors="surrogateescape")
    needs = ImplementationNeeds(templates=("templates/app.conf.j2",), values={"port": 80})
    ran = place.run("true", "bin/run.sh", dependencies=("templates/app.conf.j2",), needs=needs)
    assert ran.outcome.ending is Ending.NOT_STARTED
    assert said in ran.outcome.message
    assert place.left() == []


def test_a_filled_template_takes_no_name_of_others(place: Place) -> None:
    place.write("templates/run.sh.j2", "")
    needs = ImplementationNeeds(templates=("templates/run.sh.j2",))
    ran = place.run("true", "bin/run.sh", dependencies=("templates/run.sh.j2",), needs=needs)
    assert "templates/run.sh.j2 cannot be filled to run.sh" in ran.outcome.message


def test_a_template_beside_the_script_leaves_the_service_as_it_is(place: Place) -> None:
    place.write("bin/app.conf.jinja2", "{{ a }}")
    needs = ImplementationNeeds(templates=("bin/app.conf.jinja2",), values={"a": 1})
    files = (FilePlacement("bin/run.sh"),)
    script = 'cat "$(dirname "$0")/app.conf" "$(dirname "$0")/other"'
    place.write("bin/other", "beside")
    ran = place.run(script, "bin/run.sh", dependencies=("bin/app.conf.jinja2",), needs=needs, files=files)
    assert ran.text == "1beside"
    assert sorted(path.name for path in (place.root / "bin").iterdir()) == ["app.conf.jinja2", "other", "run.sh"]
