"""The whole environment that scripts see, variable by variable: two sources and two targets, each on a host."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.acceptance.program import ordito

DATA = Path(__file__).parent / "data" / "environment.yaml"
DUMP = '#!/bin/bash\nmkdir -p "$HOME/seen"\nenv -0 > "$HOME/seen/$ORDITO_STEP"\n'
ADDRESS = "#!/bin/bash\nip_address=192.168.0.1${INSTANCE##*_}\n"
OF_THE_MACHINE = {"PATH", "HOME", "LANG"}
OF_THE_SHELL = {"PWD", "OLDPWD", "SHLVL", "SHELL", "_"}
OF_THE_PROGRAM = {"ORDITO_JOB", "ORDITO_STEP", "ORDITO_OPERATION", "ORDITO_OUTPUTS"}

WORDS = " two  words $HOME \"'\n"
BOTH_SIDES = {
    "SOURCE_NODE": "my-node.S",
    "SOURCES": "my_node_S_1,my_node_S_2",
    "SOURCE_INSTANCES": "my_node_S_1,my_node_S_2",
    "TARGET_NODE": "MyNodeT",
    "TARGETS": "MyNodeT_1,MyNodeT_2",
    "TARGET_INSTANCES": "MyNodeT_1,MyNodeT_2",
}
"""What every relationship operation of the two pairs of two sees."""
INPUTS = {
    "MyNodeT_1_TARGET_IP": "192.168.0.11",
    "MyNodeT_2_TARGET_IP": "192.168.0.12",
    "my_node_S_1_ME": "my_node_S_1",
    "my_node_S_2_ME": "my_node_S_2",
    "FIXED": "fast",
}
"""The inputs that are the same for all of them."""


def pair(source: int, target: int) -> dict[str, str]:
    """The variables that say which pair is meant, and its own inputs."""
    return {
        "SOURCE": f"my_node_S_{source}",
        "SOURCE_INSTANCE": f"my_node_S_{source}",
        "TARGET": f"MyNodeT_{target}",
        "TARGET_INSTANCE": f"MyNodeT_{target}",
        "TARGET_IP": f"192.168.0.1{target}",
        "ME": f"my_node_S_{source}",
    }


def of_each(side: str, **values: str) -> dict[str, str]:
    """Values that are the same for both instances of a side, each under their names."""
    return {f"{side}_{n}_{name}": value for n in (1, 2) for name, value in values.items()}


PAGE = "work/service/files/page.txt"
"""Where the artifact lies for an operation, in its folder."""


class Deployed:
    """The service, deployed once for all tests that look at it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        shutil.copy(DATA, home / "service.yaml")
        (home / "files").mkdir()
        (home / "files" / "page.txt").write_text("a page", encoding="utf-8")
        (home / "dump.sh").write_text(DUMP, encoding="utf-8")
        (home / "address.sh").write_text(ADDRESS, encoding="utf-8")
        self.printed = self.run("deploy", "service.yaml", "--yes")

    def run(self, verb: str, *arguments: str) -> str:
        """Run the program, well; what it printed."""
        done = ordito(self.home, verb, *arguments, "-e", "ensemble")
        assert done.code == 0, done.both
        return done.both

    def seen(self, step: str) -> dict[str, str]:
        """The environment of a step, without what the machine and the shell put into any."""
        text = (self.home / "seen" / step).read_text(encoding="utf-8")
        every = dict(entry.split("=", 1) for entry in text.split("\0") if entry)
        assert every.keys() >= OF_THE_MACHINE | OF_THE_PROGRAM
        assert every["ORDITO_STEP"] == step
        shown = {n: v for n, v in every.items() if n not in OF_THE_MACHINE | OF_THE_SHELL | OF_THE_PROGRAM}
        if "page" in shown:
            # Each operation has a copy of its own.
            shown["page"] = re.sub(
                f"{re.escape(str(self.home))}/ensemble/.ordito/scratch/[^/]+/[^/]+/", "", shown["page"]
            )
        return shown


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Deployed:
    return Deployed(tmp_path_factory.mktemp("environment"))


@pytest.mark.parametrize("source", [1, 2])
@pytest.mark.parametrize("target", [1, 2])
def test_of_a_pair_both_families_and_nothing_else(deployed: Deployed, source: int, target: int) -> None:
    """R-4.2-1 to R-4.2-4, R-4.2-6 to R-4.2-11, R-4.2-13: each variable of an operation of a pair, on both sides; an
    input that reads from neither side is there for every instance of the side on which the operation runs."""
    name = f"my_node_S_{source}.to.MyNodeT_{target}.Configure"
    both = {**BOTH_SIDES, **INPUTS, **pair(source, target)}
    assert deployed.seen(f"{name}.add_target") == {**both, **of_each("my_node_S", FIXED="fast")}
    assert deployed.seen(f"{name}.add_source") == {**both, **of_each("MyNodeT", FIXED="fast"), "page": PAGE}


