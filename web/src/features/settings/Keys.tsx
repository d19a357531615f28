// API keys. A key is shown once, when it is created.
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { answer, api } from "../../api/client";
import type { ApiKey } from "../../api/types";
import { DeleteButton } from "../../components/DeleteButton";
import { Empty, ErrorMessage, Loading } from "../../components/Feedback";
import { Badge } from "../../components/Layout";
import { Row, Rows } from "../../components/List";
import { formatTime } from "../../lib/format";
import { MakeKey } from "./MakeKey";
import * as settingsQueries from "./queries";

export function Keys() {
  const { t } = useTranslation();
  const keys = useQuery(settingsQueries.keys);
  const active = keys.data?.filter((key) => !key.revoked_at);
  return (
    <div className="space-y-5">
      <ErrorMessage error={keys.error} />
      {keys.isPending && <Loading />}
      {active?.length === 0 && <Empty title={t("settings.noKeys")} text={t("settings.noKeysText")} />}
      {!!active?.length && (
        <Rows>
          {active.map((key) => (
            <KeyRow key={key.key_id} apiKey={key} />
          ))}
        </Rows>
      )}
      <MakeKey />
    </div>
  );
}

function KeyRow({ apiKey }: { apiKey: ApiKey }) {
  const { t, i18n } = useTranslation();
  const expired = apiKey.expires_at !== null && apiKey.expires_at < Date.now();
  const details = [
    t("settings.keyMade", { at: formatTime(apiKey.created_at, i18n.language) }),
    apiKey.last_used_at
      ? t("settings.keyUsed", { at: formatTime(apiKey.last_used_at, i18n.language) })
      : t("settings.keyUnused"),
    ...(apiKey.expires_at ? [t("settings.keyEnds", { at: formatTime(apiKey.expires_at, i18n.language) })] : []),
  ];
  return (
    <Row
      title={apiKey.name}
      text={details.join(" · ")}
      marks={
        <>
          {expired && <Badge tone="warn">{t("state.expired")}</Badge>}
          <Badge>{t(`scope.${apiKey.scope}`)}</Badge>
        </>
      }
      actions={
        <DeleteButton
          icon
          label={t("settings.revokeKey", { name: apiKey.name })}
          title={t("settings.revokeKey", { name: apiKey.name })}
          text={t("settings.revokeText")}
          action={t("settings.revoke")}
          remove={() =>
            answer(api.DELETE("/api/v1/api-keys/{key_id}", { params: { path: { key_id: apiKey.key_id } } }))
          }
          stale={["keys"]}
        />
      }
    />
  );
}
