// The addresses that a platform's console asks for: the one that it calls, and those from which the Host calls it.
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api } from "../../api/client";
import type { Adapter, Bot } from "../../api/types";
import { useRights } from "../../app/session";
import { Button } from "../../components/Button";
import { ErrorMessage } from "../../components/Feedback";
import { Card } from "../../components/Layout";
import * as botQueries from "./queries";

export function BotAddresses({ bot, adapter }: { bot: Bot; adapter: Adapter }) {
  const { t } = useTranslation();
  const { edit } = useRights();
  const addresses = useQuery(botQueries.addresses(bot.bot_id));
  const check = useMutation({
    mutationFn: () =>
      answer(api.POST("/api/v1/bots/{bot_id}/addresses/check", { params: { path: { bot_id: bot.bot_id } } })),
  });
  const outbound = (adapter.connects_out ?? []).length > 0 ? (addresses.data?.outbound_ips ?? []) : [];
  if (addresses.error) return <ErrorMessage error={addresses.error} />;
  if (!addresses.data || (!addresses.data.takes_calls && outbound.length === 0)) return null;
  return (
    <Card>
      <div className="max-w-2xl space-y-4">
        <h2 className="font-medium">{t("botAddresses.title")}</h2>
        {addresses.data.takes_calls && (
          <div className="space-y-2">
            <p className="text-sm text-quiet">{t("botAddresses.callback")}</p>
            {addresses.data.callback ? (
              <Copied text={addresses.data.callback} />
            ) : (
              <p className="text-sm">{t("botAddresses.unknown")}</p>
            )}
            {edit && (
              <div className="flex flex-wrap items-center gap-3">
                <Button small busy={check.isPending} onClick={() => check.mutate()}>
                  {t("botAddresses.check")}
                </Button>
                {check.data && (
                  <p
                    role="status"
                    className={`text-sm ${check.data.outcome === "reached" ? "text-good" : "text-warn"}`}
                  >
                    {check.data.message}
                  </p>
                )}
              </div>
            )}
            <ErrorMessage error={check.error} />
          </div>
        )}
        {outbound.length > 0 && (
          <div className="space-y-2">
            <p className="text-sm text-quiet">{t("botAddresses.outbound")}</p>
            <Copied text={outbound.join(", ")} />
          </div>
        )}
      </div>
    </Card>
  );
}

function Copied({ text }: { text: string }) {
  const { t } = useTranslation();
  const [done, setDone] = useState(false);
  return (
    <div className="flex items-center gap-2">
      <output className="block min-w-0 flex-1 rounded-control bg-raised px-3 py-2 font-mono text-sm break-all">
        {text}
      </output>
      <Button
        small
        onClick={() => {
          void navigator.clipboard.writeText(text).then(() => setDone(true));
        }}
      >
        {t(done ? "botAddresses.copied" : "botAddresses.copy")}
      </Button>
    </div>
  );
}
