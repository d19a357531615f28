// The state of platforms, plugins and other connections.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { Card, State } from "../../components/Layout";
import { localized } from "../../lib/format";
import * as botQueries from "../bots/queries";
import * as pluginQueries from "../plugins/queries";
import * as toolQueries from "../tools/queries";

type Thing = { key: string; name: string; state: string; to: string; params?: Record<string, string> };

export function Health() {
  const { t, i18n } = useTranslation();
  const bots = useQuery(botQueries.bots).data ?? [];
  const plugins = useQuery(pluginQueries.plugins).data ?? [];
  const servers = useQuery(toolQueries.mcpServers).data ?? [];
  const parts: [string, Thing[]][] = [
    [
      t("nav.bots"),
      bots.map((bot) => ({
        key: bot.bot_id,
        name: bot.name,
        state: bot.enabled ? bot.status.state : "disabled",
        to: "/bots/$botId",
        params: { botId: bot.bot_id },
      })),
    ],
    [
      t("nav.plugins"),
      plugins.map((plugin) => ({
        key: plugin.id,
        name: localized(plugin.label, i18n.language) || plugin.id,
        state: plugin.enabled ? plugin.status : "disabled",
        to: "/plugins",
      })),
    ],
    [
      t("tools.servers"),
      servers.map((server) => ({
        key: server.server_id,
        name: server.name,
        state: server.enabled ? (server.status?.state ?? "") : "disabled",
        to: "/tools",
      })),
    ],
  ];
  return (
    <Card title={t("home.health")}>
      <div className="space-y-4">
        {parts
          .filter(([, entries]) => entries.length > 0)
          .map(([name, entries]) => (
            <section key={name}>
              <h3 className="mb-1 text-xs font-medium text-quiet">{name}</h3>
              <ul>
                {entries.map((entry) => (
                  <li key={entry.key}>
                    <Link
                      to={entry.to}
                      params={entry.params}
                      className="-mx-2 flex items-center justify-between gap-3 rounded-control px-2 py-1.5 text-sm hover:bg-raised"
                    >
                      <span className="min-w-0 truncate">{entry.name}</span>
                      {entry.state && <State state={entry.state} />}
                    </Link>
                  </li>
                ))}
              </ul>
            </section>
          ))}
        {bots.length === 0 && (
          <p className="text-sm text-quiet">
            {t("bots.empty")}.{" "}
            <Link to="/bots/new" className="text-accent underline underline-offset-2">
              {t("bots.create")}
            </Link>
          </p>
        )}
      </div>
    </Card>
  );
}
