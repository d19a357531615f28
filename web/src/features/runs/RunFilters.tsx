// The filters of the list. Each change is a new address; the text is searched for when typing pauses.
import { useQuery } from "@tanstack/react-query";
import { Search, X } from "lucide-react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { Button } from "../../components/Button";
import { Input, Select } from "../../components/Field";
import { classes } from "../../lib/classes";
import * as agentQueries from "../agents/queries";
import * as botQueries from "../bots/queries";
import { DIRECT, isFiltered, type RunSearch, STATUSES, WITHIN } from "./search";

const PAUSE = 200;

export function RunFilters({
  search,
  sender,
  put,
  clear,
}: {
  search: RunSearch;
  /** The name of the sender that the list is filtered by, once a run contains it. */
  sender?: string;
  put: (change: RunSearch) => void;
  clear: () => void;
}) {
  const { t } = useTranslation();
  const agents = useQuery(agentQueries.agents).data ?? [];
  const bots = useQuery(botQueries.bots).data ?? [];
  return (
    <div role="search" aria-label={t("runs.filters")} className="mb-4 flex flex-wrap items-center gap-2">
      <Words value={search.q ?? ""} onChange={(q) => put({ q: q || undefined })} />
      <Choice
        label={t("runs.status")}
        any={t("runs.anyStatus")}
        value={search.status}
        onChange={(status) => put({ status: STATUSES.find((each) => each === status) })}
      >
        {STATUSES.map((status) => (
          <option key={status} value={status}>
            {t(`state.${status}`)}
          </option>
        ))}
      </Choice>
      <Choice
        label={t("runs.agent")}
        any={t("runs.anyAgent")}
        value={search.agent}
        onChange={(agent) => put({ agent })}
      >
        {agents.map((agent) => (
          <option key={agent.agent_id} value={agent.agent_id}>
            {agent.name}
          </option>
        ))}
      </Choice>
      <Choice
        label={t("runs.bot")}
        any={t("runs.anyBot")}
        value={search.bot}
        onChange={(bot) => put({ bot, actor: undefined })}
      >
        <option value={DIRECT}>{t("runs.direct")}</option>
        {bots.map((bot) => (
          <option key={bot.bot_id} value={bot.bot_id}>
            {bot.name}
          </option>
        ))}
      </Choice>
      {search.conversation && (
        <Chip label={t("runs.oneConversation")} onRemove={() => put({ conversation: undefined })} />
      )}
      {search.actor && (
        <Chip
          label={sender ? t("runs.sender", { name: sender }) : t("runs.oneSender")}
          onRemove={() => put({ actor: undefined })}
        />
      )}
      <Choice
        label={t("runs.time")}
        any={t("runs.anyTime")}
        value={search.within}
        onChange={(within) => put({ within: WITHIN.find((each) => each === within) })}
      >
        {WITHIN.map((within) => (
          <option key={within} value={within}>
            {t(`within.${within}`)}
          </option>
        ))}
      </Choice>
      {isFiltered(search) && (
        <Button weight="quiet" onClick={clear}>
          <X aria-hidden className="size-4" /> {t("runs.clear")}
        </Button>
      )}
    </div>
  );
}

/** A filter that was set by a link and has no control; a click removes it. */
function Chip({ label, onRemove }: { label: string; onRemove: () => void }) {
  const { t } = useTranslation();
  return (
    <Button
      onClick={onRemove}
      title={t("runs.removeFilter")}
      className="max-w-64 border-accent! bg-accent-wash font-medium"
    >
      <span className="truncate">{label}</span> <X aria-hidden className="size-4 shrink-0" />
    </Button>
  );
}

function Choice({
  label,
  any,
  value,
  onChange,
  children,
}: {
  label: string;
  any: string;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
  children: ReactNode;
}) {
  return (
    <Select
      aria-label={label}
      fits
      className={classes("max-w-44 max-sm:flex-1", value !== undefined && "border-accent! bg-accent-wash font-medium")}
      value={value ?? ""}
      onChange={(event) => onChange(event.target.value || undefined)}
    >
      <option value="">{any}</option>
      {children}
    </Select>
  );
}

function Words({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const { t } = useTranslation();
  const [typed, setTyped] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  // the address may be changed by other components; the text that is being typed stays
  useEffect(() => {
    if (timer.current === undefined) setTyped((previous) => (previous.trim() === value ? previous : value));
  }, [value]);
  const type = (text: string) => {
    setTyped(text);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      timer.current = undefined;
      onChange(text.trim());
    }, PAUSE);
  };
  return (
    <div className="relative min-w-48 flex-1 max-lg:basis-full">
      <Search aria-hidden className="pointer-events-none absolute top-3 left-3 size-4 text-quiet" />
      <Input
        type="search"
        aria-label={t("runs.words")}
        placeholder={t("runs.words")}
        className="pl-9"
        value={typed}
        onChange={(event) => type(event.target.value)}
      />
    </div>
  );
}
