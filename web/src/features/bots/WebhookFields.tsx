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
  const put = (name: string, value: unknown) => onChange({ ...config, [name]: value });
  const wrong = (name: string) => problemOf(problems, `handler_config.${name}`);
  return (
    <div className="space-y-4">
      <div className="grid gap-4 sm:grid-cols-[minmax(0,1fr)_7rem]">
        <Field label={t("routes.url")} required error={wrong("url")}>
          {(control) => (
            <Input
              {...control}
              type="url"
              required
              placeholder="https://example.org/hook"
              value={String(config.url ?? "")}
              disabled={disabled}
              onChange={(event) => put("url", event.target.value)}
            />
          )}
        </Field>
        <Field label={t("routes.method")} error={wrong("method")}>
          {(control) => (
            <Select
              {...control}
              value={String(config.method ?? "POST")}
              disabled={disabled}
              onChange={(event) => put("method", event.target.value)}
            >
              {["POST", "PUT", "PATCH"].map((method) => (
                <option key={method}>{method}</option>
              ))}
            </Select>
          )}
        </Field>
      </div>
      <Field label={t("routes.secret")} hint={t("routes.secretHint")} error={wrong("secret")}>
        {(control) => (
          <Input
            {...control}
            type="password"
            autoComplete="off"
            placeholder={config.secret_set ? t("form.secretKept") : undefined}
            value={String(config.secret ?? "")}
            disabled={disabled}
            onChange={(event) => put("secret", event.target.value || undefined)}
          />
        )}
      </Field>
      <Field label={t("routes.answers")} hint={t("routes.answersHint")} error={wrong("response_actions")}>
        {(control) => (
          <CheckList
            control={control}
            options={ACTIONS.map((action) => ({ value: action, label: t(`answer.${action}`) }))}
            value={allowed(config.response_actions)}
            disabled={disabled}
            onChange={(chosen) => put("response_actions", chosen)}
          />
        )}
      </Field>
      <Collapsible title={t("routes.more")}>
        <div className="space-y-4">
          <Field label={t("tools.headers")} error={wrong("headers")}>
            {(control) => (
              <Pairs
                control={control}
                example="X-Token"
                value={(config.headers ?? {}) as Record<string, string>}
                disabled={disabled}
                onChange={(headers) => put("headers", headers)}
              />
            )}
          </Field>
          <div className="grid gap-4 @2xl:grid-cols-3">
            <NumberField
              label={t("routes.timeout")}
              min={0.001}
              max={300}
              value={config.timeout}
              error={wrong("timeout")}
              disabled={disabled}
              onChange={(value) => put("timeout", value)}
            />
            <NumberField
              label={t("routes.retries")}
              min={0}
              max={20}
              whole
              value={config.retry_count}
              error={wrong("retry_count")}
              disabled={disabled}
              onChange={(value) => put("retry_count", value)}
            />
            <NumberField
              label={t("routes.pause")}
              min={0.001}
              max={3600}
              value={config.retry_interval}
              error={wrong("retry_interval")}
              disabled={disabled}
              onChange={(value) => put("retry_interval", value)}
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
