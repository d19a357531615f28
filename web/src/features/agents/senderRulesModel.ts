// Rules that allow or deny resources for some senders, in the order in which they are applied.
import type { Selection } from "../../api/types";
import type { Kind } from "./permissions";

export type Sender = { users: string[]; groups: string[]; roles: string[]; chat_type: "" | "private" | "group" };
export type SenderRule = {
  when: Sender;
  allow: Partial<Record<Kind, Selection>>;
  deny: Partial<Record<Kind, Selection>>;
};

const ANYBODY: Sender = { users: [], groups: [], roles: [], chat_type: "" };

export const freshSenderRule = (): SenderRule => ({ when: ANYBODY, allow: {}, deny: {} });

export function senderRulesOf(policy: Record<string, unknown>): SenderRule[] {
  const rules = (policy.rules ?? []) as Partial<SenderRule>[];
  return rules.map((rule) => ({ when: { ...ANYBODY, ...rule.when }, allow: rule.allow ?? {}, deny: rule.deny ?? {} }));
}

/** Removes the kind if nothing of it is selected. */
export function chosen(selections: SenderRule["allow"], kind: Kind, value: Selection): SenderRule["allow"] {
  const { [kind]: _, ...remaining } = selections;
  return value === "*" || value.length ? { ...remaining, [kind]: value } : remaining;
}
