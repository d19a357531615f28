// Providers and their models, budgets, and usage.
import { useQuery } from "@tanstack/react-query";
import { Cpu } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { useRights } from "../../app/session";
import { Button } from "../../components/Button";
import { Empty, ErrorMessage, Loading } from "../../components/Feedback";
import { Card, PageBody } from "../../components/Layout";
import { Tabs, useOpenTab } from "../../components/Tabs";
import { Budgets } from "./Budgets";
import { ProviderCard } from "./ProviderCard";
import { ProviderForm } from "./ProviderForm";
import * as modelQueries from "./queries";
import { Usage } from "./Usage";

const TABS = ["providers", "budgets", "usage"];
const FIRST = TABS[0]!;

export default function ModelsPage() {
  const { t } = useTranslation();
  const { edit } = useRights();
  const [adding, setAdding] = useState(false);
  const tab = useOpenTab(TABS);
  const add = edit && !adding && tab === FIRST && (
    <Button weight="primary" onClick={() => setAdding(true)}>
      {t("models.addProvider")}
    </Button>
  );
  return (
    <PageBody title={t("nav.models")} text={t("models.text")} actions={add}>
      {adding && tab === FIRST && (
        <Card title={t("models.addProvider")} className="mb-5">
          <ProviderForm onDone={() => setAdding(false)} />
        </Card>
      )}
      <Tabs
        tabs={[
          { id: FIRST, label: t("models.providers"), content: <Providers add={!adding && add} /> },
          { id: "budgets", label: t("budgets.title"), content: <Budgets /> },
          { id: "usage", label: t("models.usage"), content: <Usage /> },
        ]}
      />
    </PageBody>
  );
}

function Providers({ add }: { add: React.ReactNode }) {
  const { t } = useTranslation();
  const { edit } = useRights();
  const providers = useQuery(modelQueries.providers);
  if (providers.error) return <ErrorMessage error={providers.error} />;
  if (!providers.data) return <Loading />;
  const real = providers.data.some((provider) => provider.kind !== "demo");
  return (
    <div className="space-y-5">
      {!real && add && (
        <Empty icon={<Cpu />} title={t("models.empty")} text={t("models.emptyText")}>
          {add}
        </Empty>
      )}
      {providers.data.map((provider) => (
        <ProviderCard key={provider.provider_id} provider={provider} edit={edit} />
      ))}
    </div>
  );
}