@pytest.mark.parametrize("moment", ["pre", "post"])
@pytest.mark.parametrize("number", [1, 2])
def test_once_per_instance_the_far_one_is_the_first(deployed: Deployed, moment: str, number: int) -> None:
    """R-4.2-13: an operation that runs once for all far instances names the first of them, and lists all."""
    seen = deployed.seen(f"my_node_S_{number}.my-node.S.to.Configure.{moment}_configure_source")
    assert seen == {**BOTH_SIDES, **INPUTS, **pair(number, 1), **of_each("my_node_S", FIXED="fast")}
    seen = deployed.seen(f"MyNodeT_{number}.my-node.S.to.Configure.{moment}_configure_target")
    own = {"TARGET_IP": "none", "ME": "none", "FIXED": "fast"}
    assert seen == {**BOTH_SIDES, **pair(1, number), **own, **of_each("MyNodeT", **own), "page": PAGE}


@pytest.mark.parametrize("number", [1, 2])
def test_of_a_node_operation_every_encoding(deployed: Deployed, number: int) -> None:
    """R-4.2-13, R-4.2-14: NODE, INSTANCE, INSTANCES, HOST; texts as they are, lists and maps as compact JSON."""
    inputs = {
        "WORDS": WORDS, "LIST": '["a b","c"]', "MAP": '{"k":1,"l":2}', "YES": "true", "NO": "false", "PORT": "8080",
        "RATIO": "0.5", "SIZE": "10 GB",
    }  # fmt: skip
    assert deployed.seen(f"MyNodeT_{number}.Standard.configure") == {
        "NODE": "MyNodeT",
        "INSTANCE": f"MyNodeT_{number}",
        "INSTANCES": "MyNodeT_1,MyNodeT_2",
        "HOST": "server",
        **inputs,
        **of_each("MyNodeT", **inputs),
        "OWN": f"192.168.0.1{number}",
        "MyNodeT_1_OWN": "192.168.0.11",
        "MyNodeT_2_OWN": "192.168.0.12",
        "OF_HOST": f"server_{number}",
        "MyNodeT_1_OF_HOST": "server_1",
        "MyNodeT_2_OF_HOST": "server_2",
        "page": PAGE,
    }
    warning = f'input "LATER" is unset: attribute "later" of MyNodeT_{number} has no value yet'
    assert warning in deployed.printed


def test_of_a_node_operation_without_inputs(deployed: Deployed) -> None:
    """R-4.2-13: nothing but the four variables of a node."""
    assert deployed.seen("my_node_S_2.Standard.start") == {
        "NODE": "my-node.S",
        "INSTANCE": "my_node_S_2",
        "INSTANCES": "my_node_S_1,my_node_S_2",
        "HOST": "server",
    }


def test_members_that_come_and_members_that_go(tmp_path: Path) -> None:
    """R-4.2-8, R-4.2-12: while a target is added the lists have it already, while it leaves they have it still, and
    its values with it; what is once per instance is not called again for those that were there."""
    deployed = Deployed(tmp_path)
    shutil.rmtree(tmp_path / "seen")
    deployed.run("deploy", "service.yaml", "-i", "targets=3", "--yes")
    again = {path.name for path in (tmp_path / "seen").iterdir()}
    assert not [step for step in again if "_configure_source" in step]
    assert {s for s in again if "_configure_target" in s} == {
        f"MyNodeT_3.my-node.S.to.Configure.{moment}_configure_target" for moment in ("pre", "post")
    }
    for operation in ("add_target", "add_source"):
        assert {s for s in again if s.endswith(operation)} == {
            f"my_node_S_{n}.to.MyNodeT_3.Configure.{operation}" for n in (1, 2)
        }
        seen = deployed.seen(f"my_node_S_2.to.MyNodeT_3.Configure.{operation}")
        assert (seen["TARGET"], seen["TARGETS"]) == ("MyNodeT_3", "MyNodeT_1,MyNodeT_2,MyNodeT_3")
        assert seen["TARGET_IP"] == seen["MyNodeT_3_TARGET_IP"] == "192.168.0.13"
        assert seen["MyNodeT_1_TARGET_IP"] == "192.168.0.11"
    deployed.run("deploy", "service.yaml", "-i", "targets=2", "--yes")
    for operation in ("remove_target", "remove_source"):
        seen = deployed.seen(f"my_node_S_1.to.MyNodeT_3.Configure.{operation}")
        assert (seen["TARGET"], seen["TARGET_INSTANCES"]) == ("MyNodeT_3", "MyNodeT_1,MyNodeT_2,MyNodeT_3")
        assert seen["TARGET_IP"] == seen["MyNodeT_3_TARGET_IP"] == "192.168.0.13"
    deployed.run("undeploy", "--yes")
    for source in (1, 2):
        seen = deployed.seen(f"my_node_S_{source}.to.MyNodeT_2.Configure.remove_target")
        assert (seen["TARGETS"], seen["MyNodeT_1_TARGET_IP"]) == ("MyNodeT_1,MyNodeT_2", "192.168.0.11")
        assert seen["SOURCE"] in seen["SOURCES"].split(",")
        assert seen["TARGET_IP"] == seen["MyNodeT_2_TARGET_IP"] == "192.168.0.12"


