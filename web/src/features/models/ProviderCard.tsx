// One provider with its models.
import { useQuery } from "@tanstack/react-query";
import { Pencil } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api } from "../../api/client";
import type { Provider } from "../../api/types";
import { IconButton } from "../../components/Button";
import { DeleteButton } from "../../components/DeleteButton";
import { Badge, Card } from "../../components/Layout";
import { AddModel } from "./AddModel";
import { ModelRow } from "./ModelRow";
import { ProviderForm } from "./ProviderForm";
import * as modelQueries from "./queries";

export function ProviderCard({ provider, edit }: { provider: Provider; edit: boolean }) {
  const { t } = useTranslation();
  const models =
    useQuery(modelQueries.models).data?.filter((model) => model.provider_id === provider.provider_id) ?? [];
  const kind = useQuery(modelQueries.kinds).data?.find((each) => each.kind === provider.kind);
  const [editing, setEditing] = useState(false);
  const fixed = provider.kind === "demo";
  const description = fixed
    ? t("models.demoText")
    : [provider.base_url || kind?.base_url, t("models.keys", { count: provider.api_keys.length })]
        .filter(Boolean)
        .join(" · ");
  return (
    <Card>
      <div className="mb-2 flex items-start justify-between gap-3">
        <div className="min-w-0">
          <h2 className="flex flex-wrap items-center gap-2 font-semibold">
            {provider.name} {kind && kind.label !== provider.name && <Badge>{kind.label}</Badge>}
          </h2>
          <p className="text-sm break-words text-quiet">{description}</p>
        </div>
        {edit && !fixed && (
          <div className="flex">
            <IconButton
              label={t("models.editProvider", { name: provider.name })}
              aria-expanded={editing}
              onClick={() => setEditing(!editing)}
            >
              <Pencil className="size-4" />
            </IconButton>
            <DeleteButton
              icon
              label={t("models.delete", { name: provider.name })}
              title={t("models.deleteProvider", { name: provider.name })}
              text={t("models.deleteText")}
              remove={() =>
                answer(
                  api.DELETE("/api/v1/model-providers/{provider_id}", {
                    params: { path: { provider_id: provider.provider_id } },
                  }),
                )
              }
              stale={["providers", "models", "agents"]}
            />
          </div>
        )}
      </div>
      {editing && (
        <div className="my-4 rounded-card bg-raised/50 p-4">
          <ProviderForm provider={provider} onDone={() => setEditing(false)} />
        </div>
      )}
      {models.length === 0 && <p className="text-sm text-quiet">{t("models.noModels")}</p>}
      <ul className="divide-y divide-line">
        {models.map((model) => (
          <ModelRow key={model.model_id} model={model} fixed={fixed} currency={kind?.currency ?? ""} />
        ))}
      </ul>
      {edit && !fixed && <AddModel provider={provider} kind={kind} taken={models.map((model) => model.name)} />}
    </Card>
  );
}
