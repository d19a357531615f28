// The grant of a run, as it was fixed when the run started.
import { useTranslation } from "react-i18next";

import type { Grants } from "../../api/types";
import { Collapsible } from "../../components/Collapsible";
import { Card, Code } from "../../components/Layout";
import { useGrantWords } from "../plugins/useGrantWords";

export function Granted({ grants, names }: { grants: Grants; names: Map<string, string> }) {
  const { t, i18n } = useTranslation();
  const grantWords = useGrantWords();
  const permission = (name: string) => grantWords(name.replace(":", "."), {}, name.replaceAll(/[:_]/g, " "));
  const labelsOf = (section: string, those: string[] = []) =>
    those.map((each) => (i18n.exists(`${section}.${each}`) ? t(`${section}.${each}`) : each));
  const resources = Object.entries(grants.resources ?? {}).map(([kind, those]) => {
    const key = `resource.${kind}`;
    return [
      i18n.exists(key) ? t(key) : kind.replaceAll("_", " "),
      Object.keys(those).map((id) => names.get(id) ?? id),
    ] as const;
  });
  const rows = [
    ...resources,
    [t("granted.permissions"), (grants.permissions ?? []).map((each) => permission(each))] as const,
    [t("granted.state"), labelsOf("stateScope", grants.state_scopes)] as const,
    [t("granted.storage"), labelsOf("storage", grants.storage)] as const,
    [t("granted.actions"), labelsOf("action", grants.actions)] as const,
  ];
  return (
    <Card>
      <dl className="space-y-4">
        {rows.map(([name, entries]) => (
          <div key={name} className="grid gap-2 @lg:grid-cols-[12rem_minmax(0,1fr)]">
            <dt className="text-sm font-medium">{name}</dt>
            <dd className="flex min-w-0 flex-wrap gap-1.5">
              {entries.length === 0 ? (
                <span className="text-sm text-quiet">{t("granted.nothing")}</span>
              ) : (
                entries.map((entry) => <Thing key={entry} name={entry} />)
              )}
            </dd>
          </div>
        ))}
      </dl>
      <div className="mt-4">
        <Collapsible title={t("runs.record")}>
          <Code>{JSON.stringify(grants, null, 2)}</Code>
        </Collapsible>
      </div>
    </Card>
  );
}

/** Unlike a badge, it wraps: some permissions are sentences. */
function Thing({ name }: { name: string }) {
  return (
    <span className="rounded-control bg-raised px-2.5 py-0.5 text-xs font-medium wrap-anywhere text-quiet">{name}</span>
  );
}
