// Reads the transcript of a session from its end, page by page.
import { answer, api } from "../../api/client";
import type { Page, TranscriptItem } from "../../api/types";

const PAGE = 100;

export async function history(
  agent_id: string,
  session: string,
  pages: number,
): Promise<{ items: TranscriptItem[]; isWhole: boolean }> {
  const items: TranscriptItem[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < pages; page += 1) {
    const read: Page<TranscriptItem> = await answer(
      api.GET("/api/v1/agents/{agent_id}/chat/{session}/messages", {
        params: { path: { agent_id, session }, query: { order: "newest", limit: PAGE, cursor } },
      }),
    );
    items.push(...read.items);
    cursor = read.next_cursor;
    if (cursor === null) break;
  }
  return { items: items.reverse(), isWhole: cursor === null };
}
