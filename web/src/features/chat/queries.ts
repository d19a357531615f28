// Queries of chat sessions. The live channel marks them as stale by their keys (api/live.ts).
import { queryOptions } from "@tanstack/react-query";

import { answer, api } from "../../api/client";

export const chatSessions = (agent_id: string) =>
  queryOptions({
    queryKey: ["chatSessions", agent_id],
    queryFn: () =>
      answer(
        api.GET("/api/v1/agents/{agent_id}/chat/sessions", { params: { path: { agent_id }, query: { limit: 100 } } }),
      ),
    // a session without messages is not listed
    select: (page) => page.items.filter((each) => each.items > 0),
  });
