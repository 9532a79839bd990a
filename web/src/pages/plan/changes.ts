import type { ChangeData, Difference } from "../../api/types.ts";
import type { Tone } from "../../parts/status.tsx";

/** What happens to instances, by the symbol of their change. */
export const WORDS: Readonly<Record<string, { does: string; done: string; tone: Tone }>> = {
  "+": { does: "create", done: "made", tone: "ok" },
  "~": { does: "change", done: "changed", tone: "pending" },
  "-/+": { does: "replace", done: "replaced", tone: "degraded" },
  "-": { does: "remove", done: "removed", tone: "error" },
  "=": { does: "adopt", done: "adopted", tone: "absent" },
  "?": { does: "check", done: "checked", tone: "unknown" },
};

/** Instances to which the same happens for the same reasons. */
export interface ChangeGroup {
  key: string;
  change: ChangeData;
  instances: string[];
}

/** Put together what differs in the instance only, in the order of the plan. */
export function grouped(changes: readonly ChangeData[]): ChangeGroup[] {
  const groups = new Map<string, ChangeGroup>();
  for (const change of changes) {
    const { instance, ...rest } = change;
    const key = JSON.stringify(rest);
    const group = groups.get(key);
    if (group) group.instances.push(instance);
    else groups.set(key, { key: instance, change, instances: [instance] });
  }
  return [...groups.values()];
}

/** The changes that a filter means: words that must all be found in the instance, the reason, or what happens;
 * `risk:lossy` are those that lose data, and `risk:removes`, `risk:replaces` say themselves. */
export function filtered(
  changes: readonly ChangeData[],
  filter: string,
  losing: Readonly<Record<string, string>>,
): readonly ChangeData[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return changes;
  return changes.filter((change) => {
    const text =
      `${change.instance} ${WORDS[change.symbol]?.does ?? ""} ${change.class} ${change.reason}`.toLowerCase();
    return words.every((word) =>
      word.startsWith("risk:") ? isAtRisk(change, word.slice(5), losing) : text.includes(word),
    );
  });
}

function isAtRisk(change: ChangeData, risk: string, losing: Readonly<Record<string, string>>): boolean {
  if (risk === "lossy") return change.instance in losing;
  if (risk === "removes") return change.symbol === "-";
  return risk === "replaces" && change.symbol === "-/+";
}

/** A value as a person reads it: texts as they are, the rest as JSON. */
export function said(value: unknown): string {
  if (value === null || value === undefined) return "nothing";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** What has changed, as in `property size 10 GB → 20 GB`. */
export function differenceText(one: Difference): string {
  if (one.before === undefined && one.after === undefined) return one.what;
  return `${one.what} ${said(one.before)} → ${said(one.after)}`;
}

/** The risks of a plan, in words. */
export const RISKS: Readonly<Record<string, string>> = {
  removes: "removes instances",
  replaces: "replaces instances",
  lossy: "loses data",
  outage: "all of a node are down at once",
  protected: "touches what is protected",
  "runs-anything": "runs what somebody has named",
};

export function plural(count: number, word: string): string {
  return `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
}

export function titleOf(workflow: string): string {
  return workflow[0]?.toUpperCase() + workflow.slice(1);
}
