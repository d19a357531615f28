// The filters of the list in its address, and the query for them, without rendering.
import type { EventRecord, RunDetail, RunStatus } from "../../api/types";
import type { RunFilter } from "./queries";

const SPANS = { hour: 3_600_000, day: 86_400_000, week: 604_800_000, month: 2_678_400_000 };
const MINUTE = 60_000;

export type Within = keyof typeof SPANS;
export type RunSearch = {
  status?: RunStatus;
  agent?: string;
  bot?: string;
  conversation?: string;
  actor?: string;
  within?: Within;
  q?: string;
};

/** The value of the bot filter for runs of the web chat and the API. */
export const DIRECT = "direct";
export const STATUSES: RunStatus[] = [
  "queued",
  "running",
  "waiting_approval",
  "completed",
  "failed",
  "cancelled",
  "timeout",
];
export const WITHIN = Object.keys(SPANS) as Within[];

/** Reads the filters from the address; unknown ones are dropped. */
export function runSearch(search: Record<string, unknown>): RunSearch {
  const text = (name: string) =>
    typeof search[name] === "string" || typeof search[name] === "number"
      ? String(search[name]) || undefined
      : undefined;
  const within = text("within");
  return withoutGaps({
    status: STATUSES.find((status) => status === search.status),
    agent: text("agent"),
    bot: text("bot"),
    conversation: text("conversation"),
    actor: text("actor"),
    within: WITHIN.find((each) => each === within),
    q: text("q"),
  });
}

/** Returns the filter of a query. Its time range starts at a full minute, so that the query key is stable. */
export function filterOf(search: RunSearch, now: number): RunFilter {
  const since = search.within && Math.floor(now / MINUTE) * MINUTE - SPANS[search.within];
  const bot_id = search.bot === DIRECT ? "" : search.bot;
  return withoutGaps({
    status: search.status,
    agent_id: search.agent,
    bot_id,
    conversation_id: search.conversation,
    actor: search.actor,
    since,
    q: search.q,
  });
}

/** Returns the filter for this run's sender, whose id is unique per bot; null if the sender is unknown. */
export function ofSender(
  run: Pick<RunDetail, "bot_id"> & { event: Pick<EventRecord, "actor_id"> | null },
): RunSearch | null {
  const actor = run.event?.actor_id;
  return actor ? { actor, bot: run.bot_id ?? DIRECT } : null;
}

export function isFiltered(search: RunSearch): boolean {
  return Object.keys(runSearch(search)).length > 0;
}

function withoutGaps<Fields extends object>(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Fields;
}
