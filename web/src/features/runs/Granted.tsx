// What a run was allowed to use, as it was settled when it began.
import { useTranslation } from "react-i18next";

import type { Grants } from "../../api/facts";
import { Fold } from "../../components/Fold";
import { Badge, Card, Code } from "../../components/Surfaces";

export function Granted({ grants, names }: { grants: Grants; names: Map<string, string> }) {
  const { t, i18n } = useTranslation();
  const resources = Object.entries(grants.resources ?? {}).map(([kind, those]) => {
    const key = `resource.${kind}`;
    return [i18n.exists(key) ? t(key) : kind, Object.keys(those).map((id) => names.get(id) ?? id)] as const;
  });
  const rows = [
    ...resources,
    [t("granted.apis"), grants.apis ?? []] as const,
    [t("granted.permissions"), grants.permissions ?? []] as const,
    [t("granted.state"), grants.state_scopes ?? []] as const,
    [t("granted.storage"), grants.storage ?? []] as const,
    [t("granted.actions"), grants.actions ?? []] as const,
  ];
  return (
    <Card>
      <dl className="space-y-4">
        {rows.map(([name, things]) => (
          <div key={name} className="grid gap-2 sm:grid-cols-[12rem_1fr]">
            <dt className="text-sm font-medium">{name}</dt>
            <dd className="flex flex-wrap gap-1.5">
              {things.length === 0 ? <span className="text-sm text-quiet">{t("granted.nothing")}</span> : things.map((thing) => <Badge key={thing}>{thing}</Badge>)}
            </dd>
          </div>
        ))}
      </dl>
      <div className="mt-4"><Fold title={t("runs.record")}><Code>{JSON.stringify(grants, null, 2)}</Code></Fold></div>
    </Card>
  );
}
