"""An interrupt among many operations that do nothing: it is heard before the next thousand of them."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pytest

from tests.acceptance.program import ordito

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  node_templates:
    many: { type: tosca.nodes.Root, occurrences: [ 0, 1500 ], instance_count: 1500 }
"""
AT_THE_FIRST = """\
import os
from ordito.engine.steps import Steps
carried_out = Steps.finish_no_op
def interrupted(self, index):
    Steps.finish_no_op = carried_out
    os.kill(os.getpid(), {number})
    carried_out(self, index)
Steps.finish_no_op = interrupted
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("verb", ["deploy", "undeploy"])
def test_no_more_than_one_turn_is_carried_out(tmp_path: Path, verb: str, number: signal.Signals) -> None:
    (tmp_path / "service.yaml").write_text(SERVICE, encoding="utf-8")
    words = {"deploy": ["deploy", "service.yaml"], "undeploy": ["undeploy"]}
    if verb == "undeploy":
        assert ordito(tmp_path, "-e", "live", *words["deploy"], "--yes").code == 0
    code = AT_THE_FIRST.format(number=int(number))
    done = ordito(tmp_path, "-e", "live", *words[verb], "--yes", code=code)
    assert done.code in (130, 143), done.both
    told = re.search(r"cancelled after \S+: (\d+) no-op, (\d+) skipped", done.both)
    assert told is not None, done.both
    assert 0 < int(told[1]) <= 1_000
    # What was interrupted is whole: the next command carries on.
    assert ordito(tmp_path, "-e", "live", words[verb][0], "--yes").code == 0


def test_what_is_deployed_in_part_is_told_by_its_own_job_alone(tmp_path: Path) -> None:
    """After everything was removed nothing that is there is of an earlier job."""
    (tmp_path / "service.yaml").write_text(SERVICE, encoding="utf-8")
    for words in (["deploy", "service.yaml"], ["undeploy"]):
        assert ordito(tmp_path, "-e", "live", *words, "--yes").code == 0
    killed = ordito(tmp_path, "-e", "live", "deploy", "--yes", code=AT_THE_FIRST.format(number=int(signal.SIGKILL)))
    assert killed.code == -signal.SIGKILL
    status = ordito(tmp_path, "-e", "live", "status").out
    assert "(deploy) was interrupted" in status
    assert "deployed in part" not in status
