// Providers and their models: added, tested, removed.
import { useMutation, useQuery } from "@tanstack/react-query";
import { Cpu, Trash2 } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api } from "../../api/client";
import type { Model, ModelTest, Provider } from "../../api/facts";
import * as queries from "../../api/queries";
import { useRights } from "../../app/session";
import { Button, IconButton } from "../../components/Button";
import { Confirm } from "../../components/Dialog";
import { Empty, ErrorNote, Loading } from "../../components/Notes";
import { Badge, Card, PageBody } from "../../components/Surfaces";
import { figure } from "../../lib/text";
import { useSave } from "../../lib/useSave";
import { AddModel } from "./AddModel";
import { AddProvider } from "./AddProvider";

export default function ModelsPage() {
  const { t } = useTranslation();
  const { edit } = useRights();
  const providers = useQuery(queries.providers);
  const [adding, setAdding] = useState(false);
  const real = providers.data?.some((provider) => provider.kind !== "demo");
  const add = edit && !adding && <Button weight="primary" onClick={() => setAdding(true)}>{t("models.addProvider")}</Button>;
  return (
    <PageBody title={t("nav.models")} text={t("models.text")} actions={add}>
      <ErrorNote error={providers.error} />
      {providers.isPending && <Loading />}
      <div className="space-y-5">
        {adding && <AddProvider onDone={() => setAdding(false)} />}
        {providers.data && !real && !adding && <Empty icon={<Cpu />} title={t("models.empty")} text={t("models.emptyText")}>{add}</Empty>}
        {providers.data?.map((provider) => <ProviderCard key={provider.provider_id} provider={provider} edit={edit} />)}
      </div>
    </PageBody>
  );
}

function ProviderCard({ provider, edit }: { provider: Provider; edit: boolean }) {
  const { t } = useTranslation();
  const models = useQuery(queries.models).data?.filter((model) => model.provider_id === provider.provider_id) ?? [];
  const kind = useQuery(queries.kinds).data?.find((each) => each.kind === provider.kind);
  const [removing, setRemoving] = useState(false);
  const deleting = useSave(
    () => answer(api.DELETE("/api/v1/model-providers/{provider_id}", { params: { path: { provider_id: provider.provider_id } } })),
    ["providers", "models", "agents"],
  );
  return (
    <Card
      title={<span className="flex flex-wrap items-center gap-2">{provider.name} <Badge>{kind?.label ?? provider.kind}</Badge></span>}
      actions={edit && provider.kind !== "demo" && <IconButton label={t("common.delete")} onClick={() => setRemoving(true)}><Trash2 className="size-4" /></IconButton>}
    >
      {models.length === 0 && <p className="text-sm text-quiet">{t("models.noModels")}</p>}
      <ul className="divide-y divide-line">{models.map((model) => <ModelRow key={model.model_id} model={model} edit={edit} />)}</ul>
      {edit && provider.kind !== "demo" && <AddModel provider={provider} kind={kind} taken={models.map((model) => model.name)} />}
      <Confirm
        open={removing}
        title={t("models.deleteProvider", { name: provider.name })}
        text={t("models.deleteText")}
        action={t("common.delete")}
        busy={deleting.isPending}
        error={deleting.error}
        onConfirm={() => deleting.mutate(undefined)}
        onClose={() => setRemoving(false)}
      />
    </Card>
  );
}

function ModelRow({ model, edit }: { model: Model; edit: boolean }) {
  const { t, i18n } = useTranslation();
  const { operate } = useRights();
  const path = { params: { path: { model_id: model.model_id } } };
  const testing = useMutation({ mutationFn: () => answer<ModelTest>(api.POST("/api/v1/models/{model_id}/test", path)) });
  const deleting = useSave(() => answer(api.DELETE("/api/v1/models/{model_id}", path)), ["models", "agents"]);
  return (
    <li className="py-3">
      <div className="flex flex-wrap items-center gap-2">
        <span className="min-w-0 flex-1 basis-40 font-medium break-all">{model.name}</span>
        <Badge>{t(`modelType.${model.type}`)}</Badge>
        {!!model.context_window && <Badge>{t("models.window", { tokens: figure(model.context_window, i18n.language) })}</Badge>}
        {operate && <Button small busy={testing.isPending} onClick={() => testing.mutate()}>{t("models.test")}</Button>}
        {edit && model.provider_id !== "demo" && (
          <IconButton label={t("common.delete")} disabled={deleting.isPending} onClick={() => deleting.mutate(undefined)}><Trash2 className="size-4" /></IconButton>
        )}
      </div>
      <div className="mt-2 space-y-2 empty:hidden">
        <ErrorNote error={testing.error ?? deleting.error ?? (testing.data && !testing.data.ok ? new Error(testing.data.message) : null)} />
        {testing.data?.ok && <p role="status" className="rounded-control bg-good-wash px-3.5 py-2 text-sm text-good">{testing.data.message}</p>}
      </div>
    </li>
  );
}
