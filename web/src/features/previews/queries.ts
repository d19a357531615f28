// Queries of previews: the conversation of one, and its history. The live channel marks them as stale with the events.
import { queryOptions } from "@tanstack/react-query";

import { answer, api } from "../../api/client";

export type Target = { kind: "bot" | "pipeline"; id: string };
export type Scene = {
  chat_type: "private" | "group";
  chat_id: string;
  mentions_bot: boolean;
  person: { id: string; name: string; role: string };
};

const HISTORY = 100;
/** Seconds for which the page waits for an answer, which may need an approval. */
const PATIENCE = 600;

export const FIRST_SCENE: Scene = {
  chat_type: "private",
  chat_id: "preview",
  mentions_bot: true,
  person: { id: "preview", name: "", role: "" },
};

export const history = (target: Target, { chat_type, chat_id }: Pick<Scene, "chat_type" | "chat_id">) =>
  queryOptions({
    queryKey: ["events", "preview", target, chat_type, chat_id],
    queryFn: async () => {
      const query = { chat_type, chat_id };
      const { conversation_id } = await answer(
        target.kind === "bot"
          ? api.GET("/api/v1/bots/{bot_id}/preview", { params: { path: { bot_id: target.id }, query } })
          : api.GET("/api/v1/pipelines/{pipeline_id}/preview", { params: { path: { pipeline_id: target.id }, query } }),
      );
      if (conversation_id === null) return { conversation_id, items: [] };
      const page = await answer(
        api.GET("/api/v1/conversations/{conversation_id}/transcript", {
          params: { path: { conversation_id }, query: { order: "newest", limit: HISTORY } },
        }),
      );
      return { conversation_id, items: page.items.reverse() };
    },
    enabled: chat_id !== "",
  });

/** Sends a message and waits for what became of it. */
export async function send(target: Target, scene: Scene, text: string) {
  const query = { wait: "result" as const, timeout: PATIENCE };
  const body = { ...scene, text };
  const sent =
    target.kind === "bot"
      ? api.POST("/api/v1/bots/{bot_id}/preview", { params: { path: { bot_id: target.id }, query }, body })
      : api.POST("/api/v1/pipelines/{pipeline_id}/preview", {
          params: { path: { pipeline_id: target.id }, query },
          body,
        });
  const result = await answer(sent);
  if (!("outcome" in result)) throw new Error("the Host has not waited for the result");
  return result;
}

export const forget = (conversation_id: string) =>
  answer(api.DELETE("/api/v1/conversations/{conversation_id}", { params: { path: { conversation_id } } }));
