// How far somebody is on the way to their first bot.
import type { Bot, EventRecord, Model } from "../../api/facts";

export type Step = "model" | "chat" | "platform" | "message";
export const STEPS: Step[] = ["model", "chat", "platform", "message"];

type Known = { models: Model[]; answered: number; bots: Bot[]; events: EventRecord[] };

export function doneOf({ models, answered, bots, events }: Known): Set<Step> {
  const done = new Set<Step>();
  if (models.some((model) => model.provider_id !== "demo")) done.add("model");
  if (answered > 0) done.add("chat");
  if (bots.length > 0) done.add("platform");
  if (events.length > 0) done.add("message");
  return done;
}

/** What to do next. The demo model answers too, so a model of one's own holds nobody up. */
export function nextOf(done: Set<Step>): Step | null {
  const order: Step[] = ["chat", "model", "platform", "message"];
  return order.find((step) => !done.has(step)) ?? null;
}
