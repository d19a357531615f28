// The approval policy of an agent as editable rows: action, decision and deciders.

export const DECISIONS = ["allow", "ask", "deny"] as const;
export type Decision = (typeof DECISIONS)[number];
export type Deciders = { users: string[]; roles: string[]; requester: boolean };
export type Place = { bot_id: string; chat_type: "private" | "group"; chat_id: string };
export type ApprovalRule = {
  pattern: string;
  decision: Decision;
  who: Deciders;
  seconds: number;
  show_in: Place | null;
};

type Told = Decision | { decision: Decision; who?: Partial<Deciders>; seconds?: number; show_in?: Place | null };

const WHO: Deciders = { users: [], roles: ["owner", "admin"], requester: false };
const HALF_AN_HOUR = 1800;

export const freshRule = (pattern: string): ApprovalRule => ({
  pattern,
  decision: "ask",
  who: WHO,
  seconds: HALF_AN_HOUR,
  show_in: null,
});

/** An entry of the tool policy. */
export type ToolRule = { tools: string[]; decide: Decision; who: Deciders; seconds: number };

export const freshToolRule = (): ToolRule => ({ tools: [], decide: "ask", who: WHO, seconds: HALF_AN_HOUR });

export function rulesOf(policy: Record<string, unknown>): ApprovalRule[] {
  return Object.entries(policy).map(([pattern, setting]) => {
    const rule = (typeof setting === "string" ? { decision: setting } : setting) as Exclude<Told, string>;
    return {
      pattern,
      decision: rule.decision,
      who: { ...WHO, ...rule.who },
      seconds: rule.seconds ?? HALF_AN_HOUR,
      show_in: rule.show_in ?? null,
    };
  });
}

/** Only actions that need approval have deciders. */
export function policyOf(rules: ApprovalRule[]): Record<string, unknown> {
  return Object.fromEntries(
    rules.map(({ pattern, decision, ...rest }) => [pattern, decision === "ask" ? { decision, ...rest } : decision]),
  );
}

const ACTIONS = [
  "message.send",
  "message.reply",
  "message.edit",
  "message.delete",
  "message.forward",
  "message.react",
  "group.rename",
  "group.leave",
  "member.mute",
  "member.unmute",
  "member.kick",
  "friend_request.answer",
  "group_invite.answer",
  "platform.call",
];
const FAMILIES = ["*", "message.*", "group.*", "member.*"];
const ELSEWHERE = "elsewhere/";

function fits(action: string, pattern: string): boolean {
  const expression = pattern
    .split("")
    .map((letter) => (letter === "*" ? ".*" : letter === "?" ? "." : letter.replace(/[^\w/]/, "\\$&")))
    .join("");
  return new RegExp(`^${expression}$`).test(action);
}

/** Returns the patterns that apply to a runner with these actions; those for other chats only if it requests them. */
export function patternsFor(requested: string[]): string[] {
  const may = (action: string) => requested.some((pattern) => fits(action, pattern));
  const local = ACTIONS.filter(may);
  const elsewhere = ACTIONS.filter((action) =>
    requested.some((pattern) => pattern.startsWith(ELSEWHERE) && fits(ELSEWHERE + action, pattern)),
  );
  const families = FAMILIES.filter((family) => local.some((action) => fits(action, family)));
  return [
    ...families,
    ...local,
    ...(elsewhere.length ? [`${ELSEWHERE}*`] : []),
    ...elsewhere.map((action) => ELSEWHERE + action),
  ];
}
