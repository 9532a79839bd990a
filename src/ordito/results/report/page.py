"""The page of a report: failures first, then the pictures, what was done, and the end of the log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ordito.app.course import FAILED, NOT_NEEDED, PENDING, SKIPPED, SUCCEEDED, WAITING, CourseStep
from ordito.app.job.jobs import INTERRUPTED, RUNNING
from ordito.ensemble.job_format import NO_OP
from ordito.results.report.bars import timeline
from ordito.results.report.boxes import SYMBOLS, VERDICTS, topology
from ordito.results.report.content import LogExcerpt, ReportContent
from ordito.results.report.style import POLICY, STYLE
from ordito.results.report.text import clipped, counted, how_long, size, text, when

MOST_FAILURES = 50
MOST_INSTANCES = 400
MOST_STEPS = 40
"""So many steps of an instance are named."""

TONES = {"ok": "ok-text", "running": "run-text", "degraded": "wait-text", "interrupted": "wait-text"}
"""The tone of a status; that of any other is bad."""

MARKS = {
    SUCCEEDED: "●",
    NO_OP: "·",
    FAILED: "✖",
    RUNNING: "◔",
    WAITING: "◔",
    SKIPPED: "○",
    PENDING: "○",
    NOT_NEEDED: "·",
    INTERRUPTED: "!",
}


def page(content: ReportContent) -> Iterator[str]:
    """The lines of the page."""
    course = content.course
    title = f"Job {course.job}: {course.workflow} {content.service}".strip()
    yield "<!doctype html>"
    yield '<html lang="en"><head><meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{text(POLICY)}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield '<meta name="color-scheme" content="light dark">'
    yield f"<title>{text(title)}</title>"
    yield f"<style>{STYLE}</style></head><body>"
    sections = list(_sections(content))
    yield from _head(content, [(name, heading) for name, heading, _ in sections])
    yield "<main>"
    for name, heading, lines in sections:
        yield f'<section id="{name}"><h2>{text(heading)}</h2>'
        yield from lines
        yield "</section>"
    yield "</main>"
    yield f"<footer>Made by Ordito, {when(content.made)}. This page holds all that it shows.</footer></body></html>"


def _sections(content: ReportContent) -> Iterator[tuple[str, str, Iterable[str]]]:
    """The sections that have something to show: their names, headings and lines."""
    failed = [step for step in content.course.steps.values() if step.state == FAILED]
    if failed:
        yield "failures", counted(len(failed), "failed step"), _failures(content, failed)
    now = [step for step in content.course.steps.values() if step.state in (RUNNING, WAITING, INTERRUPTED)]
    if now:
        heading = "What was running when the job was interrupted"
        yield "now", "What runs now" if content.course.status == RUNNING else heading, _now(now)
    if content.course.remains:
        yield "remains", "What the rollback has left", _remains(content.course.remains)
    picture = list(topology(content.graph, content.verdicts))
    if picture:
        yield "topology", "Topology", _topology(content, picture)
    bars = list(timeline(content.course, content.made))
    if bars:
        yield "timeline", "Timeline", _timeline(bars)
    yield "steps", "What was done, and why", _steps(content)
    yield "log", "Log", _log(content.log)


# --------------------------------------------------------------------------------------------------------- the head


def _head(content: ReportContent, sections: list[tuple[str, str]]) -> Iterator[str]:
    course, head = content.course, content.head
    tone = TONES.get(course.status, "bad-text")
    subject = f"{course.workflow} {content.service}".strip()
    yield f'<header><h1>{text(subject)}<span class="status {tone}">{text(course.status)}</span></h1>'
    end = course.ended or content.made
    facts = [
        ("Job", course.job),
        ("Took", how_long(end - course.began) if course.ended else f"{how_long(end - course.began)} so far"),
        ("Began", when(course.began)),
        ("Ended", when(course.ended)),
    ]
    if head is not None:
        facts += [
            ("By", head.by or head.user),
            ("On", head.machine),
            ("Approved by", ", ".join(head.approved_by)),
            ("Plan", head.origin),
            ("Environment", head.environment),
            ("Revision", str(head.revision or "")),
            ("Retries job", head.retries),
            ("Cause", head.cause),
            ("Rollback", head.rollback),
            ("Summary", head.summary),
            *(("Commit", f"{tree}: {commit}" if tree else commit) for tree, commit in head.commits.items()),
        ]
    elif content.open is not None:
        facts += [
            ("Progress", f"{content.open.done:,} of {content.open.steps:,} steps"),
            ("Run by", content.open.holder),
            ("Rollback", "under way" if content.open.rolling_back else ""),
        ]
    yield "<dl>"
    yield from (f"<dt>{text(name)}</dt><dd>{text(value)}</dd>" for name, value in facts if value)
    yield '</dl><ul class="numbers">'
    counts: dict[str, int] = {}
    for step in course.steps.values():
        counts[step.state] = counts.get(step.state, 0) + 1
    for state, mark in MARKS.items():
        if counts.get(state):
            kind = "bad-text" if state == FAILED else "ok-text" if state == SUCCEEDED else ""
            yield f'<li class="{kind}"><b>{counts[state]:,}</b>{mark} {text(state)}</li>'
    yield "</ul><nav>"
    yield from (f'<a href="#{name}">{text(heading)}</a>' for name, heading in sections)
    yield "</nav></header>"


# --------------------------------------------------------------------------------------------------- failures first


def _failures(content: ReportContent, failed: list[CourseStep]) -> Iterator[str]:
    for step in failed[:MOST_FAILURES]:
        yield from _card(step, content.failed_logs.get(step.id))
    if len(failed) > MOST_FAILURES:
        yield f'<p class="dim">And {counted(len(failed) - MOST_FAILURES, "failed step")} more.</p>'


def _card(step: CourseStep, log: LogExcerpt | None) -> Iterator[str]:
    yield f'<article class="card"><h3>{MARKS.get(step.state, "")} {text(step.id)}</h3>'
    tried = f"{len(step.attempts)} of {step.most} attempts" if step.most > 1 else ""
    said = [step.outcome.message, tried, f"after {how_long(step.at - step.began)}" if step.at and step.attempts else ""]
    yield f"<p>{text(', '.join(filter(None, said)))}</p>"
    where = [
        f"<code>{text(step.artifact)}</code>" if step.artifact else "",
        f"declared at <code>{text(step.declared)}</code>" if step.declared else "",
        f"on {text(step.host)}" if step.host and step.host != step.instance else "",
    ]
    if any(where):
        yield f'<p class="dim">{", ".join(filter(None, where))}</p>'
    if step.reason:
        yield f'<p class="dim">In the plan because: {text(step.reason)}</p>'
    printed = "".join(piece for _, piece in log.pieces) if log is not None else ""
    printed = printed or "\n".join(step.outcome.tail)
    if printed.strip():
        yield f'<pre tabindex="0">{text(printed.rstrip())}</pre>'
    yield "</article>"


def _now(steps: list[CourseStep]) -> Iterator[str]:
    yield "<table><thead><tr><th>Step</th><th>State</th><th>Since</th><th>What was said last</th></tr></thead><tbody>"
    for step in steps[:MOST_FAILURES]:
        tried = f"attempt {len(step.attempts)}"
        again = f", the next one {when(step.next)}" if step.next else ""
        since = when(step.attempts[-1].began) if step.attempts else ""
        cells = (step.id, f"{step.state}, {tried}{again}", since, step.outcome.message)
        yield "<tr>" + "".join(f"<td>{text(cell)}</td>" for cell in cells) + "</tr>"
    yield "</tbody></table>"
    if len(steps) > MOST_FAILURES:
        yield f'<p class="dim">And {counted(len(steps) - MOST_FAILURES, "step")} more.</p>'


def _remains(remains: tuple[str, ...]) -> Iterator[str]:
    yield "<ul>"
    yield from (f"<li>{text(one)}</li>" for one in remains[:MOST_INSTANCES])
    yield "</ul>"
    if len(remains) > MOST_INSTANCES:
        yield f'<p class="dim">And {len(remains) - MOST_INSTANCES:,} more.</p>'


# --------------------------------------------------------------------------------------------------------- pictures


def _topology(content: ReportContent, picture: list[str]) -> Iterator[str]:
    counts: dict[str, int] = {}
    for _, verdict in content.verdicts.values():
        counts[verdict] = counts.get(verdict, 0) + 1
    yield '<p class="legend">'
    for verdict in VERDICTS:
        if counts.get(verdict):
            yield f"<span>{SYMBOLS[verdict]} {verdict} <b>{counts[verdict]:,}</b></span>"
    yield '</p><div class="scroll" tabindex="0">'
    yield from picture
    yield "</div>"


def _timeline(bars: list[str]) -> Iterator[str]:
    yield (
        '<p class="legend"><span>Each row is an instance, each bar an attempt of a step.</span>'
        "<span>Underlined: what decided how long the job took.</span></p>"
    )
    yield from bars


# ------------------------------------------------------------------------------------------------- steps and the log

WORST = (FAILED, INTERRUPTED, RUNNING, WAITING, SKIPPED, SUCCEEDED, PENDING, NOT_NEEDED, NO_OP)


def _steps(content: ReportContent) -> Iterator[str]:
    by_instance: dict[str, list[CourseStep]] = {}
    for step in content.course.steps.values():
        by_instance.setdefault(step.instance or step.id, []).append(step)
    rows = sorted(by_instance.items(), key=lambda row: min(WORST.index(step.state) for step in row[1]))
    if not rows:
        yield '<p class="dim">Nothing.</p>'
        return
    yield "<table><thead><tr><th>Instance</th><th>Steps</th><th>Why</th></tr></thead><tbody>"
    for name, steps in rows[:MOST_INSTANCES]:
        reasons = dict.fromkeys(step.reason for step in steps if step.reason)
        # What was not run says on what that depended, which is more than why it was planned.
        because = dict.fromkeys(step.because for step in steps if step.because)
        why = [*reasons, *(f"not run because of {one}" for one in because)]
        more = f'<span class="dim">and {len(steps) - MOST_STEPS:,} more</span>' if len(steps) > MOST_STEPS else ""
        done = "".join(map(_step, steps[:MOST_STEPS])) + more
        yield f"<tr><td>{text(name)}</td><td>{done}</td><td>{text('; '.join(why[:4]))}</td></tr>"
    yield "</tbody></table>"
    if len(rows) > MOST_INSTANCES:
        left = counted(len(rows) - MOST_INSTANCES, "instance")
        yield f'<p class="dim">And {left} more; those to look at came first.</p>'


def _step(step: CourseStep) -> str:
    tone = " bad-text" if step.state == FAILED else " dim" if step.state in (NO_OP, NOT_NEEDED) else ""
    took = f" {how_long(step.at - step.began)}" if step.attempts and step.at else ""
    name = step.operation.removeprefix("Standard.")
    said = text(f"{step.id}: {step.state}")
    return f'<span class="op{tone}" title="{said}">{MARKS[step.state]} {text(clipped(name, 60))}{took}</span>'


def _log(log: LogExcerpt) -> Iterator[str]:
    if not log.is_kept:
        yield '<p class="dim">What the operations printed is not kept any more.</p>'
        return
    if not any(piece.strip() for _, piece in log.pieces):
        yield '<p class="dim">The operations printed nothing.</p>'
        return
    if log.cut:
        yield f'<p class="dim">The end of it; {size(log.cut)} before that are left out.</p>'
    yield '<pre tabindex="0">'
    before = ""
    for step, piece in log.pieces:
        if step != before:
            yield f"<b>{text(step)}</b>"
            before = step
        yield text(piece.rstrip("\n"))
    yield "</pre>"
