// The latest events of a bot, and why each was handled as it was.
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import type { EventRecord } from "../../api/types";
import { Collapsible } from "../../components/Collapsible";
import { Empty, ErrorMessage, Loading } from "../../components/Feedback";
import { Badge } from "../../components/Layout";
import { formatTime } from "../../lib/format";
import { useEventLabel } from "../../lib/useEventLabel";
import { Why } from "../runs/RunPage";
import { AgentHere } from "./DefaultAgents";
import * as botQueries from "./queries";

export function BotEvents({ botId }: { botId: string }) {
  const { t } = useTranslation();
  const events = useQuery(botQueries.botEvents(botId));
  if (events.error) return <ErrorMessage error={events.error} />;
  if (!events.data) return <Loading />;
  if (events.data.length === 0) return <Empty title={t("bots.noEvents")} text={t("bots.noEventsText")} />;
  return (
    <ul className="divide-y divide-line overflow-hidden rounded-card border border-line bg-surface shadow-card">
      {events.data.map((event) => (
        <Received key={event.event_id} event={event} />
      ))}
    </ul>
  );
}

function Received({ event }: { event: EventRecord }) {
  const { t, i18n } = useTranslation();
  const eventLabel = useEventLabel();
  return (
    <li className="px-5 py-3">
      <div className="flex flex-wrap items-baseline gap-x-3 gap-y-1">
        <span className="min-w-0 flex-1 basis-60 break-words">
          <span className="font-medium">{event.actor_name || eventLabel(event.event_type)}</span>
          {event.input_summary && <span className="line-clamp-3">{event.input_summary}</span>}
        </span>
        {event.actor_name && <Badge>{eventLabel(event.event_type)}</Badge>}
        <time className="text-xs text-quiet tabular-nums">{formatTime(event.created_at, i18n.language)}</time>
      </div>
      <Collapsible title={t("runs.why")}>
        <Why name={event.event_id} />
        {event.conversation_id && <AgentHere conversationId={event.conversation_id} />}
      </Collapsible>
    </li>
  );
}
