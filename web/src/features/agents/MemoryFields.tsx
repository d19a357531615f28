// The memory policy of an agent, and what the agent remembers.
import { useQuery } from "@tanstack/react-query";
import { Pencil } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api } from "../../api/client";
import type { Agent, Memory } from "../../api/types";
import { useRights } from "../../app/session";
import { Button, IconButton } from "../../components/Button";
import { DeleteButton } from "../../components/DeleteButton";
import { ErrorMessage, Loading } from "../../components/Feedback";
import { Field, Select, TextArea } from "../../components/Field";
import { Badge } from "../../components/Layout";
import { NumberInput } from "../../components/NumberInput";
import { Switch } from "../../components/Switch";
import { useSave } from "../../lib/useSave";
import { useAgentForm } from "./formContext";
import * as agentQueries from "./queries";

const SCOPES = ["off", "person", "chat"] as const;
const MAX_ENTRIES = 2000;
const MAX_DAYS = 3650;
const PAGE = 50;

export function MemoryFields({ agentId }: { agentId: string }) {
  const { t } = useTranslation();
  const { draft, put, disabled } = useAgentForm();
  const policy = draft.memory_policy;
  const update = (change: Partial<Agent["memory_policy"]>) => put({ memory_policy: { ...policy, ...change } });
  return (
    <div className="space-y-5">
      <p className="text-sm text-quiet">{t("agents.memoryText")}</p>
      <Field label={t("agents.memoryScope")}>
        {(control) => (
          <Select
            {...control}
            value={policy.scope}
            disabled={disabled}
            onChange={(event) => update({ scope: event.target.value as Agent["memory_policy"]["scope"] })}
          >
            {SCOPES.map((scope) => (
              <option key={scope} value={scope}>
                {t(`agents.memoryScopes.${scope}`)}
              </option>
            ))}
          </Select>
        )}
      </Field>
      {policy.scope !== "off" && (
        <>
          <Field label={t("agents.memoryConsent")} hint={t("agents.memoryConsentHint")} beside>
            {(control) => (
              <Switch
                id={control.id}
                checked={policy.consent}
                disabled={disabled}
                onChange={(consent) => update({ consent })}
              />
            )}
          </Field>
          <div className="grid gap-5 sm:grid-cols-2">
            <Field label={t("agents.memoryEntries")} hint={t("agents.memoryEntriesHint")}>
              {(control) => (
                <NumberInput
                  control={control}
                  whole
                  min={1}
                  max={MAX_ENTRIES}
                  value={policy.max_entries}
                  disabled={disabled}
                  onChange={(max_entries) => update({ max_entries })}
                />
              )}
            </Field>
            <Field label={t("agents.memoryDays")} hint={t("agents.memoryDaysHint")}>
              {(control) => (
                <NumberInput
                  control={control}
                  whole
                  min={0}
                  max={MAX_DAYS}
                  value={policy.retention_days}
                  disabled={disabled}
                  onChange={(retention_days) => update({ retention_days })}
                />
              )}
            </Field>
          </div>
        </>
      )}
      <Memories agentId={agentId} />
    </div>
  );
}

function Memories({ agentId }: { agentId: string }) {
  const { t } = useTranslation();
  const [shown, setShown] = useState(PAGE);
  const memories = useQuery(agentQueries.memories(agentId));
  return (
    <section className="space-y-3 border-t border-line pt-5">
      <h3 className="font-medium">{t("agents.memories")}</h3>
      <ErrorMessage error={memories.error} />
      {memories.isPending && <Loading />}
      {memories.data?.length === 0 && <p className="text-sm text-quiet">{t("agents.memoriesEmpty")}</p>}
      <ul className="space-y-3">
        {memories.data?.slice(0, shown).map((memory) => (
          <Remembered key={memory.memory_id} memory={memory} />
        ))}
      </ul>
      {memories.data && memories.data.length > shown && (
        <Button onClick={() => setShown(shown + PAGE)}>{t("agents.memoryMore")}</Button>
      )}
    </section>
  );
}

function Remembered({ memory }: { memory: Memory }) {
  const { t } = useTranslation();
  const { operate } = useRights();
  const [text, setText] = useState<string>();
  const path = { params: { path: { memory_id: memory.memory_id } } };
  const change = useSave(
    (body: { text: string }) => answer(api.PATCH("/api/v1/memories/{memory_id}", { ...path, body })),
    ["memories"],
    () => setText(undefined),
  );
  const owner = { owner_type: memory.owner_type, owner_id: memory.owner_id };
  return (
    <li className="rounded-card border border-line p-3">
      <div className="mb-1 flex flex-wrap items-center gap-2 text-xs text-quiet">
        <span className="min-w-0 flex-1 truncate">
          {t("agents.memoryOwner", { type: memory.owner_type, id: memory.owner_id })}
        </span>
        {memory.origin === "operator" && <Badge>{t("agents.memoryEdited")}</Badge>}
        {operate && (
          <>
            <IconButton label={t("agents.memoryEdit")} onClick={() => setText(memory.text)}>
              <Pencil className="size-4" />
            </IconButton>
            <DeleteButton
              icon
              label={t("agents.memoryDelete")}
              title={t("agents.memoryDelete")}
              text={t("agents.memoryDeleteText")}
              remove={() => answer(api.DELETE("/api/v1/memories/{memory_id}", path))}
              stale={["memories"]}
            />
          </>
        )}
      </div>
      {text === undefined ? (
        <p className="text-sm whitespace-pre-line wrap-anywhere">{memory.text}</p>
      ) : (
        <div className="space-y-3">
          <TextArea
            aria-label={t("agents.memoryTextLabel")}
            rows={3}
            maxLength={1000}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
          <div className="flex flex-wrap gap-2">
            <Button
              weight="primary"
              busy={change.isPending}
              disabled={!text.trim()}
              onClick={() => change.mutate({ text })}
            >
              {t("common.save")}
            </Button>
            <Button onClick={() => setText(undefined)}>{t("common.cancel")}</Button>
            <span className="flex-1" />
            <DeleteButton
              label={t("agents.memoryForgetPerson", { id: memory.owner_id })}
              title={t("agents.memoryForgetPerson", { id: memory.owner_id })}
              text={t("agents.memoryForgetPersonText")}
              remove={() => answer(api.DELETE("/api/v1/memories", { params: { query: owner } }))}
              stale={["memories"]}
            />
          </div>
        </div>
      )}
      <ErrorMessage error={change.error} mild />
    </li>
  );
}
