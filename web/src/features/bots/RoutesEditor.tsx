// The routes of a bot, in the order in which they are tried. They are saved together, and can be tested before.
import { useQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api, ifMatch, type Versioned } from "../../api/client";
import type { Adapter, Page, Route } from "../../api/types";
import { useRights } from "../../app/session";
import { Button } from "../../components/Button";
import { ConflictNote } from "../../components/ConflictNote";
import { Empty, ErrorMessage, Loading } from "../../components/Feedback";
import { LeaveGuard } from "../../components/LeaveGuard";
import { useBase, useSaveWithConflict } from "../../lib/useSaveWithConflict";
import { moved, useSorting } from "../../lib/useSorting";
import * as agentQueries from "../agents/queries";
import { withoutEmpty } from "./conditions";
import { DryRunCard } from "./DryRunCard";
import * as botQueries from "./queries";
import { drafted, fresh, numbered, problemsAt, type RouteDraft } from "./route";
import { RouteCard } from "./RouteCard";

const toRequest = (routes: RouteDraft[]): Route[] =>
  numbered(routes.map((route) => ({ ...route, filters: withoutEmpty(route.filters) })));

export function RoutesEditor({ botId, adapter }: { botId: string; adapter: Adapter }) {
  const saved = useQuery(botQueries.routes(botId));
  if (saved.error) return <ErrorMessage error={saved.error} />;
  if (!saved.data) return <Loading />;
  return <Editor botId={botId} adapter={adapter} current={saved.data} />;
}

function Editor({ botId, adapter, current }: { botId: string; adapter: Adapter; current: Versioned<Page<Route>> }) {
  const { t } = useTranslation();
  const { edit } = useRights();
  const agents = useQuery(agentQueries.agents).data;
  const [draft, setDraft] = useState<RouteDraft[] | null>(null);
  const [open, setOpen] = useState<string | null>(null);
  const [announcement, setAnnouncement] = useState("");
  const base = useBase(current, draft !== null);
  const routes = draft ?? drafted(base.value.items);
  const saving = useSaveWithConflict({
    base,
    query: botQueries.routes(botId),
    bodyOf: ({ items }: Page<Route>) => ({ items: toRequest(drafted(items)) }),
    put: ({ items }, over) =>
      answer(
        api.PUT("/api/v1/bots/{bot_id}/routes", {
          params: { path: { bot_id: botId }, header: ifMatch(over) },
          body: items,
          // the Host also takes the list in the form of its response, which its document does not say
          bodySerializer: (items) => JSON.stringify({ items }),
        }),
      ),
    stale: ["routes"],
    after: () => setDraft(null),
  });
  const discard = () => {
    setDraft(null);
    saving.reset();
  };
  const summaryOf = (items: unknown) =>
    (items as Route[])
      .map((route) => `${route.description || route.event_type} → ${t(`handler.${route.handler_type}`)}`)
      .join("; ") || t("routes.empty");
  const sorting = useSorting<HTMLOListElement>(routes.length, (from, to) => {
    setDraft((previous) => moved(previous ?? routes, from, to));
    setAnnouncement(t("routes.moved", { place: to + 1, of: routes.length }));
  });
  useEffect(() => {
    const invalid = draft?.find((_, index) => Object.keys(problemsAt(saving.error, index)).length > 0);
    if (invalid) setOpen(invalid.key);
    // only when the error changes: the user may close the route again while correcting it
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [saving.error]);
  const replace = (index: number, route: RouteDraft) =>
    setDraft(routes.map((each, position) => (position === index ? route : each)));
  const add = () => {
    const route = fresh(agents?.find((agent) => agent.enabled)?.agent_id);
    setDraft([...routes, route]);
    setOpen(route.key);
  };
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-6 @4xl:grid-cols-[minmax(0,1fr)_20rem]">
      <form
        className="space-y-3"
        onSubmit={(event) => {
          event.preventDefault();
          if (draft) saving.save({ items: toRequest(draft) });
        }}
      >
        <LeaveGuard dirty={draft !== null} />
        <p className="text-sm text-quiet">{t("routes.text")}</p>
        {routes.length === 0 && <Empty title={t("routes.empty")} text={t("routes.emptyText")} />}
        <ol ref={sorting.list} className="space-y-3">
          {routes.map((route, index) => (
            <RouteCard
              key={route.key}
              route={route}
              number={index + 1}
              adapter={adapter}
              problems={draft ? problemsAt(saving.error, index) : {}}
              open={open === route.key}
              held={sorting.held === index}
              disabled={!edit}
              handle={sorting.handle(index)}
              onOpen={(isOpen) => setOpen(isOpen ? route.key : null)}
              onChange={(next) => replace(index, next)}
              onRemove={() => setDraft(routes.filter((_, position) => position !== index))}
            />
          ))}
        </ol>
        <p role="status" className="sr-only">
          {announcement}
        </p>
        <ErrorMessage error={draft && saving.error} />
        <ConflictNote
          name={t("bots.routes")}
          conflict={saving.conflict}
          busy={saving.isPending}
          words={summaryOf}
          onTheirs={discard}
          onMine={saving.overwrite}
        />
        {edit && (
          <div className="flex flex-wrap gap-2">
            <Button onClick={add}>
              <Plus aria-hidden className="size-4" /> {t("routes.add")}
            </Button>
            {draft && (
              <Button type="submit" weight="primary" busy={saving.isPending}>
                {t("common.save")}
              </Button>
            )}
            {draft && (
              <Button weight="quiet" onClick={discard}>
                {t("common.discard")}
              </Button>
            )}
          </div>
        )}
      </form>
      <DryRunCard botId={botId} routes={draft && toRequest(draft)} events={adapter.supported_events} />
    </div>
  );
}
