// The button that lets the runner check the settings as they are in the form, saved or not.
import { useMutation } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { answer, api } from "../../api/client";
import type { Fields, Runner } from "../../api/types";
import { Button } from "../../components/Button";
import { ErrorMessage } from "../../components/Feedback";
import { formatDuration } from "../../lib/format";

export function ConnectionTest({
  runner,
  config,
  agentId,
}: {
  runner: Runner;
  config: Fields;
  /** The agent whose stored secrets stand for masked ones; without one it is new. */
  agentId?: string;
}) {
  const { t } = useTranslation();
  const testing = useMutation({
    mutationFn: () =>
      answer(
        api.POST("/api/v1/agents/test", {
          body: { runner_id: runner.id, runner_config: config, agent_id: agentId ?? null },
        }),
      ),
  });
  const result = testing.data;
  return (
    <div className="space-y-3">
      <Button small busy={testing.isPending} onClick={() => testing.mutate()}>
        {t("agents.testConnection")}
      </Button>
      <ErrorMessage error={testing.error ?? (result && !result.ok ? new Error(result.message) : null)} />
      {!runner.capabilities.reports_usage && !runner.permissions.models?.length && (
        <p className="text-sm text-muted">{t("agents.usageUnknown")}</p>
      )}
      {result?.ok && !testing.isPending && (
        <p role="status" className="rounded-control bg-good-wash px-3.5 py-2 text-sm text-good">
          {result.message} <span className="opacity-80">({formatDuration(result.milliseconds)})</span>
        </p>
      )}
    </div>
  );
}
