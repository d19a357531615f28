// The current user and the rights of their role. The Host decides; the page only hides what it would refuse.
import { useQuery, useQueryClient } from "@tanstack/react-query";

import { answer, api, setToken } from "../api/client";
import * as queries from "../api/queries";
import type { Me } from "../api/types";
import { within } from "../lib/base";
import { setCurrency } from "../lib/format";

export function useMe(): Me | undefined {
  const { data } = useQuery(queries.me);
  if (data?.csrf_token) setToken(data.csrf_token);
  return data;
}

/** Follows the currency of the Host when it is changed. */
export function useCurrency(): void {
  const { data } = useQuery(queries.info);
  if (data) setCurrency(data.currency);
}

export function useRights(): { own: boolean; edit: boolean; operate: boolean; readModelCalls: boolean } {
  const me = useMe();
  const role = me?.role;
  const own = role === "owner";
  const edit = own || role === "admin";
  return { own, edit, operate: edit || role === "operator", readModelCalls: me?.reads_model_calls === true };
}

export function useLogOut(): () => Promise<void> {
  const client = useQueryClient();
  return async () => {
    await answer(api.POST("/api/v1/auth/logout"));
    setToken("");
    client.clear();
    location.assign(within("/login"));
  };
}
