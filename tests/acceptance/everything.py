"""A service in which every workflow has something to do: a host with several things on it, several instances, links
whose sources listen to changes, checks, triggers, and workflows that are written down; each operation can be told to
fail, and writes down that it begins and ends."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from tests.acceptance.busy import Tidy
from tests.acceptance.program import LOGGING, Finished, ordito

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
imports: [ profile:ordito ]
interface_types:
  all.Work:
    derived_from: tosca.interfaces.Root
    operations: { one: {}, two: {}, rescue: {} }
    notifications: { told: {} }
node_types:
  all.Node:
    derived_from: tosca.nodes.SoftwareComponent
    attributes: { mark: { type: string }, level: { type: integer } }
    requirements:
      - peer: { capability: tosca.capabilities.Node, relationship: all.Link, occurrences: [ 0, UNBOUNDED ] }
    interfaces:
      Standard:
        type: tosca.interfaces.node.lifecycle.Standard
        operations:
          create: { implementation: do.sh, outputs: { mark: [ SELF, mark ] } }
          configure: do.sh
          start: do.sh
          stop: do.sh
          delete: do.sh
      Work:
        type: all.Work
        operations:
          one:
            implementation: do.sh
            inputs: { word: { type: string, default: none } }
            outputs: { mark: [ SELF, mark ] }
          two: do.sh
          rescue: do.sh
        notifications: { told: { outputs: { level: [ SELF, level ] } } }
  all.Watched:
    derived_from: all.Node
    interfaces: { Maintain: { type: ordito.interfaces.Maintain, operations: { check: do.sh, heal: do.sh } } }
relationship_types:
  all.Link:
    derived_from: tosca.relationships.Root
    interfaces:
      Configure:
        type: tosca.interfaces.relationship.Configure
        operations:
          pre_configure_source: do.sh
          add_target: do.sh
          remove_target: do.sh
          target_changed: { implementation: do.sh, inputs: { mark: { get_attribute: [ TARGET, mark ] } } }
topology_template:
  node_templates:
    host: { type: tosca.nodes.Compute }
    other: { type: tosca.nodes.Compute }
    db: { type: all.Watched, requirements: [ { host: host } ] }
    app: { type: all.Node, requirements: [ { host: host }, { peer: db } ] }
    web:
      type: all.Node
      occurrences: [ 0, 9 ]
      instance_count: 2
      requirements: [ { host: other }, { peer: db } ]
    last: { type: all.Node, requirements: [ { host: other }, { peer: web } ] }
  policies:
    - high:
        type: tosca.policies.Root
        targets: [ web, app ]
        triggers:
          high:
            event: Work.told
            action: [ { call_operation: Work.one }, { delegate: restart }, { call_operation: Work.two } ]
  workflows:
    written:
      inputs: { word: { type: string } }
      steps:
        first:
          target: web
          activities:
            - set_state: working
            - call_operation: { operation: Work.one, inputs: { word: { get_input: word } } }
            - inline: inner
          on_success: [ last ]
          on_failure: [ rescue ]
        rescue:
          target: web
          activities: [ { set_state: rescued }, { call_operation: Work.rescue } ]
          on_success: [ then ]
        then: { target: last, activities: [ { call_operation: Work.two } ] }
        last: { target: last, activities: [ { call_operation: Work.one }, { call_operation: Work.two } ] }
    inner:
      steps: { only: { target: web, activities: [ { call_operation: Work.two } ] } }
"""

OVERRIDING = """\
    deploy:
      steps:
        below: { target: db, activities: [ { delegate: deploy } ], on_success: [ web ] }
        web:
          target: web
          activities:
            - call_operation: Standard.create
            - call_operation: Standard.start
            - set_state: started
          on_success: [ last ]
        last: { target: last, activities: [ { delegate: deploy } ] }
    undeploy:
      steps:
        last: { target: last, activities: [ { delegate: undeploy } ], on_success: [ web ] }
        web:
          target: web
          activities: [ { call_operation: Standard.stop }, { call_operation: Standard.delete } ]
          on_success: [ db ]
        db: { target: db, activities: [ { delegate: undeploy } ] }
"""
"""Two workflows more, in the place of those that are made."""

SCRIPT = """\
set -eu
name=${INSTANCE:-$SOURCE-$TARGET}
thing=$HOME/things/$name
order=$HOME/orders/$ORDITO_STEP
if [ -e "$order" ]; then . "$order"; fi
step=${ORDITO_STEP%.again}
step=${step%.ready}
case ${step##*.} in
    check)
        # Of what was at work when the program died it knows nothing.
        [ -z "${in_doubt:-}" ] || echo '{"ordito.done": false}' >"$ORDITO_OUTPUTS"
        [ -e "$thing.started" ] || exit 1 ;;
    create) : >"$thing.created" ;;
    start) : >"$thing.started" ;;
    add_target) : >"$thing.linked" ;;
    stop) rm -f "$thing.started" ;;
    delete) rm -f "$thing.created" ;;
    remove_target) rm -f "$thing.linked" ;;
esac
mark=$name${word:+-$word}
"""


@dataclass(frozen=True)
class Everything(Tidy):
    """Such a service and its ensemble."""

    def order(self, step: str, script: str = "exit 3") -> None:
        """Say what an operation does from now on, before its part: lines of bash."""
        (self.home / "orders" / step).write_text(script, encoding="utf-8")

    def give(self, *words: str, code: str = "") -> Finished:
        """Give a command; ``code`` is Python that runs first in the same process, to break it on purpose."""
        asks = () if words[0] in {"notify", "check"} else ("--yes",)
        return ordito(self.home, *words, *asks, "-e", "ensemble", code=code)

    def copy(self, home: Path) -> Everything:
        """The same in another directory; nothing of it knows where it is."""
        shutil.copytree(self.home, home, symlinks=True)
        return Everything(home, home / "service" / "service.yaml")


def make_everything(home: Path, *, overriding: bool = False) -> Everything:
    """A service that is not deployed yet."""
    folder = home / "service"
    folder.mkdir(parents=True)
    for name in ("things", "orders"):
        (home / name).mkdir()
    made = Everything(home, folder / "service.yaml")
    made.service.write_text(SERVICE + (OVERRIDING if overriding else ""), encoding="utf-8")
    logging = LOGGING.format(log="$HOME/operations.log")
    (folder / "do.sh").write_text(f"#!/bin/bash\n{logging}\n{SCRIPT}", encoding="utf-8")
    return made
