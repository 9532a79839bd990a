"""The report of a job: one page that loads and runs nothing, whatever names and outputs there are."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import time
from html.parser import HTMLParser
from pathlib import Path

import pytest

from ordito.app.course import Attempt, CourseStep, JobCourse, StepOutcome
from ordito.authoring.graph import Graph, GraphConnection, GraphNode
from ordito.results.report.bars import MOST_ROWS
from ordito.results.report.content import NO_LOG, LogExcerpt, ReportContent
from ordito.results.report.page import page
from ordito.results.report.text import how_long, size, text
from tests.cli.program import Run

HOSTILE = [
    '<script>alert("x")</script>',
    '"><img src=x onerror=alert(1)>',
    "</style><style>*{display:none}</style>",
    "</pre></svg></title><b>",
    "&lt;b&gt; &amp; &#60;",
    "\x1b[31mred\x1b[0m \x1b]8;;http://x\x07link\x1b]8;;\x07",
    "\u202egnp.exe",
    "new\nline\ttab\0nul\x07",
    "\ud800",
    "javascript:alert(1)",
    "名前",
    "x" * 5_000,
]


class Elements(HTMLParser):
    """What is in a page: its elements with their attributes, and all its text."""

    def __init__(self, document: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(document)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in ("meta", "line", "rect", "path", "circle"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("line", "rect", "path", "circle") or tag in self.open:
            assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def checked(document: str) -> Elements:
    """The elements of a page, of which nothing is loaded or run, and whose style is the one that it permits."""
    # A rectangle or a path may hold a title.
    closed = re.sub(r"<(rect|circle|path)([^>]*[^/])>(<title>[^<]*</title>)</\1>", r"<\1\2/>\3", document)
    found = Elements(closed)
    assert not found.open
    tags = {tag for tag, _ in found.found}
    assert not tags & {
        "script",
        "img",
        "link",
        "iframe",
        "object",
        "embed",
        "form",
        "input",
        "base",
        "b-",
        "foreignobject",
    }
    for tag, attributes in found.found:
        for name, value in attributes.items():
            assert not name.startswith("on"), (tag, name)
            assert name not in ("style", "src", "srcset", "xlink:href"), (tag, name)
            assert name != "href" or re.fullmatch(r"#[a-z]+", value or ""), value
    [style] = re.findall(r"<style>(.*?)</style>", document, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    [policy] = [
        attributes["content"]
        for tag, attributes in found.found
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert "url(" not in style
    assert "@import" not in style
    return found


def content(steps: list[CourseStep], graph: Graph, log: LogExcerpt = NO_LOG, status: str = "failed") -> ReportContent:
    """What a report shows of a job with these steps."""
    course = JobCourse("A6BM5PEY0000", "deploy", status, 1_000.0, 1_900.0, steps={step.id: step for step in steps})
    verdicts = {step.instance: (graph.nodes[0].name, "failed" if step.state == "failed" else "done") for step in steps}
    return ReportContent(course, None, None, graph, verdicts, log, {}, "shop", time.time())


def written(found: ReportContent) -> str:
    return "".join(f"{line}\n" for line in page(found))


def test_hostile_names_and_outputs_stay_texts() -> None:
    steps = []
    for number, bad in enumerate(HOSTILE):
        outcome = StepOutcome(bad, tail=(bad, bad))
        attempts = [Attempt(1_000.0 + number, 1_001.0 + number, "failed", outcome)]
        steps.append(
            CourseStep(
                f"{bad}.{number}",
                f"{bad}{number}",
                bad,
                state="failed",
                attempts=attempts,
                at=1_001.0 + number,
                outcome=outcome,
                because=bad,
                reason=bad,
                declared=bad,
                artifact=bad,
                host=bad,
            )
        )
    nodes = tuple(GraphNode(bad, bad) for bad in HOSTILE)
    lines = tuple(GraphConnection(HOSTILE[0], bad, bad, bad) for bad in HOSTILE[1:])
    log = LogExcerpt(tuple((bad, bad) for bad in HOSTILE), 5, is_kept=True)
    document = written(content(steps, Graph("g", nodes, lines, {}), log))
    found = checked(document)
    whole = "".join(found.texts)
    for bad in (*HOSTILE[:5], "名前", "javascript:alert(1)"):
        assert bad in whole
    assert "red link" in whole, "colours of terminals are left out"
    assert not re.search("[\x00-\x08\x0b-\x1f\u202e\ud800-\udfff]", document)
    document.encode()


def test_a_large_job_is_a_page_that_can_be_opened() -> None:
    steps = []
    for number in range(30_000):
        began = 1_000.0 + number * 0.03
        state = "failed" if number % 500 == 7 else "succeeded"
        ran = [Attempt(began, began + 0.2, state)]
        name = f"web_{number // 3}"
        steps.append(CourseStep(f"{name}.op{number % 3}", name, f"op{number % 3}", state=state, attempts=ran, at=began))
    document = written(content(steps, Graph("g", (GraphNode("web", "t"),), (), {})))
    found = checked(document)
    assert len(document) < 1_000_000
    [timeline] = re.findall(r'<svg class="timeline".*?</svg>', document, re.DOTALL)
    assert timeline.count('class="label') - 1 <= MOST_ROWS
    whole = "".join(found.texts)
    assert "9,940 instances more" in whole
    assert "And 10 failed steps more." in whole
    assert "at a time" in whole


def test_the_report_of_a_job_by_the_command(run: Run) -> None:
    Path("service.yaml").write_text(
        "tosca_definitions_version: tosca_simple_yaml_1_3\n"
        "node_types:\n  Said:\n    derived_from: tosca.nodes.Root\n"
        "    interfaces: { Standard: { operations: { create: say.sh, start: fail.sh } } }\n"
        "topology_template: { node_templates: { web: { type: Said } } }\n"
    )
    Path("say.sh").write_text("echo '<b>made</b>'\n")
    Path("fail.sh").write_text("echo no room left; exit 3\n")
    assert run("-e", "shop", "deploy", "service.yaml", "--yes").code != 0
    shown = run("jobs", "report", "-e", "shop")
    assert shown.code == 0
    whole = "".join(checked(shown.out).texts)
    for expected in ("web_1.Standard.start", "no room left", "exit 3", "fail.sh", "<b>made</b>", "1 wanted"):
        assert expected in whole
    assert whole.index("1 failed step") < whole.index("Topology") < whole.index("What was done, and why")
    assert run("jobs", "report", "-e", "shop", "--out", "report.html").out == ""
    assert "no room left" in Path("report.html").read_text(encoding="utf-8")
    assert run("jobs", "report", "ZZ", "-e", "shop").code == 3
    job = json.loads(run("jobs", "list", "-o", "json", "-e", "shop").out)["jobs"][0]["id"]
    assert job in run("jobs", "report", job[:6], "-e", "shop").out


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "0 ms"),
        (0.012, "12 ms"),
        (1.25, "1.2 s"),
        (59.4, "59 s"),
        (65, "1 min 5 s"),
        (120, "2 min"),
        (7_800, "2 h 10 min"),
    ],
)
def test_times_are_written_for_people(seconds: float, said: str) -> None:
    assert how_long(seconds) == said


def test_sizes_are_written_for_people() -> None:
    assert [size(n) for n in (5, 2_048, 3 << 20, 5 << 30)] == ["5 bytes", "2.0 KiB", "3.0 MiB", "5.0 GiB"]
    assert text('<a b="c">') == "&lt;a b=&quot;c&quot;&gt;"
