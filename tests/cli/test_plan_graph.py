"""`ordito graph --workflow`: what a workflow would do as a picture, with the reason of every edge."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings

from ordito.app.requests import REQUESTS
from ordito.authoring.graph import GraphEdge, GraphStep, PlanGraph
from ordito.cli.graph.dot import plan_dot
from ordito.cli.graph.mermaid import plan_mermaid
from ordito.cli.graph.svg import BOX, plan_layout, plan_svg
from ordito.cli.graph.text import write_plan_graph
from ordito.planning.preview import PreviewStep
from ordito.work.plan import Action, Plan
from tests.cli.channels import channel, written
from tests.cli.program import DATA, Run
from tests.cli.test_graph import HOSTILE
from tests.engine.fakes import plans

SHOP = DATA.parent.parent / "examples" / "shop"
WATCHED = DATA / "watched"
SVG = "{http://www.w3.org/2000/svg}"


def hostile() -> PlanGraph:
    """A step for each name, and a join, one after the other."""
    steps = [GraphStep(n, n, i, i, shown=PreviewStep(n, n, f"I.{n}", reason=n)) for i, n in enumerate(HOSTILE)]
    steps.append(GraphStep("join", "", len(steps), 0))
    edges = [GraphEdge(i, i + 1, i) for i in range(len(steps) - 1)]
    return PlanGraph(HOSTILE[0], HOSTILE[1], tuple(HOSTILE), tuple(steps), tuple(edges), tuple(HOSTILE), 3)


def of_plan(plan: Plan) -> PlanGraph:
    columns = [0] * len(plan.steps)
    for before, after, _ in plan.edges:
        columns[after] = max(columns[after], columns[before] + 1)
    steps = tuple(
        GraphStep(s.id, "" if s.action is Action.JOIN else s.instance, columns[i], 0, shown=PreviewStep(s.id, "", s.id))
        for i, s in enumerate(plan.steps)
    )
    lanes = tuple(dict.fromkeys(s.lane for s in steps if s.lane))
    return PlanGraph("s", "deploy", lanes, steps, tuple(GraphEdge(*e) for e in plan.edges), ("because",))


def test_pictures_and_text_hold_any_name() -> None:
    graph = hostile()
    root = ElementTree.fromstring("\n".join(plan_svg(graph)))
    assert not list(root.iter(f"{SVG}script"))
    assert any(text.text == "and 3 more steps" for text in root.iter(f"{SVG}text"))
    for line in plan_dot(graph):
        rest = re.sub(r'"(?:[^"\\]|\\.)*"', "S", line)
        assert '"' not in rest
        assert "\x1b" not in line
    for line in plan_mermaid(graph):
        for text in re.findall(r'"([^"]*)"', line):
            assert re.fullmatch(r"([\w .-]|#\d+;|<br/>)*", text), text
    to = channel()
    write_plan_graph(graph, to)
    assert "\x1b" not in written(to)


@settings(deadline=None)
@given(plans())
def test_steps_stand_apart_and_after_what_they_wait_for(plan: Plan) -> None:
    graph = of_plan(plan)
    found = plan_layout(graph)
    for edge in graph.edges:
        assert found.places[edge.before].right < found.places[edge.after].left
    works = [place for place, step in zip(found.places, graph.steps, strict=True) if step.lane]
    for number, place in enumerate(works):
        assert 0 < place.left < place.right < found.width
        for other in works[:number]:
            beside = place.right <= other.left or other.right <= place.left
            assert beside or abs(place.y - other.y) >= BOX


@pytest.mark.parametrize("form", ["mermaid", "dot", "svg"])
def test_the_deployment_of_the_shop(run: Run, form: str) -> None:
    first = run("graph", "--workflow", "deploy", SHOP, "-o", form)
    assert first.code == 0, first.err
    assert run("graph", "--workflow=deploy", SHOP, "-o", form).out == first.out
    assert first.out.count("create") >= 5
    reasons = ["web requires api", "the order of the lifecycle", "links of balancer.member"]
    assert all(reason in first.out.replace("#95;", "_") for reason in reasons)
    run("graph", "--workflow", "install", SHOP, "-o", form, "--out", "picture")
    assert Path("picture").read_text(encoding="utf-8") == first.out


def test_every_edge_has_its_reason(run: Run) -> None:
    data = json.loads(run("graph", "--workflow", "deploy", SHOP, "-o", "json").out)
    assert data["edges"]
    assert all(edge["reason"] for edge in data["edges"])
    assert all(step["reason"] for step in data["steps"])
    text = run("graph", "--workflow", "deploy", SHOP).out
    assert "web_1.Standard.configure  scripts/configure.sh on web_machine_1" in text
    assert "← api_1.Standard.start: web requires api (api): up before web begins" in text


def test_what_a_workflow_would_do_to_what_exists(run: Run, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    assert run("deploy", WATCHED, "-i", f"folder={tmp_path / 'folder'}", "-i", "count=2", "--yes").code == 0
    steps = {w: json.loads(run("graph", "--workflow", w, "-o", "json").out)["steps"] for w in ("undeploy", "check")}
    assert {"middle_1.Standard.stop", "base_1.Standard.delete"} <= {s["id"] for s in steps["undeploy"]}
    assert {s["operation"] for s in steps["check"]} == {"Maintain.check"}
    one = json.loads(run("graph", "--workflow", "check", "base_1", "-o", "json").out)["steps"]
    assert [s["instance"] for s in one] == ["base_1"]


def test_a_workflow_of_the_template_is_named_by_two_words(run: Run) -> None:
    service = Path("service.yaml")
    service.write_text(
        "tosca_definitions_version: tosca_simple_yaml_1_3\n"
        "topology_template:\n"
        "  node_templates: { web: { type: tosca.nodes.Root } }\n"
        "  workflows: { drain: { steps: { one: { target: web, activities: [ set_state: stopping ] } } } }\n"
    )
    assert run("deploy", "service.yaml", "--yes").code == 0
    one = run("graph", "--workflow", "workflow drain", "-o", "json")
    assert one.code == 0, one.err
    assert json.loads(one.out)["workflow"] == "workflow drain"
    assert run("graph", "--workflow", "workflow", "drain", "-o", "json").out == one.out


def test_large_plans_are_cut(run: Run) -> None:
    drawn = run("graph", "--workflow", "deploy", SHOP, "-o", "svg", "--limit", "4")
    assert "more steps" in drawn.out
    assert drawn.out.count('class="name"') == 4


def test_mistakes_are_told_before_anything_is_read(run: Run) -> None:
    unknown = run("graph", "--workflow", "undeplo")
    assert unknown.code == 64
    assert 'did you mean "undeploy"?' in unknown.err
    assert run("graph", "--workflow").code == 64
    assert run("graph", "--workflow", "undeploy").code == 3
    assert run("graph", "--workflow", "deploy", SHOP, "--out", "x").code == 64


ARGUMENTS = {
    "deploy": ["--reset-counts"],
    "upgrade": ["--prune", "early"],
    "rollback": ["1"],
    "undeploy": [],
    "scale": ["middle", "--delta", "1"],
    "heal": ["base_1", "--reinstall"],
    "stop": ["base"],
    "start": ["--all"],
    "restart": ["base"],
    "check": [],
    "discover": [],
    "run": ["Standard.create", "--dependency-order"],
    "workflow": ["visit"],
}


def test_every_workflow_has_a_picture_and_an_explanation_with_reasons(run: Run, tmp_path: Path) -> None:
    service = tmp_path / "service"
    service.mkdir()
    for file in WATCHED.iterdir():
        (service / file.name).write_bytes(file.read_bytes())
    text = (service / "service.yaml").read_text().replace("  outputs:\n    port:", f"{VISIT}  outputs:\n    port:")
    (service / "service.yaml").write_text(text)
    (tmp_path / "folder").mkdir()
    assert set(ARGUMENTS) == set(REQUESTS)
    done = run("deploy", service, "-i", f"folder={tmp_path / 'folder'}", "-i", "count=2", "--yes")
    assert done.code == 0, done.err
    for workflow, words in ARGUMENTS.items():
        if workflow == "start":
            assert run("stop", "--all", "--yes").code == 0
        shown = run("graph", "--workflow", workflow, *words, "-o", "json")
        assert shown.code == 0, shown.err
        assert all(edge["reason"] for edge in shown.json["edges"]), workflow
        assert all(step["reason"] for step in shown.json["steps"]), workflow
        assert shown.json["steps"] or workflow in {"deploy", "upgrade", "rollback"}
        explained = run("plan", workflow, *words, "--explain")
        assert explained.code == 0, explained.err
        for reason in {edge["reason"] for edge in shown.json["edges"]}:
            assert reason in explained.out, (workflow, reason)
        if workflow == "start":
            assert run("start", "--all", "--yes").code == 0


VISIT = """\
  workflows:
    visit:
      steps:
        first: { target: base, activities: [ { call_operation: Standard.start } ], on_success: [ second ] }
        second: { target: middle, activities: [ { call_operation: Standard.start } ] }
"""
