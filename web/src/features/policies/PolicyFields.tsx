// The form of a message policy, for agents and pipelines: one section per step of a message, with what it does in words.
import { useQuery } from "@tanstack/react-query";
import { Plus, X } from "lucide-react";
import { useTranslation } from "react-i18next";

import type { Fields } from "../../api/types";
import { Button } from "../../components/Button";
import { Collapsible } from "../../components/Collapsible";
import { ErrorMessage } from "../../components/Feedback";
import { NO_CHOICES } from "../../components/form/controls";
import { SchemaForm } from "../../components/form/SchemaForm";
import {
  applicable,
  applied,
  flatten,
  itemsOf,
  POLICY_SECTIONS,
  type PolicyList,
  type PolicySection,
  textKey,
  valueAt,
  withValue,
} from "./policyForm";
import * as modelQueries from "../models/queries";
import * as pluginQueries from "../plugins/queries";
import * as policyQueries from "./queries";

type Props = { policy: Fields; onChange: (policy: Fields) => void; disabled: boolean };

export function PolicyFields({ policy, onChange, disabled }: Props) {
  const { t } = useTranslation();
  return (
    <div className="space-y-6">
      <p className="text-sm text-quiet">{t("policies.text")}</p>
      {POLICY_SECTIONS.map((section) => (
        <PolicySectionFields
          key={section.id}
          section={section}
          policy={policy}
          onChange={onChange}
          disabled={disabled}
        />
      ))}
      <PolicyInWords policy={policy} />
    </div>
  );
}

export function PolicySectionFields({ section, policy, onChange, disabled }: Props & { section: PolicySection }) {
  const { t } = useTranslation();
  const isUsed = [...section.fields, ...(section.lists ?? [])].some(({ path }) => valueAt(policy, path) !== undefined);
  return (
    <Collapsible
      open={isUsed}
      title={
        <span>
          <span className="font-medium text-ink">{t(`policySection.${section.id}`)}</span>
          {!isUsed && <span> · {t(`policyOff.${section.id}`)}</span>}
        </span>
      }
    >
      <div className="space-y-5 border-l border-line pl-4">
        <SchemaForm
          items={itemsOf(section.fields, t)}
          values={flatten(section.fields, policy)}
          choices={NO_CHOICES}
          disabled={disabled}
          onChange={(values) => onChange(applied(section.fields, policy, values))}
        />
        {section.lists?.map((list) => (
          <EntryList key={list.path} list={list} policy={policy} onChange={onChange} disabled={disabled} />
        ))}
      </div>
    </Collapsible>
  );
}

function EntryList({ list, policy, onChange, disabled }: Props & { list: PolicyList }) {
  const { t } = useTranslation();
  const lists = useQuery(policyQueries.wordLists).data ?? [];
  const entries = (valueAt(policy, list.path) as Fields[] | undefined) ?? [];
  const put = (changed: Fields[]) => onChange(withValue(policy, list.path, changed.length > 0 ? changed : undefined));
  const models = useQuery(modelQueries.models).data ?? [];
  const plugins = useQuery(pluginQueries.plugins).data ?? [];
  const options = {
    "config.list_id": lists.map((each) => ({ value: each.list_id, label: each.name })),
    "config.model_id": models
      .filter((each) => each.type === "moderation")
      .map((each) => ({ value: each.model_id, label: each.name })),
    "config.plugin_id": plugins.map((each) => ({ value: each.id, label: each.id })),
  };
  const name = t(`policyEntry.${textKey(list.path)}`);
  return (
    <div className="space-y-3">
      {entries.map((entry, number) => (
        <fieldset key={number} className="space-y-3 rounded-control border border-line p-3">
          <legend className="px-1 text-sm text-quiet">
            {name} {number + 1}
          </legend>
          <SchemaForm
            items={itemsOf(applicable(list.fields, entry), t, options)}
            values={flatten(applicable(list.fields, entry), entry)}
            choices={NO_CHOICES}
            disabled={disabled}
            onChange={(values) =>
              put(entries.map((each, index) => (index === number ? entryWith(list, entry, values) : each)))
            }
          />
          {!disabled && (
            <Button
              weight="quiet"
              aria-label={t("policies.remove", { name: `${name} ${number + 1}` })}
              onClick={() => put(entries.filter((_, index) => index !== number))}
            >
              <X aria-hidden className="size-4" /> {t("common.remove")}
            </Button>
          )}
        </fieldset>
      ))}
      {!disabled && (
        <Button onClick={() => put([...entries, list.entry])}>
          <Plus aria-hidden className="size-4" /> {t("policies.add", { name })}
        </Button>
      )}
    </div>
  );
}

/** Returns an entry after a change. Another kind of filter starts with an empty configuration. */
function entryWith(list: PolicyList, entry: Fields, values: Fields): Fields {
  if (values.use !== undefined && values.use !== entry.use) return { use: values.use, config: {} };
  const changed = applied(applicable(list.fields, entry), entry, values);
  return "config" in list.entry ? { config: {}, ...changed, use: entry.use } : changed;
}

/** Shows what the policy does, as the Host understands it, or why it is refused. */
function PolicyInWords({ policy }: { policy: Fields }) {
  const { t } = useTranslation();
  const check = useQuery(policyQueries.policyCheck(policy));
  return (
    <section aria-label={t("policies.inWords")} className="rounded-control bg-raised p-3 text-sm" aria-live="polite">
      <h3 className="mb-1 font-medium">{t("policies.inWords")}</h3>
      <ErrorMessage error={check.error} />
      <ul className="list-disc space-y-1 pl-5">
        {check.data?.sentences.map((sentence, number) => (
          <li key={number}>{sentence.text}</li>
        ))}
      </ul>
    </section>
  );
}
