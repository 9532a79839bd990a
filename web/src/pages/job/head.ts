import type { RecordedJobData, UnfinishedJobData } from "../../api/types.ts";

/** What is told of a job above everything else, whether it has ended or not. */
export interface JobHead {
  job: string;
  workflow: string;
  /** `running`, `interrupted`, or how it ended. */
  status: string;
  isOver: boolean;
  /** When it began, as RFC 3339. */
  began: string;
  /** How long it took in seconds, `undefined` as long as it has not ended. */
  seconds: number | undefined;
  by: string;
  approvedBy: readonly string[];
  /** The plan that it carries out, "" for none. */
  plan: string;
  cause: string;
  summary: string;
  /** What a rollback came to, "" where there was none. */
  rollback: string;
  remains: readonly string[];
  isRollingBack: boolean;
  revision: number;
  notCommitted: readonly string[];
}

const NOTHING = {
  by: "",
  approvedBy: [],
  plan: "",
  cause: "",
  summary: "",
  rollback: "",
  remains: [],
  isRollingBack: false,
  revision: 0,
  notCommitted: [],
} as const;

export function headOf(data: RecordedJobData | UnfinishedJobData): JobHead {
  if (typeof data.job === "string") {
    const open = data as UnfinishedJobData;
    return {
      ...NOTHING,
      job: open.job,
      workflow: open.workflow,
      status: open.outcome,
      isOver: false,
      began: new Date(open.began * 1000).toISOString(),
      seconds: undefined,
      by: open.by ?? "",
      approvedBy: open.approved_by ?? [],
      plan: open.origin ?? "",
      isRollingBack: open.rolling_back,
    };
  }
  const head = data.job;
  const { by = "", user = "", machine = "" } = head;
  return {
    ...NOTHING,
    job: head.changeId,
    workflow: head.workflow ?? "",
    status: head.status ?? "",
    isOver: true,
    began: head.began ?? "",
    seconds: head.seconds ?? 0,
    by: by || [user, machine].filter(Boolean).join("@"),
    approvedBy: head.approvedBy ?? [],
    plan: head.origin ?? "",
    cause: head.cause ?? "",
    summary: head.summary ?? "",
    rollback: head.rollback ?? "",
    remains: head.remains ?? [],
    revision: head.revision ?? 0,
    notCommitted: head.notCommitted ?? [],
  };
}
