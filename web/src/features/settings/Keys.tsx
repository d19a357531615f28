// Keys for programs. A key is shown once, when it is made.
import { useQuery } from "@tanstack/react-query";
import { Trash2 } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api } from "../../api/client";
import type { ApiKey } from "../../api/facts";
import { fieldMessage } from "../../api/problem";
import * as queries from "../../api/queries";
import { Button, IconButton } from "../../components/Button";
import { Field, Input, Select } from "../../components/Field";
import { Row, Rows } from "../../components/List";
import { ErrorNote } from "../../components/Notes";
import { Badge, Card, Code } from "../../components/Surfaces";
import { moment } from "../../lib/text";
import { useSave } from "../../lib/useSave";

const SCOPES = ["chat", "viewer", "operator", "admin", "platform"] as const;

export function Keys() {
  const { t, i18n } = useTranslation();
  const keys = useQuery(queries.keys);
  const revoking = useSave((key_id: string) => answer(api.DELETE("/api/v1/api-keys/{key_id}", { params: { path: { key_id } } })), ["keys"]);
  return (
    <div className="space-y-5">
      <ErrorNote error={keys.error ?? revoking.error} />
      {!!keys.data?.length && (
        <Rows>
          {keys.data.map((key) => (
            <Row
              key={key.key_id}
              title={key.name}
              text={t("settings.keyMade", { at: moment(key.created_at, i18n.language) })}
              marks={<Badge>{t(`scope.${key.scope}`)}</Badge>}
              actions={<IconButton label={t("settings.revoke")} onClick={() => revoking.mutate(key.key_id)}><Trash2 className="size-4" /></IconButton>}
            />
          ))}
        </Rows>
      )}
      <Make />
    </div>
  );
}

function Make() {
  const { t } = useTranslation();
  const [name, setName] = useState("");
  const [scope, setScope] = useState<(typeof SCOPES)[number]>("chat");
  const making = useSave(() => answer<ApiKey>(api.POST("/api/v1/api-keys", { body: { name, scope } })), ["keys"], () => setName(""));
  return (
    <Card title={t("settings.makeKey")}>
      <form
        className="flex flex-wrap items-end gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          making.mutate(undefined);
        }}
      >
        <div className="min-w-48 flex-1">
          <Field label={t("common.name")} error={fieldMessage(making.error, "name")}>
            {(control) => <Input {...control} required value={name} onChange={(event) => setName(event.target.value)} />}
          </Field>
        </div>
        <Select aria-label={t("settings.scope")} fits value={scope} onChange={(event) => setScope(event.target.value as typeof scope)}>
          {SCOPES.map((each) => <option key={each} value={each}>{t(`scope.${each}`)}</option>)}
        </Select>
        <Button type="submit" weight="primary" busy={making.isPending}>{t("common.create")}</Button>
      </form>
      <div className="mt-4 space-y-2 empty:hidden">
        <ErrorNote error={making.error} />
        {making.data?.key && (
          <>
            <p role="status" className="text-sm text-warn">{t("settings.keyOnce")}</p>
            <Code>{making.data.key}</Code>
          </>
        )}
      </div>
    </Card>
  );
}
