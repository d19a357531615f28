// The permissions that a runner requests: only these can be granted.
import type { Runner } from "../../api/types";

export const KINDS = ["models", "tools", "knowledge_bases", "skills", "files"] as const;
export type Kind = (typeof KINDS)[number];

const ABILITIES: Partial<Record<Kind, keyof Runner["capabilities"]>> = {
  tools: "tool_calling",
  knowledge_bases: "knowledge_retrieval",
  skills: "skills",
};

const requests = (runner: Runner | undefined, permission: keyof Runner["permissions"]): boolean =>
  (runner?.permissions[permission]?.length ?? 0) > 0;

export function requestedKinds(runner: Runner | undefined): Kind[] {
  const able = (kind: Kind) => !ABILITIES[kind] || runner?.capabilities[ABILITIES[kind]] === true;
  return KINDS.filter((kind) => requests(runner, kind) && able(kind));
}

export const requestedStorage = (runner: Runner | undefined): string[] => runner?.permissions.storage ?? [];
export const requestsHistory = (runner: Runner | undefined): boolean => requests(runner, "history");
export const requestedActions = (runner: Runner | undefined): string[] =>
  runner?.capabilities.platform_actions ? (runner.permissions.platform_actions ?? []) : [];
