// Tests the routes on the page with an example, and shows which one matches and why.
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api } from "../../api/client";
import type { DryRun, Route } from "../../api/types";
import { Button } from "../../components/Button";
import { Collapsible } from "../../components/Collapsible";
import { ErrorMessage } from "../../components/Feedback";
import { Field, Input, Select, TextArea } from "../../components/Field";
import { Badge, Card } from "../../components/Layout";
import { Switch } from "../../components/Switch";
import { EventTypeSelect } from "./EventTypeSelect";
import { eventOf, SAMPLE, type Sample } from "./sample";
import { stepWords } from "./stepWords";

/** `routes` are unsaved ones; without them, the saved ones are tested. */
export function DryRunCard({ botId, routes, events }: { botId: string; routes: Route[] | null; events: string[] }) {
  const { t } = useTranslation();
  const [sample, setSample] = useState(SAMPLE);
  const trying = useMutation({
    mutationFn: () =>
      answer(
        api.POST("/api/v1/bots/{bot_id}/routes/dry-run", {
          params: { path: { bot_id: botId } },
          body: { event: eventOf(sample), ...(routes && { routes }) },
        }),
      ),
  });
  return (
    <Card title={t("dryRun.title")} className="@4xl:sticky @4xl:top-6">
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          trying.mutate();
        }}
      >
        <SampleFields sample={sample} events={events} put={(change) => setSample({ ...sample, ...change })} />
        <Button type="submit" busy={trying.isPending} className="w-full">
          {t("dryRun.try")}
        </Button>
        {routes && <p className="text-sm text-quiet">{t("dryRun.unsaved")}</p>}
        <ErrorMessage error={trying.error} />
      </form>
      {trying.data && <Outcome outcome={trying.data} />}
    </Card>
  );
}

function SampleFields({
  sample,
  events,
  put,
}: {
  sample: Sample;
  events: string[];
  put: (change: Partial<Sample>) => void;
}) {
  const { t } = useTranslation();
  return (
    <>
      <Field label={t("routes.event")}>
        {(control) => (
          <EventTypeSelect control={control} value={sample.type} events={events} onChange={(type) => put({ type })} />
        )}
      </Field>
      <Field label={t("dryRun.text")}>
        {(control) => (
          <TextArea {...control} rows={2} value={sample.text} onChange={(event) => put({ text: event.target.value })} />
        )}
      </Field>
      <Field label={t("dryRun.group")} hint={t("dryRun.groupHint")}>
        {(control) => (
          <Input {...control} value={sample.group} onChange={(event) => put({ group: event.target.value })} />
        )}
      </Field>
      {sample.group && (
        <div className="flex items-center justify-between gap-3 text-sm">
          {t("filter.mentions_bot")}
          <Switch
            label={t("filter.mentions_bot")}
            checked={sample.mentions}
            onChange={(mentions) => put({ mentions })}
          />
        </div>
      )}
      <Collapsible title={t("dryRun.more")}>
        <div className="space-y-4">
          <Field label={t("dryRun.sender")}>
            {(control) => (
              <Input {...control} value={sample.sender} onChange={(event) => put({ sender: event.target.value })} />
            )}
          </Field>
          {sample.group && (
            <Field label={t("filter.roles")}>
              {(control) => (
                <Select {...control} value={sample.role} onChange={(event) => put({ role: event.target.value })}>
                  <option value="">–</option>
                  {["owner", "admin", "member"].map((role) => (
                    <option key={role} value={role}>
                      {t(`memberRole.${role}`)}
                    </option>
                  ))}
                </Select>
              )}
            </Field>
          )}
          <Field label={t("dryRun.at")} hint={t("dryRun.atHint")}>
            {(control) => (
              <Input
                {...control}
                type="datetime-local"
                value={sample.at}
                onChange={(event) => put({ at: event.target.value })}
              />
            )}
          </Field>
        </div>
      </Collapsible>
    </>
  );
}

function Outcome({ outcome }: { outcome: DryRun }) {
  const { t, i18n } = useTranslation();
  const isHandled = outcome.route || outcome.agent_id;
  return (
    <div role="status" className="mt-4 space-y-2 border-t border-line pt-4 text-sm">
      <Badge tone={isHandled ? "accent" : "warn"}>
        {t(isHandled ? `handler.${outcome.handler_type}` : "dryRun.none")}
      </Badge>
      <ol className="space-y-1.5">
        {outcome.steps.map((step, index) => (
          <li key={index} className={step.kind === "outcome" ? "font-medium" : "text-quiet"}>
            {stepWords(step, i18n)}
          </li>
        ))}
      </ol>
    </div>
  );
}
