"""From results to verdicts: whether a promise is held by what its proofs have given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase

import msgspec

from tools.proofs.promises import Promise, Run, covers, run_of
from tools.proofs.results import FINISHED, Figure, Outcome, Result

HELD, NOT_HELD, NO_PROOF, SKIPPED, NOT_RUN = "held", "not held", "no proof", "skipped", "not run"
ORDER = (NOT_HELD, NO_PROOF, NOT_RUN, SKIPPED, HELD)
"""What counts where the proofs of a promise say different things: the first."""


class Finding(msgspec.Struct, frozen=True):
    """What one proof gives: the verdict, what was measured, why where it is not held, and the commit."""

    verdict: str
    measured: str
    why: str = ""
    commit: str = ""


class Verdict(msgspec.Struct, frozen=True):
    """What all proofs of a promise give."""

    verdict: str
    measured: str
    why: str
    commits: list[str]


def judge(promise: Promise, runs: dict[str, Run], results: Mapping[str, Result]) -> Verdict:
    """Whether a promise is held."""
    findings = list(_findings(promise, runs, results))
    if not findings:
        return Verdict(NO_PROOF, "", "nothing proves it", [])
    verdict = min((f.verdict for f in findings), key=ORDER.index)
    why = "; ".join(dict.fromkeys(f.why for f in findings if f.verdict == verdict and f.why))
    measured = ", ".join(f.measured for f in findings if f.measured)
    return Verdict(verdict, measured, why, sorted({f.commit for f in findings if f.commit}))


def _findings(promise: Promise, runs: dict[str, Run], results: Mapping[str, Result]) -> Iterator[Finding]:
    for selectors, thorough in ((promise.tests, False), (promise.thorough, True)):
        by_run: dict[str | None, list[str]] = {}
        for selector in selectors:
            by_run.setdefault(run_of(selector, runs, thorough=thorough), []).append(selector)
        for run, its in by_run.items():
            if run is None:
                yield Finding(NO_PROOF, "", f"no run holds {', '.join(its)}")
            else:
                yield _tests(its, results.get(run), [*runs[run].skips, *promise.skips], run)
    for pattern in promise.figures:
        yield from _figures(pattern, results, alone=len(promise.figures) == 1)
    for run in promise.runs:
        yield _run(run, results.get(run))
    for run, most in promise.seconds.items():
        yield _seconds(runs[run], run, most, results.get(run))


def _tests(selectors: list[str], result: Result | None, skips: list[str], run: str) -> Finding:
    if result is None:
        return Finding(NOT_RUN, "", f"the run {run} has no result")
    chosen = [o for o in result.outcomes.values() if any(covers(s, o.id) or covers(o.id, s) for s in selectors)]
    counts = {kind: [o for o in chosen if o.outcome == kind] for kind in ("passed", "failed", "skipped")}
    measured = ", ".join(f"{len(found)} {kind}" for kind, found in counts.items() if found)
    commit = result.how.commit
    if counts["failed"]:
        return Finding(NOT_HELD, measured, _named(counts["failed"]), commit)
    missing = [s for s in selectors if not any(covers(a, s) for a in result.how.asked)]
    if result.how.ended != FINISHED or missing:
        why = result.how.ended if result.how.ended != FINISHED else f"{', '.join(missing)}: not asked for"
        return Finding(NOT_RUN, measured, f"{run}: {why}", commit)
    lacking = [s for s in selectors if not any(covers(s, o.id) for o in chosen)]
    if lacking:
        return Finding(NO_PROOF, measured, f"no test is named {', '.join(lacking)}", commit)
    bad = [o for o in counts["skipped"] if not any(word in o.why for word in skips)]
    if bad or not counts["passed"]:
        return Finding(SKIPPED, measured, _named(bad or counts["skipped"]), commit)
    return Finding(HELD, measured, "", commit)


def _named(outcomes: list[Outcome]) -> str:
    first = outcomes[0]
    more = f" and {len(outcomes) - 1} more" if len(outcomes) > 1 else ""
    said = f" ({first.why.removeprefix('Skipped: ')})" if first.outcome == "skipped" else ""
    return f"{first.id}{said}{more}"


def _figures(pattern: str, results: Mapping[str, Result], *, alone: bool) -> Iterator[Finding]:
    run = pattern.partition(".")[0]
    result = results.get(run)
    if result is None:
        yield Finding(NOT_RUN, "", f"the run {run} has no result")
        return
    found = [f for f in result.figures if fnmatchcase(f.name, pattern)]
    if not found:
        why = f"{run} gave no figure {pattern}: {result.how.ended}, exit code {result.how.code}"
        yield Finding(NOT_RUN if result.how.ended != FINISHED else NOT_HELD, "", why, result.how.commit)
    for figure in found:
        said = _said(figure, "" if alone and len(found) == 1 else figure.name.removeprefix(f"{run}."))
        why = "" if figure.held else f"{said}, begun under a load of {result.how.load:g}"
        yield Finding(HELD if figure.held else NOT_HELD, said, why, result.how.commit)


def _said(figure: Figure, name: str) -> str:
    return " ".join(part for part in (name, f"{figure.value:,.10g}", figure.unit) if part)


def _run(run: str, result: Result | None) -> Finding:
    if result is None:
        return Finding(NOT_RUN, "", f"the run {run} has no result")
    how = result.how
    if how.ended != FINISHED:
        return Finding(NOT_RUN, "", f"{run}: {how.ended}", how.commit)
    said = f"{run}: exit code {how.code}"
    return Finding(HELD if how.code == 0 else NOT_HELD, said, "" if how.code == 0 else said, how.commit)


def _seconds(run: Run, name: str, most: float, result: Result | None) -> Finding:
    if result is None:
        return Finding(NOT_RUN, "", f"the run {name} has no result")
    how = result.how
    if how.ended != FINISHED or not all(any(covers(a, t) for a in how.asked) for t in run.tests):
        return Finding(NOT_RUN, "", f"{name} was not run as a whole", how.commit)
    said = f"{how.seconds:.0f} s"
    return Finding(HELD if how.seconds <= most else NOT_HELD, said, "", how.commit)
