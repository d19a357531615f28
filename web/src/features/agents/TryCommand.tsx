// Runs a command under the box policy as it is in the form, and shows exactly what the agent would read.
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api } from "../../api/client";
import type { Agent } from "../../api/types";
import { useMe } from "../../app/session";
import { Button } from "../../components/Button";
import { ErrorMessage } from "../../components/Feedback";
import { Field, TextArea } from "../../components/Field";
import { Badge } from "../../components/Layout";

export function TryCommand({ policy }: { policy: Agent["box_policy"] }) {
  const { t } = useTranslation();
  const isOwner = useMe()?.role === "owner";
  const [command, setCommand] = useState("");
  const trying = useMutation({
    mutationFn: () => answer(api.POST("/api/v1/box/try", { body: { command, box_policy: policy as never } })),
  });
  if (!isOwner) return null;
  const tried = trying.data;
  return (
    <section className="space-y-3 rounded-card border border-line p-4" aria-label={t("agents.tryCommand")}>
      <Field label={t("agents.tryCommand")} hint={t("agents.tryCommandHint")}>
        {(control) => (
          <TextArea
            {...control}
            rows={2}
            className="font-mono text-sm"
            value={command}
            onChange={(event) => setCommand(event.target.value)}
          />
        )}
      </Field>
      <Button busy={trying.isPending} disabled={!command.trim()} onClick={() => trying.mutate()}>
        {t("agents.tryRun")}
      </Button>
      <ErrorMessage error={trying.error} />
      {tried && (
        <div role="status" className="space-y-2">
          <div className="flex flex-wrap gap-2">
            <Badge tone={tried.is_error ? "bad" : "good"}>
              {t(tried.is_error ? "agents.tryFailed" : "agents.tryDone")}
            </Badge>
            {tried.asks && <Badge tone="warn">{t("agents.tryAsks")}</Badge>}
            {!tried.is_offered && <Badge tone="warn">{t("agents.tryNotOffered")}</Badge>}
            <Badge>{t("agents.tryTime", { milliseconds: tried.milliseconds })}</Badge>
          </div>
          <pre className="overflow-x-auto rounded-control bg-raised p-3 text-sm whitespace-pre-wrap wrap-anywhere">
            {tried.text}
          </pre>
        </div>
      )}
    </section>
  );
}
