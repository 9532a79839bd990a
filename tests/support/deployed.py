"""A service of two nodes that is deployed, of which further forms can be written, and what its operations have said."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ordito.app.job.replay import ReplayRequest, replay
from ordito.app.job.report import JobReport
from ordito.app.requests import DeployRequest, GivenInputs, Request
from ordito.app.workflow_run import WorkflowRequest, run_workflow
from ordito.ensemble.status import Status
from ordito.ensemble.store import read_ensemble
from ordito.instances.records import Snapshot
from ordito.testing import Agreeing
from ordito.work.options import JobOptions
from tests.support.by_hand import Restarting

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  Talking:
    derived_from: tosca.nodes.Root
    properties: { version: { type: string, default: none } }
    interfaces:
      Standard:
        inputs:
          word: { type: string, default: { get_input: word } }
          log: { type: string, default: { get_input: log } }
        operations: { start: do.sh, stop: do.sh }
topology_template:
  inputs: { word: { type: string }, log: { type: string } }
  outputs: { version: { value: { get_property: [ base, version ] } } }
  node_templates:
    base: { type: Talking, properties: { version: VERSION } }
    top: { type: Talking, requirements: [ dependency: base ] }
"""
USUALLY = JobOptions()
NEW_NODE = "    more: { type: Talking, requirements: [ dependency: base ] }\n"
SCRIPT = 'echo {version} $word ${{ORDITO_STEP/Standard./}} >>"$log"\n[ "$ORDITO_STEP" != {failing} ]\n'


class Deployed:
    """A service that is deployed in a directory, the first form of it in the beginning."""

    def __init__(self, root: Path) -> None:
        self.root, self.ensemble = root, root / "ensemble"
        self.log = root / "log"
        self.write("v1")
        self.run(
            DeployRequest(str(root / "service.yaml"), inputs=GivenInputs(texts={"word": "one", "log": str(self.log)}))
        )
        self.first = self.recorded()[1].form
        self.log.write_text("")

    def write(self, version: str, *, failing: str = "nothing", more: str = "") -> None:
        """Write the files of a form."""
        (self.root / "service.yaml").write_text(SERVICE.replace("VERSION", version) + more)
        (self.root / "do.sh").write_text(SCRIPT.format(version=version, failing=failing))

    def run(self, request: Request, options: JobOptions = USUALLY) -> JobReport:
        """Run a workflow."""
        plan_it = request.planned if isinstance(request, Restarting) else None
        asked = WorkflowRequest(str(self.ensemble), request, options)
        report = run_workflow(asked, Agreeing(), plan_it).report
        assert report is not None
        return report

    def recorded(self) -> tuple[Snapshot, Status]:
        """What the record says."""
        with read_ensemble(self.ensemble) as ensemble:
            return ensemble.snapshot, ensemble.status

    @property
    def lines(self) -> list[str]:
        """What the operations have said."""
        return self.log.read_text().splitlines()

    @property
    def forms(self) -> Mapping[str, str]:
        """In which form the record says that each instance is."""
        return {record.id: record.form for record in self.recorded()[0].instances.values()}

    def check_replay(self) -> None:
        """See that the records of all jobs say what the status does."""
        found = replay(ReplayRequest(str(self.ensemble)))
        assert (found.problems, found.differs) == ((), ())
