// The alerts: pending approvals, failures, and that only the demo model answers.
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { useErrorText } from "../../components/Feedback";
import { localized } from "../../lib/format";
import * as approvalQueries from "../approvals/queries";
import * as botQueries from "../bots/queries";
import * as modelQueries from "../models/queries";
import * as pluginQueries from "../plugins/queries";
import type { RunSearch } from "../runs/search";
import * as toolQueries from "../tools/queries";
import { METRICS } from "./metricsModel";
import * as homeQueries from "./queries";

export type Alert = { key: string; text: string; to: string; params?: Record<string, string>; search?: RunSearch };

const HEALTHY = new Set(["connected", "connecting", "ready", "building", "starting", "disabled", "stopped"]);

export function useAlerts(): Alert[] {
  const { t, i18n } = useTranslation();
  const sentence = useErrorText();
  const stateLabel = (state: string) => (i18n.exists(`state.${state}`) ? t(`state.${state}`) : state);
  const approvals = useQuery(approvalQueries.approvals).data ?? [];
  const bots = useQuery(botQueries.bots).data ?? [];
  const plugins = useQuery(pluginQueries.plugins).data ?? [];
  const adapters = useQuery(botQueries.adapters).data ?? [];
  const models = useQuery(modelQueries.models).data;
  const servers = useQuery(toolQueries.mcpServers).data ?? [];
  const totals = useQuery(homeQueries.stats(24)).data?.totals ?? {};
  const failed = METRICS.find((measure) => measure.name === "failed")?.of(totals) ?? 0;
  const pendingCount = approvals.length;
  const unsandboxed = plugins.find((plugin) => plugin.sandbox_missing);
  return [
    ...(pendingCount
      ? [{ key: "approvals", text: t("concern.approvals", { count: pendingCount }), to: "/approvals" }]
      : []),
    ...bots
      .filter((bot) => bot.enabled && (bot.status.last_error || !HEALTHY.has(bot.status.state)))
      .map((bot) => ({
        key: bot.bot_id,
        text: t("concern.bot", {
          name: bot.name,
          reason: bot.status.last_error
            ? sentence(bot.status.last_error, adapters.find((each) => each.name === bot.adapter)?.config)
            : stateLabel(bot.status.state),
        }),
        to: "/bots/$botId",
        params: { botId: bot.bot_id },
      })),
    ...plugins
      .filter((plugin) => plugin.enabled && !HEALTHY.has(plugin.status))
      .map((plugin) => ({
        key: plugin.id,
        text: t("concern.plugin", {
          name: localized(plugin.label, i18n.language) || plugin.id,
          reason: plugin.reason ? sentence(plugin.reason) : stateLabel(plugin.status),
        }),
        to: "/plugins",
      })),
    ...(unsandboxed
      ? [
          {
            key: "sandbox",
            text: t("concern.sandbox", { remedy: unsandboxed.sandbox_command ?? unsandboxed.sandbox_remedy }),
            to: "/plugins",
          },
        ]
      : []),
    ...servers
      .filter((server) => server.enabled && server.status?.last_error)
      .map((server) => ({
        key: server.server_id,
        text: t("concern.server", { name: server.name, reason: sentence(server.status?.last_error) }),
        to: "/tools",
      })),
    ...(failed > 0
      ? [
          {
            key: "failed",
            text: t("concern.failed", { count: failed }),
            to: "/runs",
            search: { status: "failed", within: "day" } as const,
          },
        ]
      : []),
    ...(models && !models.some((model) => model.provider_id !== "demo")
      ? [{ key: "models", text: t("concern.demo"), to: "/models" }]
      : []),
  ];
}
