// Queries of pipelines and of their dry run. The live channel marks them as stale by their keys (api/live.ts).
import { queryOptions } from "@tanstack/react-query";

import { answer, api } from "../../api/client";
import { detailQuery, listQuery, pageAfter } from "../../api/queries";
import type { PipelineBody } from "../../api/types";

export const pipelines = listQuery("pipelines", (cursor) => api.GET("/api/v1/pipelines", pageAfter(cursor)));

export const pipeline = (pipeline_id: string) =>
  detailQuery(["pipelines", pipeline_id], () =>
    api.GET("/api/v1/pipelines/{pipeline_id}", { params: { path: { pipeline_id } } }),
  );

export type Sample = { text: string; chat: "private" | "group"; mentioned: boolean; sender: string; reply: string };

/** Tries a pipeline as it is being edited. */
export const dryRun = (pipeline_id: string, pipeline: PipelineBody, sample: Sample) =>
  queryOptions({
    queryKey: ["pipelines", "dry-run", pipeline_id, pipeline, sample],
    queryFn: () =>
      answer(
        api.POST("/api/v1/pipelines/{pipeline_id}/dry-run", {
          params: { path: { pipeline_id } },
          body: {
            event: {
              input: { text: sample.text },
              data: { chat_type: sample.chat, chat_id: "sample", mentions_bot: sample.mentioned },
              ...(sample.sender && { actor: { actor_id: sample.sender } }),
            },
            reply: sample.reply,
            pipeline,
          },
        }),
      ),
    retry: false,
    placeholderData: (previous) => previous,
  });
