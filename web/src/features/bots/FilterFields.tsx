// The conditions of a route. All that are given must hold; what is left empty is no condition.
import { useTranslation } from "react-i18next";

import type { Fields } from "../../api/facts";
import { Field, Input, Select } from "../../components/Field";
import { StringList } from "../../components/form/lists";
import { changed } from "../../components/form/values";

type Props = { filters: Fields; disabled: boolean; onChange: (filters: Fields) => void };

const LISTS = ["users", "groups", "text_prefix", "text_keyword"] as const;
const list = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : typeof value === "string" ? [value] : []);

export function FilterFields({ filters, disabled, onChange }: Props) {
  const { t } = useTranslation();
  const put = (name: string, value: unknown) => onChange(changed(filters, name, Array.isArray(value) && value.length === 0 ? undefined : value));
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <Field label={t("filter.chat_type")}>
        {(control) => (
          <Select {...control} value={String(filters.chat_type ?? "")} disabled={disabled} onChange={(event) => put("chat_type", event.target.value)}>
            <option value="">{t("filter.any")}</option>
            <option value="private">{t("filter.private")}</option>
            <option value="group">{t("filter.group")}</option>
          </Select>
        )}
      </Field>
      <Field label={t("filter.mentions_bot")}>
        {(control) => (
          <Select
            {...control}
            value={filters.mentions_bot === undefined || filters.mentions_bot === null ? "" : String(filters.mentions_bot)}
            disabled={disabled}
            onChange={(event) => put("mentions_bot", event.target.value === "" ? undefined : event.target.value === "true")}
          >
            <option value="">{t("filter.any")}</option>
            <option value="true">{t("common.yes")}</option>
            <option value="false">{t("common.no")}</option>
          </Select>
        )}
      </Field>
      {LISTS.map((name) => (
        <Field key={name} label={t(`filter.${name}`)}>
          {(control) => <StringList control={control} value={list(filters[name])} disabled={disabled} onChange={(value) => put(name, value)} />}
        </Field>
      ))}
      <Field label={t("filter.text_regex")}>
        {(control) => <Input {...control} className="font-mono" value={String(filters.text_regex ?? "")} disabled={disabled} onChange={(event) => put("text_regex", event.target.value)} />}
      </Field>
      <Field label={t("filter.probability")} hint={t("filter.probabilityHint")}>
        {(control) => <Input {...control} type="number" min={0} max={1} step="any" value={String(filters.probability ?? "")} disabled={disabled} onChange={(event) => put("probability", event.target.valueAsNumber)} />}
      </Field>
    </div>
  );
}
