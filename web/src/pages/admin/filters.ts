import type { AuditFields } from "../../api/types.ts";

const WORDS = ["actor", "project", "action", "outcome"] as const;
const UNITS: Record<string, number> = { min: 60, h: 3_600, d: 86_400, w: 604_800 };

export interface AuditFilters {
  query: AuditFields;
  /** Words that say nothing. */
  wrong: string[];
}

/** The filters that words say: `actor:ben outcome:denied since:7d until:2026-11-20`. */
export function auditFilters(text: string, now: number): AuditFilters {
  const query: AuditFields = {};
  const wrong: string[] = [];
  for (const word of text.split(/\s+/).filter(Boolean)) {
    const [, name = "", value = ""] = /^(\w+):(.+)$/.exec(word) ?? [];
    const known = WORDS.find((one) => one === name);
    if (known) query[known] = value;
    else if (name === "since" || name === "until") {
      const moment = momentOf(value, now);
      if (moment) query[name] = moment;
      else wrong.push(`"${word}" is no time: write ${name}:7d, ${name}:2h, or ${name}:2026-11-20`);
    } else wrong.push(`"${word}" filters nothing: use ${[...WORDS, "since", "until"].join(":, ")}:`);
  }
  return { query, wrong };
}

function momentOf(value: string, now: number): string | undefined {
  const [, count = "", unit = ""] = /^(\d+)([a-z]+)$/.exec(value) ?? [];
  const seconds = UNITS[unit];
  // To the minute, so that the same words ask the same for a while.
  if (seconds) return new Date(Math.floor((now - Number(count) * seconds * 1000) / 60_000) * 60_000).toISOString();
  const moment = Date.parse(value);
  return Number.isNaN(moment) ? undefined : new Date(moment).toISOString();
}
