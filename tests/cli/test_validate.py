"""`ordito validate`: several services, strictness, and what it writes for other programs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from ordito.base.diagnostics import Diagnostic, Related, Severity
from ordito.base.span import SourceText, Span
from ordito.cli.finding_formats import BASE, FilePlace, annotation_lines, place_of_file, sarif
from tests.cli.program import DATA, Run

TINY = DATA / "tiny"
VERSION = "tosca_definitions_version: tosca_simple_yaml_1_3\n"
WARNS = VERSION + "topology_template: { inputs: { name: { default: x } } }\n"
WRONG = VERSION + "topology_template:\n  inputs:\n    größe: { type: integer, default: groß }\n"
MAPPED = WRONG + "    kleine: { type: integer, default: [ a, b,\n      c ] }\n"


def check_sarif(log: Any) -> None:
    """The structure that SARIF 2.1.0 asks of a log, as far as it is used here."""
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("sarif-schema-2.1.0.json")
    assert isinstance(log["runs"], list)
    for run in log["runs"]:
        assert run["columnKind"] in {"utf16CodeUnits", "unicodeCodePoints"}
        driver = run["tool"]["driver"]
        assert isinstance(driver["name"], str)
        rules = driver["rules"]
        assert len({rule["id"] for rule in rules}) == len(rules)
        for rule in rules:
            assert {"shortDescription", "fullDescription", "help"} <= rule.keys()
            assert all(rule[name]["text"] for name in ("shortDescription", "fullDescription", "help"))
            assert rule["defaultConfiguration"]["level"] in {"error", "warning", "note"}
        for invocation in run["invocations"]:
            assert isinstance(invocation["executionSuccessful"], bool)
        for result in run["results"]:
            assert result["message"]["text"]
            assert result["level"] in {"error", "warning", "note"}
            assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
            for location in [*result.get("locations", ()), *result.get("relatedLocations", ())]:
                check_location(location, run)


def check_location(location: Any, run: Any) -> None:
    assert "physicalLocation" in location or location["logicalLocations"]
    physical = location.get("physicalLocation")
    if physical is None:
        return
    artifact = physical["artifactLocation"]
    assert re.fullmatch(r"[A-Za-z0-9_.~/%:@!$&'()*+,;=-]+", artifact["uri"])
    if not artifact["uri"].startswith("file:///"):
        assert artifact["uriBaseId"] in run["originalUriBaseIds"]
        assert not artifact["uri"].startswith("/")
    region = physical.get("region")
    if region is not None:
        begin, end = (region["startLine"], region["startColumn"]), (region["endLine"], region["endColumn"])
        assert min(*begin, *end) >= 1
        assert begin <= end


def test_sarif_of_a_broken_service(run: Run) -> None:
    """The places of findings are relative and count code points; rules are the pages of the codes."""
    Path("häuser").mkdir()
    Path("häuser/my service.yaml").write_text(MAPPED, encoding="utf-8")
    done = run("validate", "häuser/my service.yaml", "-o", "sarif")
    assert done.code == 3
    log = json.loads(done.out)
    check_sarif(log)
    (only,) = log["runs"]
    assert only["invocations"] == [{"executionSuccessful": True, "exitCode": 3}]
    assert [rule["id"] for rule in only["tool"]["driver"]["rules"]] == ["bad-value"]
    first, second = only["results"]
    place = first["locations"][0]["physicalLocation"]
    assert unquote(place["artifactLocation"]["uri"]) == "häuser/my service.yaml"
    assert place["artifactLocation"]["uriBaseId"] == BASE
    assert place["region"] == {"startLine": 4, "startColumn": 38, "endLine": 4, "endColumn": 42}
    assert second["locations"][0]["physicalLocation"]["region"]["endLine"] == 6
    assert first["relatedLocations"][0]["message"]["text"]


def test_sarif_of_a_valid_service_and_several(run: Run) -> None:
    Path("warns.yaml").write_text(WARNS)
    done = run("validate", TINY, "warns.yaml", "warns.yaml", "-o", "sarif")
    assert done.code == 0
    log = json.loads(done.out)
    check_sarif(log)
    assert [result["ruleId"] for result in log["runs"][0]["results"]] == ["missing-input", "untyped-input"], (
        "each finding once"
    )
    missing = run("-o", "sarif", "validate", "nowhere.yaml")
    assert missing.code == 3
    log = json.loads(missing.out)
    check_sarif(log)
    assert "locations" not in log["runs"][0]["results"][0]


def test_sarif_of_places_that_are_no_files() -> None:
    span = Span(SourceText("x.csar:/a/service.yaml", "abc"), 1, 1, 1, 2)
    related = Related("[a](b) is declared here", Span(SourceText("profile:x/y.yaml", "abc"), 1, 1, 1, 2))
    log = sarif([Diagnostic(Severity.NOTE, "made-up", "m", span, "", (related,))], exit_code=0)
    result = log["runs"][0]["results"][0]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "x.csar"
    assert result["locations"][0]["logicalLocations"][0]["fullyQualifiedName"] == "x.csar:/a/service.yaml:1:1"
    assert "physicalLocation" not in result["relatedLocations"][0]
    assert "](" not in result["relatedLocations"][0]["message"]["text"]
    assert log["runs"][0]["tool"]["driver"]["rules"] == [{"id": "made-up"}]


def test_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert place_of_file(str(tmp_path / "a" / "b.yaml")) == FilePlace("a/b.yaml")
    assert place_of_file("/elsewhere/b.yaml").uri == "file:///elsewhere/b.yaml"
    assert place_of_file("./a b.yaml").uri == "a%20b.yaml"
    assert place_of_file("https://example.org/a.yaml").path == ""


def test_github_annotations(run: Run) -> None:
    Path("a,b.yaml").write_text(MAPPED, encoding="utf-8")
    done = run("validate", "a,b.yaml", "-o", "github")
    assert done.code == 3
    first, second = done.out.splitlines()
    assert first.startswith("::error file=a%2Cb.yaml,line=4,col=38,endColumn=42,title=bad-value::")
    assert "%0Ahelp: " in first
    assert second.startswith("::error file=a%2Cb.yaml,line=5,endLine=6,title=bad-value::")


def test_github_annotations_cannot_be_forged() -> None:
    """A name in a document makes no command of its own."""
    evil = "x\n::error::forged\r100%"
    span = Span(SourceText(evil, ""), 1, 1, 1, 1)
    for place in (span, None):
        (line,) = annotation_lines([Diagnostic(Severity.WARNING, "c", evil, place, evil, (Related(evil, span),))])
        assert line.splitlines() == [line]
        assert line.startswith("::warning ")
        assert "100%25" in line
    (line,) = annotation_lines(
        [Diagnostic(Severity.NOTE, "c", "m", Span(SourceText("x.csar:/a.yaml", ""), 1, 2, 1, 3))]
    )
    assert line == "::notice file=x.csar,title=c::x.csar:/a.yaml:1:2: m"


def test_warnings_are_errors_where_that_is_asked_for(run: Run) -> None:
    Path("service.yaml").write_text(WARNS)
    assert run("validate", "service.yaml").code == 0
    strict = run("validate", "service.yaml", "--strict")
    assert strict.code == 3
    assert "error[untyped-input]" in strict.err
    assert run("validate", TINY, "--strict").code == 0


def test_several_services(run: Run) -> None:
    Path("wrong.yaml").write_text(WRONG, encoding="utf-8")
    done = run("validate", TINY, "wrong.yaml")
    assert done.code == 3
    assert done.out.splitlines()[1] == "wrong.yaml is not valid: 1 error"
    assert "error[bad-value]" in done.err
    data = run("validate", TINY, "wrong.yaml", "-o", "json").json
    assert [service["valid"] for service in data["services"]] == [True, False]
    assert data["valid"] is False
    assert run("validate", TINY, TINY, "-i", "a=b").code == 64


def test_formats_of_other_verbs_are_refused(run: Run) -> None:
    refused = run("-o", "sarif", "status")
    assert refused.code == 64
    assert "status writes text, json, yaml, not sarif" in refused.err
    assert "sarif" in run("validate", "--help").out
    assert "sarif" not in run("status", "--help").out


def test_a_misspelt_input_is_shown_without_its_hidden_value(run: Run, tmp_path: Path) -> None:
    """It may be a secret; a line of nothing but stars would say nothing."""
    Path("service.yaml").write_text(WARNS)
    found = run("validate", "service.yaml", "-i", "nmae=hidden")
    assert found.code == 3
    assert '--> -i nmae:1:1\n  = help: did you mean "name"?' in found.err
    assert "*" not in found.err


def test_a_secret_that_breaks_a_constraint_is_not_shown(run: Run, tmp_path: Path) -> None:
    Path("service.yaml").write_text(
        VERSION
        + """\
node_types:
  my.A:
    derived_from: tosca.nodes.Root
    properties:
      open: { type: integer, constraints: [ less_than: 10 ] }
      shut: { type: integer, constraints: [ less_than: 10 ], metadata: { sensitive: "true" } }
topology_template:
  inputs:
    pin: { type: integer, metadata: { sensitive: "true" } }
    plain: { type: integer }
  node_templates:
    a: { type: my.A, properties: { open: { get_input: pin }, shut: { get_input: plain } } }
"""
    )
    found = run("validate", "service.yaml", "-i", "pin=4711", "-i", "plain=4712")
    assert found.code == 3
    assert "471" not in found.err
