import assert from "node:assert/strict";
import { test } from "node:test";

import type { JobStepsData, TimelineData } from "../../api/types.ts";
import { Course } from "./course.ts";

const T0 = 1_000_000;

function timeline(more: Partial<TimelineData> = {}): TimelineData {
  return {
    format: "ordito.jobs-timeline/1",
    job: "A6BM5PEY0000",
    workflow: "deploy",
    status: "running",
    t0: T0,
    end: -1,
    rows: ["db_1", "web_1"],
    operations: ["Standard.create", "Standard.start"],
    steps: {
      row: [0, 0, 1],
      operation: [0, 1, 0],
      start: [10, 100, 5],
      milliseconds: [90, 0, -1],
      state: "snr",
      attempt: [1, 1, 1],
      step: {},
    },
    critical: [0],
    cancelled: null,
    ...more,
  };
}

function steps(counts: Record<string, number>): JobStepsData {
  return {
    format: "ordito.jobs-steps/1",
    job: "",
    workflow: "deploy",
    status: "running",
    items: [],
    next: null,
    counts,
  };
}

function told(type: string, step: string, at: number, more: object = {}) {
  const [instance = "", operation = ""] = [step.split(".")[0], step.split(".").slice(1).join(".")];
  const data = { type, step, instance, operation, at: (T0 + at) / 1000, ...more };
  return { type, topic: "", cursor: "", data };
}

test("columns become bars", () => {
  const course = new Course(timeline(), steps({ succeeded: 1, "no-op": 1, running: 1, pending: 1 }));
  assert.deepEqual(course.bar(0), {
    number: 0,
    id: "db_1.Standard.create",
    row: 0,
    instance: "db_1",
    operation: "Standard.create",
    start: 10,
    end: 100,
    letter: "s",
    attempt: 1,
  });
  assert.equal(course.bar(2).start, 115);
  assert.equal(course.bar(2).end, -1);
  assert.deepEqual([course.done, course.total], [2, 4]);
});

test("what did nothing is hidden unless it is asked for", () => {
  const idle = { row: [0], operation: [0], start: [0], milliseconds: [0], state: "n", attempt: [1], step: {} };
  const course = new Course(timeline({ rows: ["db_1"], steps: idle }), steps({ "no-op": 1 }));
  assert.deepEqual([course.shownRows(false, ""), course.shownRows(true, "")], [[], [0]]);
});

test("rows are found by the instance and by what is done", () => {
  const course = new Course(timeline(), steps({}));
  assert.deepEqual(
    [course.shownRows(false, "WEB"), course.shownRows(true, "start"), course.shownRows(true, "x")],
    [[1], [0], []],
  );
});

test("events that the timeline knows already change nothing of it", () => {
  const course = new Course(timeline(), steps({ succeeded: 1, "no-op": 1, pending: 2 }));
  course.take(told("step.started", "web_1.Standard.create", 115));
  assert.equal(course.size, 3);
  course.take(told("step.succeeded", "web_1.Standard.create", 300));
  assert.deepEqual([course.bar(2).end, course.bar(2).letter], [300, "s"]);
  assert.deepEqual(course.counts, { s: 2, n: 1, r: 0 });
});

test("a step that is tried again has a bar for each attempt, and waits between them", () => {
  const course = new Course(timeline(), steps({ pending: 1 }));
  const step = "web_2.Standard.start";
  course.take(told("step.started", step, 400));
  course.take(
    told("step.retrying", step, 500, {
      next: 2,
      attempts: 3,
      seconds: 2,
      outcome: { exit_code: 75, tail: ["not ready"] },
    }),
  );
  assert.equal(course.counts["w"], 1);
  const waits = course.present.get(step);
  assert.deepEqual(
    [waits?.attempt, waits?.most, waits?.next, waits?.message],
    [1, 3, T0 + 2_500, "exit 75: not ready"],
  );
  course.take(told("step.started", step, 2_500, { attempt: 2 }));
  assert.equal(course.present.get(step)?.most, 3);
  assert.equal(course.take(told("step.failed", step, 2_600)), "failed");
  assert.deepEqual(
    course.ofRow[2]?.map((bar) => course.letter[bar]),
    ["a", "f"],
  );
  assert.deepEqual(
    course.failures().map((bar) => course.id(bar)),
    [step],
  );
  assert.deepEqual(
    [[...course.present.keys()], course.counts["f"], course.counts["w"]],
    [["web_1.Standard.create"], 1, 0],
  );
  // The same told once more, as after two answers of which one is older, changes nothing.
  course.take(told("step.started", step, 400));
  course.take(told("step.retrying", step, 500, { next: 2, attempts: 3, seconds: 2 }));
  course.take(told("step.failed", step, 2_600));
  assert.deepEqual([course.size, course.counts["f"], course.counts["w"], course.present.has(step)], [5, 1, 0, false]);
});

test("what is not run has a bar without length", () => {
  const course = new Course(timeline(), steps({ pending: 1 }));
  course.take(told("step.skipped", "web_9.Standard.start", 700, { because: "web_1.Standard.create" }));
  assert.deepEqual([course.bar(3).start, course.bar(3).end, course.bar(3).letter], [700, 700, "k"]);
});

test("everything is read again when the plan of the job changes, or it has ended", () => {
  const course = new Course(timeline(), steps({}));
  assert.deepEqual(
    ["job.started", "job.rollback", "job.finished"].map((type) => course.take(told(type, "", 1))),
    ["again", "again", "again"],
  );
});

test("what is left is told once something is known", () => {
  const course = new Course(timeline(), steps({ succeeded: 1, "no-op": 1, running: 1, pending: 1 }));
  assert.equal(course.left(T0 + 60_000), 60);
  assert.equal(new Course(timeline(), steps({ succeeded: 1, pending: 999 })).left(T0 + 60_000), undefined);
});

test("it is told who has asked it to end, and how", () => {
  const course = new Course(timeline());
  assert.equal(course.cancelled, null);
  course.take(told("job.cancelling", "", 400, { by: "ann" }));
  assert.deepEqual(course.cancelled, { by: "ann", now: false, because: "" });
  course.take(told("job.cancelling", "", 500, { because: "60 seconds are over", now: true }));
  assert.deepEqual(course.cancelled, { by: "", now: true, because: "60 seconds are over" });
});
