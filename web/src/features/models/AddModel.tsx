// Adds a model of a provider, by its name at the provider.
import { useId, useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api } from "../../api/client";
import { fieldMessage } from "../../api/problem";
import type { Model, ModelKind, Provider } from "../../api/types";
import { Button } from "../../components/Button";
import { ErrorMessage } from "../../components/Feedback";
import { Field, Input, Select } from "../../components/Field";
import { LeaveGuard } from "../../components/LeaveGuard";
import { useSave } from "../../lib/useSave";

const TYPES = ["llm", "embedding", "rerank", "moderation"] as const;

export function AddModel({
  provider,
  kind,
  taken,
}: {
  provider: Provider;
  kind: ModelKind | undefined;
  taken: string[];
}) {
  const { t } = useTranslation();
  const [name, setName] = useState("");
  const [type, setType] = useState<Model["type"] | "">("");
  const suggestions = useId();
  const preset = kind?.models.find((each) => each.name === name);
  const adding = useSave(
    () =>
      answer(
        api.POST("/api/v1/models", {
          body: { provider_id: provider.provider_id, name, type: type || preset?.type || "llm", parameters: {} },
        }),
      ),
    ["models", "agents", "info"],
    () => setName(""),
  );
  return (
    <form
      className="mt-3 space-y-3 border-t border-line pt-4"
      onSubmit={(event) => {
        event.preventDefault();
        adding.mutate(undefined);
      }}
    >
      <LeaveGuard dirty={name !== ""} />
      <div className="flex flex-wrap items-end gap-3">
        <div className="min-w-48 flex-1">
          <Field label={t("models.addModel")} error={fieldMessage(adding.error, "name")}>
            {(control) => (
              <Input
                {...control}
                list={suggestions}
                required
                placeholder={kind?.models[0]?.name}
                value={name}
                onChange={(event) => setName(event.target.value)}
              />
            )}
          </Field>
          <datalist id={suggestions}>
            {kind?.models
              .filter((each) => !taken.includes(each.name))
              .map((each) => (
                <option key={each.name} value={each.name} />
              ))}
          </datalist>
        </div>
        <Select
          aria-label={t("models.type")}
          fits
          value={type || preset?.type || "llm"}
          onChange={(event) => setType(event.target.value as Model["type"])}
        >
          {TYPES.map((each) => (
            <option key={each} value={each}>
              {t(`modelType.${each}`)}
            </option>
          ))}
        </Select>
        <Button type="submit" busy={adding.isPending}>
          {t("common.add")}
        </Button>
      </div>
      <ErrorMessage error={adding.error} />
    </form>
  );
}
