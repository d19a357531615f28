// The dialog that starts a rerun.
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api } from "../../api/client";
import type { Run } from "../../api/types";
import { Button } from "../../components/Button";
import { Dialog } from "../../components/Dialog";
import { ErrorMessage } from "../../components/Feedback";
import { Field, Select } from "../../components/Field";
import { Switch } from "../../components/Switch";
import { useSave } from "../../lib/useSave";
import * as agentQueries from "../agents/queries";

export function Rerun({ run, open, onClose }: { run: Run; open: boolean; onClose: () => void }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const agents = useQuery(agentQueries.agents).data ?? [];
  const [agentId, setAgentId] = useState("");
  const [effects, setEffects] = useState(false);
  const body = { allow_effects: effects, ...(agentId && { agent_id: agentId }) };
  const rerunning = useSave(
    () => answer(api.POST("/api/v1/runs/{run_id}/rerun", { params: { path: { run_id: run.run_id } }, body })),
    ["runs"],
    (created) => {
      onClose();
      void navigate({ to: "/runs/$runId", params: { runId: created.run_id }, search: { tab: "compare" } });
    },
  );
  return (
    <Dialog open={open} title={t("runs.rerun")} onClose={onClose}>
      <div className="space-y-4">
        <p className="text-sm text-quiet">{t("runs.rerunText")}</p>
        <Field label={t("runs.agent")}>
          {(control) => (
            <Select {...control} value={agentId} onChange={(event) => setAgentId(event.target.value)}>
              <option value="">{t("runs.sameAgent")}</option>
              {agents.map((agent) => (
                <option key={agent.agent_id} value={agent.agent_id}>
                  {agent.name}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <label className="flex items-start gap-3 text-sm">
          <Switch checked={effects} onChange={setEffects} label={t("runs.effects")} />
          <span>
            <span className="font-medium">{t("runs.effects")}</span>
            <span className="block text-quiet">{t("runs.effectsHint")}</span>
          </span>
        </label>
        <ErrorMessage error={rerunning.error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t("common.cancel")}</Button>
          <Button weight="primary" busy={rerunning.isPending} onClick={() => rerunning.mutate(undefined)}>
            {t("runs.rerun")}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
