// What the last answer of a conversation offers to be said next.
import { isFields } from "../../lib/fields";
import type { ChatState } from "./chatState";

const MAX_SUGGESTIONS = 8;

/** Returns the suggestions of the last message, as long as nothing was said after it. */
export function suggestionsOf(state: ChatState): string[] {
  const last = state.items.at(-1);
  if (!last || last.role !== "assistant" || state.running || state.pending.length > 0) return [];
  const { suggestions, question } = last.metadata;
  const offered = suggestions ?? (isFields(question) ? question.options : undefined);
  const texts = Array.isArray(offered) ? offered.filter((each): each is string => typeof each === "string") : [];
  return [...new Set(texts)].slice(0, MAX_SUGGESTIONS);
}
