"""What runs at the same time, and what never does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support.commands import Commands, Ran
from tests.support.scenarios import place_service


def deployed(folder: Path, nodes: dict[str, Any], waits_for: dict[str, str] | None = None) -> Ran:
    service = place_service({"nodes": nodes}, folder)
    (service.parent / "do.py").write_text("pass\n")
    commands = Commands(folder)
    commands.hands.waits_for = waits_for or {}
    ran = commands.run("deploy", str(service), "--yes")
    assert ran.code == 0, ran.err
    return ran


def together(ran: Ran) -> set[frozenset[str]]:
    """The pairs of steps that ran at the same time."""
    running: set[str] = set()
    found = set()
    for step, is_end in ran.log:
        if is_end:
            running.discard(step)
        else:
            found |= {frozenset({step, other}) for other in running}
            running.add(step)
    return found


def in_python(*operations: str) -> dict[str, Any]:
    life = {"type": "tosca.interfaces.node.lifecycle.Standard", "operations": dict.fromkeys(operations, "do.py")}
    return {"interfaces": {"Standard": life}}


def test_scripts_of_all_kinds_take_turns_on_a_host_and_not_across_hosts(tmp_path: Path) -> None:
    """R-7.2.3.1-1, R-7.2.2.4-3: on one host one script at a time, whatever it is written in."""
    ran = deployed(
        tmp_path,
        {
            "host": {"compute": True, "count": 2},
            "shell": {"hosted_on": "host", "count": 4, "runs": "create start"},
            "python": {"hosted_on": "host", "count": 4, "type": in_python("create", "start")},
        },
    )
    assert ran.plan is not None
    hosts = {step.id: step.runs_on for step in ran.plan.steps}
    kinds = {call.processor.rpartition(".")[2] for call in ran.plan.calls if call.artifact}
    assert kinds == {"Bash", "Python"}
    pairs = [tuple(pair) for pair in together(ran)]
    assert pairs
    assert [(a, b) for a, b in pairs if hosts[a] == hosts[b]] == []


def test_a_slow_branch_holds_no_other_up(tmp_path: Path) -> None:
    """R-7.2-4: independent nodes are worked on in parallel, each as far as it comes, not level by level."""
    ran = deployed(
        tmp_path,
        {
            "slow_host": {"compute": True, "runs": "create"},
            "slow": {"hosted_on": "slow_host", "runs": "create"},
            "host": {"compute": True, "runs": "create"},
            "base": {"hosted_on": "host", "runs": "create start"},
            "top": {"hosted_on": "base", "runs": "create start"},
        },
        waits_for={"slow_host_1.Standard.create": "top_1.Standard.start"},
    )
    ended = [step for step, is_end in ran.log if is_end]
    assert ended.index("top_1.Standard.start") < ended.index("slow_host_1.Standard.create")


def test_what_depends_on_another_never_runs_beside_it(tmp_path: Path) -> None:
    """R-7.2.3.2-1: no operations of two nodes one of which depends on the other run at the same time."""
    ran = deployed(
        tmp_path,
        {
            "base": {"runs": "all", "count": 2},
            "middle": {"runs": "all", "count": 2, "needs": {"base": "add_target"}},
            "top": {"runs": "all", "count": 2, "needs": {"middle": "add_target"}, "connects": {"base": "add_target"}},
        },
    )
    nodes = [{step.partition("_")[0] for step in pair} for pair in together(ran)]
    assert nodes
    assert all(len(pair) == 1 for pair in nodes)
