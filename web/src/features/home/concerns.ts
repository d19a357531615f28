// What somebody should look at now: approvals that wait, connections and plugins that fail, agents that have no model.
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import * as queries from "../../api/queries";

export type Concern = { key: string; text: string; to: string; params?: Record<string, string> };

const HEALTHY = new Set(["connected", "connecting", "ready", "starting", "disabled", "stopped"]);

export function useConcerns(): Concern[] {
  const { t } = useTranslation();
  const approvals = useQuery(queries.approvals).data ?? [];
  const bots = useQuery(queries.bots).data ?? [];
  const plugins = useQuery(queries.plugins).data ?? [];
  const models = useQuery(queries.models).data;
  const waiting = approvals.filter((each) => each.status === "pending").length;
  return [
    ...(waiting ? [{ key: "approvals", text: t("concern.approvals", { count: waiting }), to: "/approvals" }] : []),
    ...bots
      .filter((bot) => bot.enabled && (bot.status.last_error || !HEALTHY.has(bot.status.state)))
      .map((bot) => ({
        key: bot.bot_id,
        text: t("concern.bot", { name: bot.name, reason: bot.status.last_error ?? bot.status.state }),
        to: "/bots/$botId",
        params: { botId: bot.bot_id },
      })),
    ...plugins
      .filter((plugin) => plugin.enabled && !HEALTHY.has(plugin.status))
      .map((plugin) => ({ key: plugin.id, text: t("concern.plugin", { name: plugin.id, reason: plugin.reason ?? plugin.status }), to: "/plugins" })),
    ...(models && !models.some((model) => model.provider_id !== "demo") ? [{ key: "models", text: t("concern.demo"), to: "/models" }] : []),
  ];
}
