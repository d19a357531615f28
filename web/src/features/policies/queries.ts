// The queries of message policies: word lists, and the check that describes a policy.
import { queryOptions } from "@tanstack/react-query";

import { answer, api } from "../../api/client";
import { listQuery, pageAfter } from "../../api/queries";
import type { Fields, PolicyBody } from "../../api/types";

export const wordLists = listQuery("word-lists", (cursor) => api.GET("/api/v1/word-lists", pageAfter(cursor)));

export const policyCheck = (policy: Fields) =>
  queryOptions({
    queryKey: ["message-policies", "check", policy],
    queryFn: () =>
      answer(api.POST("/api/v1/message-policies/check", { body: { message_policy: policy as PolicyBody } })),
    retry: false,
  });
