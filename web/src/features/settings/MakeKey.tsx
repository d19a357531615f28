// Creates an API key, and shows it once.
import { Check, Copy } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api } from "../../api/client";
import { fieldMessage } from "../../api/problem";
import { Button } from "../../components/Button";
import { ErrorMessage } from "../../components/Feedback";
import { Field, Input, Select } from "../../components/Field";
import { StringList } from "../../components/form/lists";
import { Card, Code } from "../../components/Layout";
import { LeaveGuard } from "../../components/LeaveGuard";
import { useSave } from "../../lib/useSave";

const SCOPES = ["chat", "mcp", "viewer", "operator", "admin", "platform", "worker"] as const;
const SPANS = [0, 30, 90, 365];

export function MakeKey() {
  const { t } = useTranslation();
  const [name, setName] = useState("");
  const [scope, setScope] = useState<(typeof SCOPES)[number]>("chat");
  const [days, setDays] = useState(0);
  const [labels, setLabels] = useState<string[]>([]);
  const making = useSave(
    () => {
      const bounds = scope === "worker" ? { labels } : {};
      return answer(api.POST("/api/v1/api-keys", { body: { name, scope, expires_in_days: days || null, ...bounds } }));
    },
    ["keys"],
    () => setName(""),
  );
  return (
    <Card title={t("settings.makeKey")}>
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          making.mutate(undefined);
        }}
      >
        <LeaveGuard dirty={name !== ""} />
        <div className="grid gap-4 @2xl:grid-cols-3">
          <Field label={t("common.name")} required error={fieldMessage(making.error, "name")}>
            {(control) => (
              <Input {...control} required value={name} onChange={(event) => setName(event.target.value)} />
            )}
          </Field>
          <Field label={t("settings.scope")} hint={t(`scopeText.${scope}`)}>
            {(control) => (
              <Select {...control} value={scope} onChange={(event) => setScope(event.target.value as typeof scope)}>
                {SCOPES.map((each) => (
                  <option key={each} value={each}>
                    {t(`scope.${each}`)}
                  </option>
                ))}
              </Select>
            )}
          </Field>
          <Field label={t("settings.keySpan")}>
            {(control) => (
              <Select {...control} value={days} onChange={(event) => setDays(Number(event.target.value))}>
                {SPANS.map((each) => (
                  <option key={each} value={each}>
                    {each ? t("settings.days", { count: each }) : t("settings.forGood")}
                  </option>
                ))}
              </Select>
            )}
          </Field>
        </div>
        {scope === "worker" && (
          <Field label={t("settings.keyLabels")} hint={t("settings.keyLabelsHint")}>
            {(control) => <StringList control={control} value={labels} onChange={setLabels} />}
          </Field>
        )}
        <ErrorMessage error={making.error} />
        <Button type="submit" weight="primary" busy={making.isPending}>
          {t("common.create")}
        </Button>
      </form>
      {making.data?.key && <Shown secret={making.data.key} />}
    </Card>
  );
}

function Shown({ secret }: { secret: string }) {
  const { t } = useTranslation();
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(secret);
    setCopied(true);
  };
  return (
    <div className="mt-5 space-y-2 border-t border-line pt-4">
      <p role="status" className="text-sm text-warn">
        {t("settings.keyOnce")}
      </p>
      <Code>{secret}</Code>
      <Button small onClick={() => void copy()}>
        {copied ? <Check aria-hidden className="size-4" /> : <Copy aria-hidden className="size-4" />}{" "}
        {t(copied ? "markdown.copied" : "markdown.copy")}
      </Button>
    </div>
  );
}
