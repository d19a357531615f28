// One control for each condition of a route.
import { Plus, X } from "lucide-react";
import type { ComponentType } from "react";
import { useTranslation } from "react-i18next";

import type { Fields } from "../../api/types";
import { Button, IconButton } from "../../components/Button";
import { type ControlProps, Input, Select } from "../../components/Field";
import { StringList } from "../../components/form/lists";
import { NumberInput } from "../../components/NumberInput";
import { ToggleGroup } from "../../components/ToggleGroup";
import { type Condition, listed, textOf, type TimeWindow, valueOf } from "./conditions";

export type ConditionProps = {
  control: ControlProps;
  value: unknown;
  disabled: boolean;
  onChange: (value: unknown) => void;
};

const DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
const ROLES = ["owner", "admin", "member"];

function ChatType({ control, value, disabled, onChange }: ConditionProps) {
  const { t } = useTranslation();
  return (
    <Select {...control} value={String(value)} disabled={disabled} onChange={(event) => onChange(event.target.value)}>
      <option value="private">{t("filter.private")}</option>
      <option value="group">{t("filter.group")}</option>
    </Select>
  );
}

function Mention({ control, value, disabled, onChange }: ConditionProps) {
  const { t } = useTranslation();
  return (
    <Select
      {...control}
      value={String(value)}
      disabled={disabled}
      onChange={(event) => onChange(event.target.value === "true")}
    >
      <option value="true">{t("common.yes")}</option>
      <option value="false">{t("common.no")}</option>
    </Select>
  );
}

function Words({ control, value, disabled, onChange }: ConditionProps) {
  return <StringList control={control} value={listed(value)} disabled={disabled} onChange={onChange} />;
}

function Expression({ control, value, disabled, onChange }: ConditionProps) {
  return (
    <Input
      {...control}
      className="font-mono text-sm"
      spellCheck={false}
      placeholder="^/weather (\w+)"
      value={String(value ?? "")}
      disabled={disabled}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

function Chance({ control, value, disabled, onChange }: ConditionProps) {
  const { t } = useTranslation();
  const percent = Math.round(Number(value) * 1000) / 10;
  return (
    <div className="flex flex-wrap items-center gap-3">
      <NumberInput
        control={control}
        min={0}
        max={100}
        required
        className="max-w-28"
        value={percent}
        disabled={disabled}
        onChange={(next) => onChange(next / 100)}
      />
      <span className="min-w-0 flex-1 text-sm text-quiet">{t("filter.probabilityHint")}</span>
    </div>
  );
}

function Roles({ control, value, disabled, onChange }: ConditionProps) {
  const { t } = useTranslation();
  return (
    <ToggleGroup
      control={control}
      options={ROLES.map((role) => ({ value: role, label: t(`memberRole.${role}`) }))}
      value={listed(value)}
      disabled={disabled}
      onChange={onChange}
    />
  );
}

function Time({ control, value, disabled, onChange }: ConditionProps) {
  const { t } = useTranslation();
  const window = value as TimeWindow;
  const update = (change: Partial<TimeWindow>) => onChange({ ...window, ...change });
  return (
    <div className="space-y-3">
      <div className="flex flex-wrap items-center gap-2 text-sm">
        <Input
          {...control}
          type="time"
          className="max-w-32"
          aria-label={t("filter.from")}
          value={window.from}
          disabled={disabled}
          onChange={(event) => update({ from: event.target.value })}
        />
        –
        <Input
          type="time"
          className="max-w-32"
          aria-label={t("filter.to")}
          value={window.to}
          disabled={disabled}
          onChange={(event) => update({ to: event.target.value })}
        />
        <Input
          aria-label={t("filter.timezone")}
          className="max-w-48"
          placeholder="Europe/Berlin"
          value={window.timezone}
          disabled={disabled}
          onChange={(event) => update({ timezone: event.target.value })}
        />
      </div>
      <ToggleGroup
        control={{ id: `${control.id}-days` }}
        label={t("filter.days")}
        options={DAYS.map((day) => ({ value: day, label: t(`day.${day}`) }))}
        value={listed(window.days)}
        disabled={disabled}
        onChange={(days) => update({ days })}
      />
      <p className="text-sm text-quiet">{t("filter.daysHint")}</p>
    </div>
  );
}

function Data({ control, value, disabled, onChange }: ConditionProps) {
  const { t } = useTranslation();
  const rows = Object.entries((value ?? {}) as Fields);
  const update = (next: [string, unknown][]) => onChange(Object.fromEntries(next));
  return (
    <div id={control.id} role="group" className="space-y-2">
      {rows.map(([path, expected], index) => (
        <div key={index} className="flex items-center gap-2">
          <Input
            aria-label={t("filter.path")}
            className="font-mono text-sm"
            placeholder="sender.nickname"
            value={path}
            disabled={disabled}
            onChange={(event) =>
              update(rows.map((row, position) => (position === index ? [event.target.value, row[1]] : row)))
            }
          />
          <span className="text-quiet">=</span>
          <Input
            aria-label={t("filter.value")}
            className="text-sm"
            value={textOf(expected)}
            disabled={disabled}
            onChange={(event) =>
              update(rows.map((row, position) => (position === index ? [row[0], valueOf(event.target.value)] : row)))
            }
          />
          <IconButton
            label={t("common.remove")}
            disabled={disabled}
            onClick={() => update(rows.filter((_, position) => position !== index))}
          >
            <X className="size-4" />
          </IconButton>
        </div>
      ))}
      {!disabled && !rows.some(([path]) => path === "") && (
        <Button small onClick={() => update([...rows, ["", ""]])}>
          <Plus aria-hidden className="size-4" /> {t("filter.addField")}
        </Button>
      )}
    </div>
  );
}

export const CONDITION_CONTROLS: Record<Condition, ComponentType<ConditionProps>> = {
  chat_type: ChatType,
  mentions_bot: Mention,
  text_prefix: Words,
  text_keyword: Words,
  text_regex: Expression,
  users: Words,
  groups: Words,
  roles: Roles,
  time_window: Time,
  probability: Chance,
  data: Data,
};
