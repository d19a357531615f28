// A bot's routes, in the order in which they are tried. They are saved as a whole, and tried out on an example.
import { useQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api } from "../../api/client";
import type { Adapter, Page, Route } from "../../api/facts";
import * as queries from "../../api/queries";
import { useRights } from "../../app/session";
import { Button } from "../../components/Button";
import { swapped } from "../../components/form/fallback";
import { Empty, ErrorNote, Loading } from "../../components/Notes";
import { useSave } from "../../lib/useSave";
import { DryRunCard } from "./DryRunCard";
import { RouteCard } from "./RouteCard";

export function RoutesEditor({ botId, adapter }: { botId: string; adapter: Adapter }) {
  const { t } = useTranslation();
  const { edit } = useRights();
  const saved = useQuery(queries.routes(botId));
  const [draft, setDraft] = useState<Route[] | null>(null);
  const routes = draft ?? saved.data;
  const saving = useSave(
    (items: Route[]) =>
      answer<Page<Route>>(
        api.PUT("/api/v1/bots/{bot_id}/routes", { params: { path: { bot_id: botId } }, body: { items: numbered(items) } as never }),
      ),
    ["routes"],
  );
  useEffect(() => {
    if (saving.isSuccess) setDraft(null);
  }, [saving.isSuccess, saving.data]);
  if (!routes) return <Loading />;
  const put = (index: number, route: Route) => setDraft(routes.map((each, at) => (at === index ? route : each)));
  return (
    <div className="grid gap-6 lg:grid-cols-[minmax(0,1fr)_20rem]">
      <div className="space-y-3">
        <p className="text-sm text-quiet">{t("routes.text")}</p>
        {routes.length === 0 && <Empty title={t("routes.empty")} text={t("routes.emptyText")} />}
        <ol className="space-y-3">
          {routes.map((route, index) => (
            <RouteCard
              key={route.route_id || `new-${index}`}
              route={route}
              adapter={adapter}
              disabled={!edit}
              onChange={(next) => put(index, next)}
              onRemove={() => setDraft(routes.filter((_, at) => at !== index))}
              onUp={index > 0 ? () => setDraft(swapped(routes, index, index - 1)) : undefined}
              onDown={index < routes.length - 1 ? () => setDraft(swapped(routes, index, index + 1)) : undefined}
            />
          ))}
        </ol>
        <ErrorNote error={saving.error} />
        {edit && (
          <div className="flex flex-wrap gap-2">
            <Button onClick={() => setDraft([...routes, NEW])}><Plus aria-hidden className="size-4" /> {t("routes.add")}</Button>
            {draft && <Button weight="primary" busy={saving.isPending} onClick={() => saving.mutate(draft)}>{t("common.save")}</Button>}
            {draft && <Button weight="quiet" onClick={() => setDraft(null)}>{t("common.discard")}</Button>}
          </div>
        )}
      </div>
      <DryRunCard botId={botId} unsaved={draft !== null} events={adapter.supported_events} />
    </div>
  );
}

const NEW: Route = {
  route_id: "", event_type: "message.received", handler_type: "agent", handler_config: {}, filters: {}, enabled: true, priority: 0, description: "",
};

/** The order on the page is what counts; higher priorities are tried first. */
export function numbered(routes: Route[]): Route[] {
  return routes.map((route, index) => ({ ...route, priority: (routes.length - index) * 10 }));
}
