// The settings of a model: limits, abilities, prices, and parameters of every request.
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api, ifMatch, type Versioned } from "../../api/client";
import { fieldMessage } from "../../api/problem";
import type { FormItem, Model, ModelBody } from "../../api/types";
import { Button } from "../../components/Button";
import { ConflictNote } from "../../components/ConflictNote";
import { Dialog } from "../../components/Dialog";
import { ErrorMessage } from "../../components/Feedback";
import { Field, Input } from "../../components/Field";
import { NO_CHOICES } from "../../components/form/controls";
import { JsonControl } from "../../components/form/json";
import { FormSnapshot } from "../../components/FormSnapshot";
import { LeaveGuard } from "../../components/LeaveGuard";
import { NumberInput } from "../../components/NumberInput";
import { ToggleGroup } from "../../components/ToggleGroup";
import { useSaveWithConflict } from "../../lib/useSaveWithConflict";
import { PRICES, pricesOf, type PriceTexts, textsOf } from "./prices";
import * as modelQueries from "./queries";

const ABILITIES = ["vision", "audio", "tools", "reasoning", "json"];

export function ModelDialog({ model, open, onClose }: { model: Model; open: boolean; onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <Dialog open={open} title={t("models.edit", { name: model.name })} onClose={onClose}>
      <FormSnapshot query={modelQueries.model(model.model_id)}>
        {(opened, reopen) => <ModelForm opened={opened} onTheirs={reopen} onDone={onClose} />}
      </FormSnapshot>
    </Dialog>
  );
}

const bodyOf = ({ model_id: _, ...body }: Model) => body;

function ModelForm({
  opened,
  onTheirs,
  onDone,
}: {
  opened: Versioned<Model>;
  onTheirs: (theirs: Versioned<Model>) => void;
  onDone: () => void;
}) {
  const { t } = useTranslation();
  const [draft, setDraft] = useState(opened.value);
  const [prices, setPrices] = useState(() => textsOf(opened.value.prices));
  const [initial] = useState([draft, prices]);
  const { model_id } = opened.value;
  const saving = useSaveWithConflict({
    base: opened,
    query: modelQueries.model(model_id),
    bodyOf,
    put: (body, over) =>
      answer(
        api.PUT("/api/v1/models/{model_id}", {
          params: { path: { model_id }, header: ifMatch(over) },
          body: body as ModelBody,
        }),
      ),
    stale: ["models", "agents", "info"],
    after: onDone,
  });
  const update = (change: Partial<Model>) => setDraft({ ...draft, ...change });
  return (
    <form
      className="space-y-5"
      onSubmit={(event) => {
        event.preventDefault();
        saving.save(bodyOf({ ...draft, prices: pricesOf(prices) }));
      }}
    >
      <LeaveGuard dirty={JSON.stringify([draft, prices]) !== JSON.stringify(initial)} />
      <Field label={t("common.name")} required error={fieldMessage(saving.error, "name")}>
        {(control) => (
          <Input {...control} required value={draft.name} onChange={(event) => update({ name: event.target.value })} />
        )}
      </Field>
      <div className="grid gap-4 sm:grid-cols-2">
        {(["context_window", "max_output_tokens"] as const).map((name) => (
          <Field key={name} label={t(`models.${name}`)} error={fieldMessage(saving.error, name)}>
            {(control) => (
              <NumberInput
                control={control}
                min={1}
                max={100_000_000}
                whole
                value={draft[name]}
                onChange={(value) => update({ [name]: Number.isNaN(value) ? null : value })}
              />
            )}
          </Field>
        ))}
      </div>
      {draft.type === "llm" && (
        <Field label={t("models.abilities")}>
          {(control) => (
            <ToggleGroup
              control={control}
              options={ABILITIES.map((each) => ({ value: each, label: t(`ability.${each}`) }))}
              value={draft.abilities}
              onChange={(abilities) => update({ abilities })}
            />
          )}
        </Field>
      )}
      <Prices prices={prices} onChange={setPrices} error={saving.error} />
      <Field
        label={t("models.parameters")}
        hint={t("models.parametersHint")}
        error={fieldMessage(saving.error, "parameters")}
      >
        {(control) => (
          <JsonControl
            control={control}
            item={PARAMETERS}
            value={draft.parameters}
            onChange={(value) => update({ parameters: (value ?? {}) as Model["parameters"] })}
            choices={NO_CHOICES}
            kept={false}
            disabled={false}
          />
        )}
      </Field>
      <ErrorMessage error={saving.error} />
      <ConflictNote
        name={opened.value.name}
        conflict={saving.conflict}
        busy={saving.isPending}
        onTheirs={onTheirs}
        onMine={saving.overwrite}
      />
      <div className="flex justify-end gap-2">
        <Button onClick={onDone}>{t("common.cancel")}</Button>
        <Button type="submit" weight="primary" busy={saving.isPending}>
          {t("common.save")}
        </Button>
      </div>
    </form>
  );
}

const PARAMETERS: FormItem = { name: "parameters", label: {}, type: "json" };

function Prices({
  prices,
  onChange,
  error,
}: {
  prices: PriceTexts;
  onChange: (prices: PriceTexts) => void;
  error: unknown;
}) {
  const { t } = useTranslation();
  return (
    <fieldset className="space-y-1.5">
      <legend className="mb-1.5 text-sm font-medium">{t("models.prices")}</legend>
      <div className="grid grid-cols-3 gap-3">
        {PRICES.map((name) => (
          <Field key={name} label={t(`models.price_${name}`)} error={fieldMessage(error, `prices.${name}`)}>
            {(control) => (
              <NumberInput
                control={control}
                min={0}
                max={1_000_000}
                value={prices[name]}
                onChange={(_, text) => onChange({ ...prices, [name]: text })}
              />
            )}
          </Field>
        ))}
      </div>
      <p className="text-sm text-quiet">{t("models.pricesHint")}</p>
    </fieldset>
  );
}
