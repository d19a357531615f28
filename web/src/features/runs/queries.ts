// Queries of runs and their records. The live channel marks them as stale by their keys (api/live.ts).
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

import { answer, api } from "../../api/client";
import { isReplayFrame } from "../../api/frames";
import { fetchAllPages } from "../../api/queries";
import type { RunDetail, RunEvent, RunStatus } from "../../api/types";
import { fieldsOf } from "../../lib/fields";

export const why = (name: string) =>
  queryOptions({
    queryKey: ["why", name],
    queryFn: () => answer(api.GET("/api/v1/events/{name}/why", { params: { path: { name } } })),
  });

export type RunFilter = {
  status?: RunStatus;
  agent_id?: string;
  bot_id?: string;
  conversation_id?: string;
  /** The exact id of a sender on the bot's platform. */
  actor?: string;
  since?: number;
  q?: string;
};

/** Reads a short first page quickly, and longer pages while the user scrolls. */
const fetchRuns = (filter: RunFilter, cursor: string | null) =>
  answer(api.GET("/api/v1/runs", { params: { query: { ...filter, limit: cursor === null ? 100 : 500, cursor } } }));

/** The newest runs, read again on every change. */
export const newestRuns = (filter: RunFilter) =>
  queryOptions({ queryKey: ["runs", "head", filter], queryFn: () => fetchRuns(filter, null) });

/** All pages that were scrolled to. */
export const runs = (filter: RunFilter) =>
  infiniteQueryOptions({
    queryKey: ["runs", "pages", filter],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, client }) =>
      pageParam === null ? client.fetchQuery(newestRuns(filter)) : fetchRuns(filter, pageParam),
    getNextPageParam: (last) => last.next_cursor,
    staleTime: 60_000,
  });

export const run = (run_id: string) =>
  queryOptions({
    queryKey: ["runs", "one", run_id],
    queryFn: (): Promise<RunDetail> => answer(api.GET("/api/v1/runs/{run_id}", { params: { path: { run_id } } })),
  });

const FOLLOW_MILLISECONDS = 2_000;

/** `working`: the run goes on, so that more records follow without a change of its state. */
export const runEvents = (run_id: string, working = false) =>
  queryOptions({
    queryKey: ["runs", "one", run_id, "events"],
    queryFn: async (): Promise<RunEvent[]> => {
      const events = await fetchAllPages((cursor) =>
        api.GET("/api/v1/runs/{run_id}/events", { params: { path: { run_id }, query: { limit: 100, cursor } } }),
      );
      return events.map((event) => ({ ...event, data: fieldsOf(event.data) }));
    },
    refetchInterval: working && FOLLOW_MILLISECONDS,
  });

/** A recorded call does not change, so it is read once. */
export const modelCall = (run_id: string, call_id: string) =>
  queryOptions({
    queryKey: ["modelCalls", run_id, call_id],
    queryFn: () =>
      answer(api.GET("/api/v1/runs/{run_id}/model-calls/{call_id}", { params: { path: { run_id, call_id } } })),
    staleTime: Infinity,
    retry: false,
  });

export const replay = (run_id: string) =>
  queryOptions({
    queryKey: ["runs", "one", run_id, "replay"],
    queryFn: async () => {
      const replay = await answer(api.GET("/api/v1/runs/{run_id}/replay", { params: { path: { run_id } } }));
      return { ...replay, frames: replay.frames.filter(isReplayFrame) };
    },
  });
