// One control for each kind of form item.
import type { ComponentType } from "react";
import { useTranslation } from "react-i18next";

import type { FormItem, FormType, Model } from "../../api/types";
import { localized } from "../../lib/format";
import { Button } from "../Button";
import { type ControlProps, Input, Select, TextArea } from "../Field";
import { NumberInput } from "../NumberInput";
import { Switch } from "../Switch";
import { FallbackControl } from "./fallback";
import { FileControl, FilesControl } from "./files";
import { JsonControl } from "./json";
import { CheckList, type Choice, StringList } from "./lists";
import { SEALED } from "./pairs";
import { PromptControl } from "./prompt";

/** The options of the selectors. */
export type Choices = { models: Model[]; tools: Choice[]; knowledgeBases: Choice[]; skills: Choice[] };
export const NO_CHOICES: Choices = { models: [], tools: [], knowledgeBases: [], skills: [] };

export type ItemProps = {
  control: ControlProps;
  item: FormItem;
  value: unknown;
  onChange: (value: unknown) => void;
  choices: Choices;
  /** A secret is stored: it is not shown, and stays if nothing is typed. */
  kept: boolean;
  /** Marks a stored secret for removal, or unmarks it. */
  remove?: (yes: boolean) => void;
  disabled: boolean;
};

const text = (value: unknown): string => (typeof value === "string" || typeof value === "number" ? String(value) : "");
const texts = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);

function StringControl({ control, value, onChange, disabled, item }: ItemProps) {
  return (
    <Input
      {...control}
      value={text(value)}
      required={item.required}
      disabled={disabled}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

function TextControl({ control, item, value, onChange, disabled }: ItemProps) {
  return (
    <TextArea
      {...control}
      rows={4}
      required={item.required}
      value={text(value)}
      disabled={disabled}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

function SecretControl({ control, item, value, onChange, disabled, kept, remove }: ItemProps) {
  const { t } = useTranslation();
  const sealed = value === SEALED;
  const removed = kept && value === "";
  return (
    <div className="flex gap-2">
      <Input
        {...control}
        type="password"
        autoComplete="off"
        required={item.required && !kept && !sealed}
        placeholder={removed ? t("form.secretRemoved") : kept || sealed ? t("form.secretKept") : undefined}
        value={sealed ? "" : text(value)}
        disabled={disabled}
        onChange={(event) => onChange(event.target.value)}
      />
      {kept && remove && !item.required && !disabled && (
        <Button weight="quiet" onClick={() => remove(!removed)}>
          {t(removed ? "form.secretKeep" : "form.secretRemove")}
        </Button>
      )}
    </div>
  );
}

function NumberControl({ control, item, value, onChange, disabled }: ItemProps) {
  return (
    <NumberInput
      control={control}
      min={item.minimum ?? undefined}
      max={item.maximum ?? undefined}
      whole={item.type === "integer"}
      className="max-w-48"
      required={item.required}
      value={text(value)}
      disabled={disabled}
      onChange={onChange}
    />
  );
}

function BooleanControl({ control, value, onChange, disabled }: ItemProps) {
  return <Switch id={control.id} checked={value === true} disabled={disabled} onChange={onChange} />;
}

function SelectControl({ control, item, value, onChange, disabled }: ItemProps) {
  const { i18n } = useTranslation();
  return (
    <Select
      {...control}
      required={item.required}
      value={text(value)}
      disabled={disabled}
      onChange={(event) => onChange(event.target.value)}
    >
      {(!item.required || value === undefined) && <option value="">–</option>}
      {item.options?.map((option) => (
        <option key={option.value} value={option.value}>
          {localized(option.label, i18n.language) || option.value}
        </option>
      ))}
    </Select>
  );
}

function MultiSelectControl({ control, item, value, onChange, disabled }: ItemProps) {
  const { i18n } = useTranslation();
  const options = (item.options ?? []).map((option) => ({
    value: option.value,
    label: localized(option.label, i18n.language) || option.value,
  }));
  return <CheckList control={control} options={options} value={texts(value)} onChange={onChange} disabled={disabled} />;
}

const modelControl = (type: Model["type"]) =>
  function ModelControl({ control, value, onChange, choices, disabled }: ItemProps) {
    const { t } = useTranslation();
    return (
      <Select {...control} value={text(value)} disabled={disabled} onChange={(event) => onChange(event.target.value)}>
        <option value="">{t("form.noModel")}</option>
        {choices.models
          .filter((model) => model.type === type)
          .map((model) => (
            <option key={model.model_id} value={model.model_id}>
              {model.name}
            </option>
          ))}
      </Select>
    );
  };

const listControl = (from: (choices: Choices) => Choice[]) =>
  function ListControl({ control, value, onChange, choices, disabled }: ItemProps) {
    return (
      <CheckList
        control={control}
        options={from(choices)}
        value={texts(value)}
        onChange={onChange}
        disabled={disabled}
      />
    );
  };

export const CONTROLS: Record<FormType, ComponentType<ItemProps>> = {
  string: StringControl,
  text: TextControl,
  secret: SecretControl,
  integer: NumberControl,
  number: NumberControl,
  boolean: BooleanControl,
  select: SelectControl,
  "multi-select": MultiSelectControl,
  json: JsonControl,
  "prompt-editor": PromptControl,
  "llm-model-selector": modelControl("llm"),
  "model-fallback-selector": FallbackControl,
  "rerank-model-selector": modelControl("rerank"),
  "embedding-model-selector": modelControl("embedding"),
  "knowledge-base-multi-selector": listControl((choices) => choices.knowledgeBases),
  "tool-multi-selector": listControl((choices) => choices.tools),
  "skill-multi-selector": listControl((choices) => choices.skills),
  file: FileControl,
  "array[file]": FilesControl,
  "array[string]": ({ control, value, onChange, disabled }) => (
    <StringList control={control} value={texts(value)} onChange={onChange} disabled={disabled} />
  ),
};
