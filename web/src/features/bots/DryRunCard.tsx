// Tries the saved routes on an example, and says in words who would take it and why.
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api } from "../../api/client";
import type { DryRun } from "../../api/facts";
import { Button } from "../../components/Button";
import { Field, Input, Select, TextArea } from "../../components/Field";
import { ErrorNote } from "../../components/Notes";
import { Badge, Card } from "../../components/Surfaces";

export function DryRunCard({ botId, unsaved, events }: { botId: string; unsaved: boolean; events: string[] }) {
  const { t } = useTranslation();
  const [sample, setSample] = useState({ type: "message.received", text: "", sender: "", group: "" });
  const put = (change: Partial<typeof sample>) => setSample({ ...sample, ...change });
  const trying = useMutation({
    mutationFn: () =>
      answer<DryRun>(
        api.POST("/api/v1/bots/{bot_id}/routes/dry-run", { params: { path: { bot_id: botId } }, body: { event: eventOf(sample) as never } }),
      ),
  });
  return (
    <Card title={t("dryRun.title")} className="h-fit">
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          trying.mutate();
        }}
      >
        <Field label={t("routes.event")}>
          {(control) => (
            <Select {...control} value={sample.type} onChange={(event) => put({ type: event.target.value })}>
              {events.filter((each) => !each.includes("*")).map((each) => <option key={each}>{each}</option>)}
            </Select>
          )}
        </Field>
        <Field label={t("dryRun.text")}>
          {(control) => <TextArea {...control} rows={2} value={sample.text} onChange={(event) => put({ text: event.target.value })} />}
        </Field>
        <Field label={t("dryRun.sender")}>
          {(control) => <Input {...control} value={sample.sender} onChange={(event) => put({ sender: event.target.value })} />}
        </Field>
        <Field label={t("dryRun.group")} hint={t("dryRun.groupHint")}>
          {(control) => <Input {...control} value={sample.group} onChange={(event) => put({ group: event.target.value })} />}
        </Field>
        {unsaved && <p className="text-sm text-warn">{t("dryRun.unsaved")}</p>}
        <Button type="submit" busy={trying.isPending} className="w-full">{t("dryRun.try")}</Button>
        <ErrorNote error={trying.error} />
      </form>
      {trying.data && (
        <div role="status" className="mt-4 space-y-2 border-t border-line pt-4 text-sm">
          <Badge tone="accent">{t(`handler.${trying.data.handler_type}`)}</Badge>
          <ul className="space-y-1.5">{trying.data.reasons.map((reason) => <li key={reason}>{reason}</li>)}</ul>
        </div>
      )}
    </Card>
  );
}

export function eventOf(sample: { type: string; text: string; sender: string; group: string }): Record<string, unknown> {
  const chat = sample.group ? { chat_type: "group", chat_id: sample.group, group: { id: sample.group } } : { chat_type: "private", chat_id: sample.sender };
  return { type: sample.type, ...chat, ...(sample.text && { text: sample.text }), sender: { id: sample.sender || "somebody" } };
}
