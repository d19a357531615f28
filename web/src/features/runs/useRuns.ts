// The list of runs: the newest page follows the live channel, older pages are read while the user scrolls.
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useEffect, useMemo } from "react";

import type { Page, Run } from "../../api/types";
import * as runQueries from "./queries";

/** Joins the newest page with older ones. Ids are ordered by time: where both overlap, the newest page is used. */
export function joined(newest: Page<Run> | undefined, older: Run[]): { rows: Run[]; gap: boolean } {
  const last = newest?.items.at(-1);
  if (newest?.next_cursor === null) return { rows: newest.items, gap: false };
  if (!newest || !last) return { rows: older, gap: false };
  const firstOlder = older[0];
  return {
    rows: [...newest.items, ...older.filter((run) => run.run_id < last.run_id)],
    gap: firstOlder !== undefined && firstOlder.run_id < last.run_id,
  };
}

export function useRuns(filter: runQueries.RunFilter) {
  const newest = useQuery(runQueries.newestRuns(filter));
  const pages = useInfiniteQuery(runQueries.runs(filter));
  const older = useMemo(() => pages.data?.pages.flatMap((page) => page.items) ?? [], [pages.data]);
  const { rows, gap } = useMemo(() => joined(newest.data, older), [newest.data, older]);
  const { refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = pages;
  useEffect(() => {
    if (gap) void refetch();
  }, [gap, refetch]);
  const nothingYet = rows.length === 0 && hasNextPage && !isFetchingNextPage;
  useEffect(() => {
    // a search may have matches only on older pages
    if (nothingYet) void fetchNextPage();
  }, [nothingYet, fetchNextPage]);
  return {
    rows,
    error: newest.error ?? pages.error,
    isPending: newest.isPending || (rows.length === 0 && hasNextPage),
    isWhole: !hasNextPage,
    more: () => hasNextPage && !isFetchingNextPage && void fetchNextPage(),
  };
}
