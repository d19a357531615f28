// Whether workers on other machines execute an agent's runs, and which of them.
import { useTranslation } from "react-i18next";

import { Field } from "../../components/Field";
import { StringList } from "../../components/form/lists";
import { Switch } from "../../components/Switch";
import { useAgentForm } from "./formContext";

export function WorkerFields() {
  const { t } = useTranslation();
  const { draft, put, disabled } = useAgentForm();
  return (
    <>
      <Field label={t("agents.onWorkers")} hint={t("agents.onWorkersHint")} beside>
        {(control) => (
          <Switch
            id={control.id}
            checked={draft.on_workers}
            disabled={disabled}
            onChange={(on_workers) => put({ on_workers })}
          />
        )}
      </Field>
      {draft.on_workers && (
        <Field label={t("agents.workerLabels")} hint={t("agents.workerLabelsHint")}>
          {(control) => (
            <StringList
              control={control}
              value={draft.worker_labels}
              disabled={disabled}
              onChange={(worker_labels) => put({ worker_labels })}
            />
          )}
        </Field>
      )}
    </>
  );
}
