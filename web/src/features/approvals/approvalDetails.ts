// The details of an approval as names and values instead of the frozen call, without any rendering.
import type { Approval } from "../../api/types";
import { shortId } from "../../lib/format";

type Call = { api?: string; arguments?: Record<string, unknown> };
type Part = { type?: string; text?: string; name?: string; target?: string };

export type Detail = { name: string; value: string };

/** Returns every argument of the frozen calls, in their order: nothing that is being approved is left out. */
export function details(approval: Pick<Approval, "call">): Detail[] {
  const call = approval.call ?? {};
  if (isLiveQuestion(approval)) return [{ name: "title", value: String(call.title) }];
  if (typeof call.tool === "string") return [{ name: "tool", value: call.tool }, ...argumentsOf(call as Call)];
  return ((call.calls ?? []) as Call[]).flatMap(argumentsOf);
}

function argumentsOf(call: Call): Detail[] {
  return Object.entries(call.arguments ?? {}).map(([name, value]) => ({ name, value: formatValue(value) }));
}

function formatValue(value: unknown): string {
  if (Array.isArray(value) && value.every((part: Part) => typeof part?.type === "string"))
    return (value as Part[]).map(partText).join("");
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Returns the text of a message element, or JSON of any other element. */
function partText(part: Part): string {
  return part.type === "Plain" && typeof part.text === "string" ? part.text : JSON.stringify(part);
}

/** Returns the text key of an action; actions of an adapter have none. */
export function actionKey(name: string): string {
  return `action.${name.replace(/^elsewhere\//, "").replaceAll(".", "_")}`;
}

/** Whether a coding agent that works now asks, and not an action that is carried out afterwards. */
export const isLiveQuestion = ({ call }: Pick<Approval, "call">) =>
  typeof call?.title === "string" && "details" in call;

/** Returns the command or the changed lines that a coding agent asks about. */
export const changeOf = ({ call }: Pick<Approval, "call">): string =>
  typeof call?.details === "string" ? call.details : "";

/** Returns what allowing for good covers, in the words of the coding agent; empty if it is not offered. */
export const alwaysOf = ({ call }: Pick<Approval, "call">): string =>
  typeof call?.always === "string" ? call.always : "";

export const isPending = (approval: Pick<Approval, "status">) => approval.status === "pending";

const OWN_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Splits an identity (`user:10001`, `api_key:...`). Ids of a platform are shown whole, since users know them; ids of
 * the Host are shortened. */
export function party(identity: string): { isKey: boolean; id: string; isShort: boolean } {
  const [kind = "", ...rest] = identity.split(":");
  const id = rest.join(":");
  const isShort = OWN_ID.test(id);
  return { isKey: kind === "api_key", id: isShort ? shortId(id) : id, isShort };
}
