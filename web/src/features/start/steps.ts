// The steps of an operator to the first bot, and which are done.
import type { Bot, Model } from "../../api/types";

export type Step = "model" | "chat" | "platform" | "message";
export const STEPS: Step[] = ["model", "chat", "platform", "message"];

/** `heard`: the bots that have received events. */
type Known = { models: Model[]; answered: number; bots: Bot[]; heard: Set<string> };

const isConnected = (bot: Bot): boolean => bot.enabled && bot.status.state === "connected";

/** Returns the bot of the steps: the first that received an event, or else the first that is connected. */
export function firstWorking(bots: Bot[], heard: Set<string>): Bot | undefined {
  const enabled = bots.filter((bot) => bot.enabled);
  return (
    enabled.find((bot) => isConnected(bot) && heard.has(bot.bot_id)) ??
    enabled.find((bot) => heard.has(bot.bot_id)) ??
    enabled.find(isConnected) ??
    enabled[0] ??
    bots[0]
  );
}

export function doneOf({ models, answered, bots, heard }: Known): Set<Step> {
  const done = new Set<Step>();
  const bot = firstWorking(bots, heard);
  const arrived = bot !== undefined && heard.has(bot.bot_id);
  if (models.some((model) => model.provider_id !== "demo")) done.add("model");
  if (answered > 0) done.add("chat");
  if (bot && (isConnected(bot) || arrived)) done.add("platform");
  if (arrived) done.add("message");
  return done;
}

/** Returns the next step. The demo model answers too, so a missing model does not block the others. */
export function nextOf(done: Set<Step>): Step | null {
  const order: Step[] = ["chat", "model", "platform", "message"];
  return order.find((step) => !done.has(step)) ?? null;
}
