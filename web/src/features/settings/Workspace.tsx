// The settings that apply without a restart: retention, limits of runs, workspace and logs.
import { useQuery } from "@tanstack/react-query";
import type { TFunction } from "i18next";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api, ifMatch, type Versioned } from "../../api/client";
import { fieldMessage } from "../../api/problem";
import type { Settings, SettingsBody } from "../../api/types";
import { Button } from "../../components/Button";
import { ConflictNote } from "../../components/ConflictNote";
import { ErrorMessage, Loading } from "../../components/Feedback";
import { type ControlProps, Field, Input, Select } from "../../components/Field";
import { StringList } from "../../components/form/lists";
import { Card } from "../../components/Layout";
import { LeaveGuard } from "../../components/LeaveGuard";
import { NumberInput } from "../../components/NumberInput";
import { LANGUAGES } from "../../lib/language";
import { usePatchField } from "../../lib/usePatchField";
import { useBase, useSaveWithConflict } from "../../lib/useSaveWithConflict";
import * as settingsQueries from "./queries";
import { changesOf, nameOf, type Section, type Tunable, TUNABLES, type Values, valuesOf } from "./tunable";

const SECTIONS: Section[] = ["retention", "runs", "workspace", "logs"];

export function Workspace() {
  const settings = useQuery(settingsQueries.settings);
  if (settings.error) return <ErrorMessage error={settings.error} />;
  if (!settings.data) return <Loading />;
  return <Form current={settings.data} />;
}

const change = (body: SettingsBody, over: Versioned<Settings>) =>
  answer(api.PUT("/api/v1/settings", { params: { header: ifMatch(over) }, body }));

function Form({ current }: { current: Versioned<Settings> }) {
  const { t } = useTranslation();
  const [draft, setDraft] = useState<Values | null>(null);
  const base = useBase(current, draft !== null);
  const settings = base.value;
  const stored = valuesOf(settings);
  const values = draft ?? stored;
  const stale = ["settings", "info"];
  const discard = () => {
    setDraft(null);
    saving.reset();
  };
  const saving = useSaveWithConflict({
    base,
    query: settingsQueries.settings,
    bodyOf: valuesOf,
    put: (wanted, over) => change(changesOf(valuesOf(over.value), wanted), over),
    stale,
    after: () => setDraft(null),
  });
  const resetting = usePatchField({
    current: base,
    query: settingsQueries.settings,
    field: nameOf,
    put: ({ section, name }: Tunable, over) => change({ [section]: { [name]: null } }, over),
    stale,
    after: () => setDraft(null),
  });
  const dirty = Object.keys(changesOf(stored, values)).length > 0;
  return (
    <form
      className="space-y-5"
      onSubmit={(event) => {
        event.preventDefault();
        saving.save(values);
      }}
    >
      <LeaveGuard dirty={dirty} />
      {SECTIONS.map((section) => (
        <Card key={section} title={t(`tuning.${section}`)}>
          {section === "retention" && <p className="-mt-2 mb-4 text-sm text-quiet">{t("tuningHint.retention")}</p>}
          <div className="grid gap-5 sm:grid-cols-2">
            {TUNABLES.filter((each) => each.section === section).map((each) => (
              <One
                key={nameOf(each)}
                tunable={each}
                value={values[nameOf(each)]}
                changed={settings.changed.includes(nameOf(each))}
                error={fieldMessage(saving.error, nameOf(each))}
                onChange={(value) => setDraft({ ...values, [nameOf(each)]: value })}
                onReset={() => resetting.mutate(each)}
              />
            ))}
          </div>
        </Card>
      ))}
      <ErrorMessage error={saving.error ?? resetting.error} />
      <ConflictNote
        name={t("nav.settings")}
        conflict={saving.conflict}
        busy={saving.isPending}
        onTheirs={discard}
        onMine={saving.overwrite}
      />
      <div className="flex items-center gap-3">
        <Button type="submit" weight="primary" busy={saving.isPending} disabled={!dirty}>
          {t("common.save")}
        </Button>
        {dirty && (
          <Button weight="quiet" onClick={discard}>
            {t("common.discard")}
          </Button>
        )}
        {!dirty && saving.isSuccess && (
          <span role="status" className="text-sm text-good">
            {t("common.saved")}
          </span>
        )}
      </div>
    </form>
  );
}

function One({
  tunable,
  value,
  changed,
  error,
  onChange,
  onReset,
}: {
  tunable: Tunable;
  value: unknown;
  changed: boolean;
  error?: string;
  onChange: (value: unknown) => void;
  onReset: () => void;
}) {
  const { t, i18n } = useTranslation();
  const hint = `tuningHint.${tunable.name}`;
  return (
    <Field
      label={t(`tuning.${tunable.name}`)}
      error={error}
      hint={
        <>
          {i18n.exists(hint) && t(hint)}
          {changed && (
            <button type="button" onClick={onReset} className="rounded text-accent underline not-first:ml-2">
              {t("tuning.reset")}
            </button>
          )}
        </>
      }
    >
      {(control) => <Control control={control} tunable={tunable} value={value} onChange={onChange} />}
    </Field>
  );
}

function Control({
  control,
  tunable,
  value,
  onChange,
}: {
  control: ControlProps;
  tunable: Tunable;
  value: unknown;
  onChange: (value: unknown) => void;
}) {
  const { t } = useTranslation();
  switch (tunable.kind) {
    case "number":
      return (
        <NumberInput
          control={control}
          required
          min={tunable.min}
          max={tunable.max}
          whole={tunable.whole}
          className="max-w-40"
          value={typeof value === "number" ? value : ""}
          onChange={(next) => onChange(Number.isNaN(next) ? "" : next)}
        />
      );
    case "text":
      return (
        <Input {...control} required value={String(value ?? "")} onChange={(event) => onChange(event.target.value)} />
      );
    case "currency":
      return (
        <Input
          {...control}
          pattern="[A-Z]{3}"
          maxLength={3}
          className="max-w-32"
          value={String(value ?? "")}
          onChange={(event) => onChange(event.target.value.toUpperCase())}
        />
      );
    case "list":
      return <StringList control={control} value={Array.isArray(value) ? value.map(String) : []} onChange={onChange} />;
    case "choice":
      return (
        <Select {...control} value={String(value)} onChange={(event) => onChange(event.target.value)}>
          {tunable.choices?.map((choice) => (
            <option key={choice} value={choice}>
              {choiceLabel(t, tunable, choice)}
            </option>
          ))}
        </Select>
      );
  }
}

const LANGUAGE_NAMES: Record<string, string> = LANGUAGES;

function choiceLabel(t: TFunction, { name }: Tunable, choice: string): string {
  return name === "language" ? (LANGUAGE_NAMES[choice] ?? choice) : t(`logLevel.${choice}`);
}
