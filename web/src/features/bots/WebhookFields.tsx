// The settings of a webhook: address, secret, and whether its response may contain actions.
import { useTranslation } from "react-i18next";

import { Collapsible } from "../../components/Collapsible";
import { Field, Input, Select } from "../../components/Field";
import { CheckList } from "../../components/form/lists";
import { Pairs } from "../../components/form/pairs";
import { NumberInput, type Range } from "../../components/NumberInput";
import { type HandlerProps, problemOf } from "./route";

const ACTIONS = [
  "reply",
  "edit_message",
  "delete_message",
  "answer_friend_request",
  "answer_group_invite",
  "send_message",
  "call_platform_api",
];

const allowed = (value: unknown): string[] =>
  value === true ? ["reply"] : Array.isArray(value) ? value.map(String) : [];

export function WebhookFields({ config, problems, disabled, onChange }: HandlerProps) {
  const { t } = useTranslation();
  const update = (name: string, value: unknown) => onChange({ ...config, [name]: value });
  const problemAt = (name: string) => problemOf(problems, `handler_config.${name}`);
  return (
    <div className="space-y-4">
      <div className="grid gap-4 sm:grid-cols-[minmax(0,1fr)_7rem]">
        <Field label={t("routes.url")} required error={problemAt("url")}>
          {(control) => (
            <Input
              {...control}
              type="url"
              required
              placeholder="https://example.org/hook"
              value={String(config.url ?? "")}
              disabled={disabled}
              onChange={(event) => update("url", event.target.value)}
            />
          )}
        </Field>
        <Field label={t("routes.method")} error={problemAt("method")}>
          {(control) => (
            <Select
              {...control}
              value={String(config.method ?? "POST")}
              disabled={disabled}
              onChange={(event) => update("method", event.target.value)}
            >
              {["POST", "PUT", "PATCH"].map((method) => (
                <option key={method}>{method}</option>
              ))}
            </Select>
          )}
        </Field>
      </div>
      <Field label={t("routes.secret")} hint={t("routes.secretHint")} error={problemAt("secret")}>
        {(control) => (
          <Input
            {...control}
            type="password"
            autoComplete="off"
            placeholder={config.secret_set ? t("form.secretKept") : undefined}
            value={String(config.secret ?? "")}
            disabled={disabled}
            onChange={(event) => update("secret", event.target.value || undefined)}
          />
        )}
      </Field>
      <Field label={t("routes.answers")} hint={t("routes.answersHint")} error={problemAt("response_actions")}>
        {(control) => (
          <CheckList
            control={control}
            options={ACTIONS.map((action) => ({ value: action, label: t(`answer.${action}`) }))}
            value={allowed(config.response_actions)}
            disabled={disabled}
            onChange={(selected) => update("response_actions", selected)}
          />
        )}
      </Field>
      <Collapsible title={t("routes.more")}>
        <div className="space-y-4">
          <Field label={t("tools.headers")} error={problemAt("headers")}>
            {(control) => (
              <Pairs
                control={control}
                example="X-Token"
                value={(config.headers ?? {}) as Record<string, string>}
                disabled={disabled}
                onChange={(headers) => update("headers", headers)}
              />
            )}
          </Field>
          <div className="grid gap-4 @2xl:grid-cols-3">
            <NumberField
              label={t("routes.timeout")}
              min={0.001}
              max={300}
              value={config.timeout}
              error={problemAt("timeout")}
              disabled={disabled}
              onChange={(value) => update("timeout", value)}
            />
            <NumberField
              label={t("routes.retries")}
              min={0}
              max={20}
              whole
              value={config.retry_count}
              error={problemAt("retry_count")}
              disabled={disabled}
              onChange={(value) => update("retry_count", value)}
            />
            <NumberField
              label={t("routes.pause")}
              min={0.001}
              max={3600}
              value={config.retry_interval}
              error={problemAt("retry_interval")}
              disabled={disabled}
              onChange={(value) => update("retry_interval", value)}
            />
          </div>
        </div>
      </Collapsible>
    </div>
  );
}

function NumberField({
  label,
  value,
  error,
  disabled,
  onChange,
  ...range
}: Range & {
  label: string;
  value: unknown;
  error?: string;
  disabled: boolean;
  onChange: (value: number | undefined) => void;
}) {
  return (
    <Field label={label} error={error}>
      {(control) => (
        <NumberInput
          control={control}
          {...range}
          value={typeof value === "number" ? value : ""}
          disabled={disabled}
          onChange={(next) => onChange(Number.isNaN(next) ? undefined : next)}
        />
      )}
    </Field>
  );
}
