// The scopes of a default agent, and the request that sets one.
import type { Conversation, DefaultAgent } from "../../api/types";

export type Scope = DefaultAgent["scope"];
export const SCOPES: Scope[] = ["conversation", "thread", "channel", "actor", "workspace"];
const NAMED = {
  thread: ["bot_id", "chat", "thread_id"],
  conversation: ["bot_id", "chat"],
  channel: ["platform", "chat"],
  actor: ["platform", "actor_id"],
  workspace: [],
} as const;

export type Place = {
  scope: Scope;
  bot_id: string;
  platform: string;
  chat: string;
  thread_id: string;
  actor_id: string;
};
/** Returns the fields that the user fills in; the bot and its platform are known. */
export const requiredFields = (scope: Scope) => NAMED[scope].filter((name) => name !== "bot_id" && name !== "platform");
/** Returns a place with only the fields that its scope needs. */
export const bodyOf = (place: Place): Partial<Place> & { scope: Scope } => ({
  scope: place.scope,
  ...Object.fromEntries(NAMED[place.scope].map((name) => [name, place[name].trim()])),
});

/** Returns the default agents that apply to a bot: in its chats, on its platform, and in the workspace. */
export const relevantTo = (defaults: DefaultAgent[], botId: string, platform: string) =>
  defaults.filter(
    (each) => each.scope === "workspace" || (each.bot_id ? each.bot_id === botId : each.platform === platform),
  );

/** Returns the place of a bot's conversation: a chat or one of its threads. Other conversations belong to one agent. */
export function placeOf({ bot_id, chat, thread_id, source }: Conversation): Place | null {
  if (!bot_id || !chat || source === "api") return null;
  return {
    scope: thread_id ? "thread" : "conversation",
    bot_id,
    chat,
    thread_id: thread_id ?? "",
    platform: "",
    actor_id: "",
  };
}

export const findDefault = (defaults: DefaultAgent[], place: Place) =>
  defaults.find(
    (each) =>
      each.scope === place.scope &&
      each.bot_id === place.bot_id &&
      each.chat === place.chat &&
      (each.thread_id ?? "") === place.thread_id,
  );

export const nameOf = (each: DefaultAgent) => [each.chat, each.thread_id, each.actor_id].filter(Boolean).join(" · ");
