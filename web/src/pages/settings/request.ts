import type { NewSchedule } from "../../api/types.ts";

/** The request that a form says: a workflow, and its fields as JSON; or what is wrong with them. */
export function requestOf(workflow: string, text: string): { request?: NewSchedule["request"]; wrong: string } {
  let fields: unknown = {};
  try {
    fields = text.trim() ? JSON.parse(text) : {};
  } catch (error) {
    return { wrong: `this is no JSON: ${error instanceof Error ? error.message : ""}` };
  }
  if (typeof fields !== "object" || fields === null || Array.isArray(fields)) {
    return { wrong: 'write an object, as in { "names": ["web"] }' };
  }
  // Which fields there are for which workflow, the server says.
  return { request: { ...fields, workflow } as NewSchedule["request"], wrong: "" };
}
