"""Any history of an ensemble can be rebuilt, job by job: deployments that fail, fewer and more instances, links,
removals, and changes by hand."""

from __future__ import annotations

from pathlib import Path
from random import Random

import msgspec
import pytest

from ordito.ensemble.layout import Layout
from ordito.ensemble.manifest import read_rows
from ordito.ensemble.manifest_rows import StatusRow
from tests.cli.program import Run

SERVICE = """
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  test.Db:
    derived_from: tosca.nodes.Root
    attributes: { users: { type: string }, word: { type: string } }
topology_template:
  inputs:
    word: { type: string, default: first }
    count: { type: integer, default: 2, constraints: [ in_range: [ 0, 9 ] ] }
  node_templates:
    db:
      type: test.Db
      attributes: { users: none, word: none }
      interfaces:
        Standard:
          operations:
            create: { implementation: do.sh, inputs: { word: { get_input: word } }, outputs: { told: [ SELF, word ] } }
            stop: do.sh
            delete: do.sh
    app:
      type: tosca.nodes.Root
      instance_count: { get_input: count }
      occurrences: [ 0, 9 ]
      requirements:
        - dependency:
            node: db
            relationship:
              type: tosca.relationships.DependsOn
              interfaces:
                Configure:
                  operations:
                    pre_configure_source: do.sh
                    add_target: { implementation: do.sh, outputs: { told: [ TARGET, users ] } }
                    remove_target: do.sh
      interfaces: { Standard: { operations: { create: do.sh, start: do.sh, stop: do.sh, delete: do.sh } } }
  outputs:
    word: { value: { get_attribute: [ db, word ] } }
"""

SCRIPT = """
told="$INSTANCE ${word:-}"
[ -z "$(find "$PLACE" -name broken)" ] || [ $(( $(date +%N | cut -c7-9 | sed 's/^0*//;s/^$/0/') % 3 )) != 0 ]
"""


def action(random: Random, at: int) -> list[str]:
    """Something that people do."""
    count, word = f"count={random.randint(0, 4)}", f"word=w{at}"
    return random.choice(
        [
            ["deploy", "service.yaml", "--yes", "-i", count],
            ["deploy", "service.yaml", "--yes", "-i", count],
            ["deploy", "service.yaml", "--yes", "-i", count, "-i", word],
            ["deploy", "service.yaml", "--yes", "-i", count, "--on-failure", "abort"],
            ["undeploy", "--yes"],
            ["forget", "--yes"],
            ["state", "rm", "app_1", "--yes"],
        ]
    )


@pytest.mark.parametrize("seed", range(3))
def test_every_moment_of_a_history(run: Run, tmp_path: Path, seed: int) -> None:
    random, layout = Random(seed), Layout(tmp_path)
    (tmp_path / "service.yaml").write_text(SERVICE)
    (tmp_path / "do.sh").write_text("#!/bin/bash" + SCRIPT.replace("$PLACE", str(tmp_path)))
    after: dict[str, StatusRow] = {}
    for at in range(8):
        ran = run(*(["deploy", "service.yaml", "--yes"] if not at else action(random, at)))
        assert ran.code in ({0} if not at else {0, 1, 3}), ran.err
        (tmp_path / "broken").unlink(missing_ok=True)
        if random.random() < 0.4:
            (tmp_path / "broken").touch()
        row = read_rows(layout)
        assert row is not None
        assert row.last_job is not None
        after.setdefault(row.last_job.change_id, row)
        done = run("jobs", "replay")
        assert done.code == 0, done.out + done.err
    assert list(after) == layout.job_ids()
    for number, (job, expected) in enumerate(after.items(), 1):
        for words in (["--until", job], ["--first", str(number)]):
            state = run("jobs", "replay", *words, "-o", "json").json["state"]
            plain = msgspec.to_builtins(msgspec.structs.replace(expected, parts={}))
            assert state == plain