@pytest.mark.parametrize("target", ["MyNodeT_2", "MyNodeT_1"])
def test_members_that_stop_and_start(tmp_path: Path, target: str) -> None:
    """R-4.2-8, R-4.2-12: the lists hold the member that is taken out while it is, and that is taken in again; what is
    once per instance is called for none."""
    deployed = Deployed(tmp_path)
    number = target[-1]
    for verb, operations in (
        ("stop", ("remove_target", "remove_source")),
        ("start", ("add_target", "add_source")),
        ("restart", ("remove_target", "remove_source", "add_target", "add_source")),
    ):
        shutil.rmtree(tmp_path / "seen")
        deployed.run(verb, target, "--yes")
        steps = {path.name for path in (tmp_path / "seen").iterdir()}
        assert steps == {f"my_node_S_{n}.to.{target}.Configure.{name}" for n in (1, 2) for name in operations}
        for step in steps:
            seen = deployed.seen(step)
            assert (seen["TARGET"], seen["TARGETS"]) == (target, "MyNodeT_1,MyNodeT_2")
            assert seen["TARGET_IP"] == seen[f"{target}_TARGET_IP"] == f"192.168.0.1{number}"
            assert (seen["MyNodeT_1_TARGET_IP"], seen["MyNodeT_2_TARGET_IP"]) == ("192.168.0.11", "192.168.0.12")


LARGE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  inputs: { big: { type: string }, count: { type: integer } }
  node_templates:
    many:
      type: tosca.nodes.Root
      occurrences: [ 0, 99 ]
      instance_count: { get_input: count }
      interfaces:
        Standard:
          operations:
            create:
              implementation: look.sh
              inputs: { BIG: { concat: [ { get_input: big }, { get_attribute: [ SELF, tosca_id ] } ] } }
"""
LOOK = """\
#!/bin/bash
echo "${INSTANCES-none} ${#BIG} $(compgen -e | grep -c _BIG) ${ORDITO_ENVIRONMENT_FILE:+file}"
[ -z "$ORDITO_ENVIRONMENT_FILE" ] || . "$ORDITO_ENVIRONMENT_FILE"
own=${INSTANCE}_BIG
last=many_${INSTANCES##*_}_BIG
echo "$INSTANCES ${#BIG} ${#last} $([ "${!own}" = "$BIG" ] && echo same) ${!last: -6}"
"""


def test_what_is_too_large_is_in_a_file(tmp_path: Path) -> None:
    """Over 64 KiB the lists and the values of other instances are in a file that a script reads; its own stay."""
    (tmp_path / "service.yaml").write_text(LARGE, encoding="utf-8")
    (tmp_path / "look.sh").write_text(LOOK, encoding="utf-8")
    big = "x" * 4_000
    for count, place in ((2, "every"), (20, "file")):
        done = ordito(
            tmp_path, "deploy", "service.yaml", "-e", f"e{count}", "--yes", "-i", f"big={big}", "-i", f"count={count}"
        )
        assert done.code == 0, done.both
        job = json.loads(ordito(tmp_path, "jobs", "list", "-e", f"e{count}", "-o", "json").out)["jobs"][0]["id"]
        logs = ordito(tmp_path, "jobs", "logs", job, "-e", f"e{count}").out
        ids = ",".join(f"many_{n}" for n in range(1, count + 1))
        if place == "every":
            assert f"{ids} 4006 2 " in logs
        else:
            assert "none 4006 1 file" in logs
        assert sum(f" {ids} " in f" {line} " and " same " in line for line in logs.splitlines()) == count


REQUIRED = """\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  lab.Node:
    derived_from: tosca.nodes.Root
    attributes: { later: { type: string } }
    interfaces:
      Standard:
        operations:
          create:
            implementation: dump.sh
            inputs: { WANTED: { type: string, required: false, value: { get_attribute: [ SELF, later ] } } }
          start:
            implementation: dump.sh
            inputs: { WANTED: { type: string, required: true, value: { get_attribute: [ SELF, later ] } } }
topology_template: { node_templates: { thing: { type: lab.Node } } }
"""


def test_values_that_are_not_there(tmp_path: Path) -> None:
    """R-4.5.1-5: an input without a value is unset, with a warning; one that is required keeps its operation from being
    started, which is a failure that names it."""
    (tmp_path / "service.yaml").write_text(REQUIRED, encoding="utf-8")
    (tmp_path / "dump.sh").write_text(DUMP, encoding="utf-8")
    done = ordito(tmp_path, "deploy", "service.yaml", "-e", "ensemble", "--yes")
    assert done.code == 1
    assert 'warning: input "WANTED" is unset: attribute "later" of thing_1 has no value yet' in done.both
    assert 'required input "WANTED" has no value: attribute "later" of thing_1 has no value yet' in done.both
    assert [path.name for path in (tmp_path / "seen").iterdir()] == ["thing_1.Standard.create"]
    seen = (tmp_path / "seen" / "thing_1.Standard.create").read_text(encoding="utf-8")
    assert "WANTED" not in seen
