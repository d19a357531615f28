// Resources for some senders only, or for all but some: tools for admins, no expensive model in groups.
import { Plus, X } from "lucide-react";
import { useTranslation } from "react-i18next";

import { Button, IconButton } from "../../components/Button";
import { Collapsible } from "../../components/Collapsible";
import { Field, Select } from "../../components/Field";
import { StringList } from "../../components/form/lists";
import { ToggleGroup } from "../../components/ToggleGroup";
import { useAgentForm } from "./formContext";
import type { Kind } from "./permissions";
import type { Offered } from "./ResourceFields";
import { SelectionField } from "./SelectionField";
import { chosen, freshSenderRule, type Sender, type SenderRule, senderRulesOf } from "./senderRulesModel";

const ROLES = ["owner", "admin", "member"];

export function SenderRules({ kinds, offers }: { kinds: Kind[]; offers: Offered }) {
  const { draft, put, disabled } = useAgentForm();
  const { t } = useTranslation();
  const rules = senderRulesOf(draft.resource_policy);
  const save = (next: SenderRule[]) => put({ resource_policy: { ...draft.resource_policy, rules: next } });
  return (
    <section className="space-y-3 border-t border-line pt-5">
      <h2 className="font-medium">{t("agents.senders")}</h2>
      <p className="text-sm text-quiet">{t("agents.sendersText")}</p>
      {rules.map((rule, index) => (
        <Rule
          key={index}
          number={index + 1}
          rule={rule}
          kinds={kinds}
          offers={offers}
          disabled={disabled}
          onChange={(next) => save(rules.map((each, position) => (position === index ? next : each)))}
          onRemove={() => save(rules.filter((_, position) => position !== index))}
        />
      ))}
      {!disabled && (
        <Button small onClick={() => save([...rules, freshSenderRule()])}>
          <Plus aria-hidden className="size-4" /> {t("agents.addSenders")}
        </Button>
      )}
    </section>
  );
}

function Rule({
  number,
  rule,
  kinds,
  offers,
  disabled,
  onChange,
  onRemove,
}: {
  number: number;
  rule: SenderRule;
  kinds: Kind[];
  offers: Offered;
  disabled: boolean;
  onChange: (rule: SenderRule) => void;
  onRemove: () => void;
}) {
  const { t } = useTranslation();
  const part = (side: "allow" | "deny") => (
    <div className="space-y-4">
      {kinds.map((kind) => (
        <SelectionField
          key={kind}
          id={`rule-${number}-${side}-${kind}`}
          label={t(`resource.${kind}`)}
          options={offers[kind] ?? []}
          value={rule[side][kind] ?? []}
          disabled={disabled}
          onChange={(value) => onChange({ ...rule, [side]: chosen(rule[side], kind, value) })}
        />
      ))}
    </div>
  );
  const count = (side: "allow" | "deny") => Object.keys(rule[side]).length;
  return (
    <fieldset className="rounded-card border border-line p-4">
      <legend className="sr-only">{t("agents.rule", { number })}</legend>
      <div className="mb-3 flex items-center justify-between gap-2">
        <span className="text-sm font-medium">{t("agents.rule", { number })}</span>
        {!disabled && (
          <IconButton label={t("common.remove")} onClick={onRemove}>
            <X className="size-4" />
          </IconButton>
        )}
      </div>
      <SenderFields sender={rule.when} disabled={disabled} onChange={(when) => onChange({ ...rule, when })} />
      <div className="mt-4 space-y-2">
        <Collapsible title={t("agents.alsoGets", { count: count("allow") })} open={count("allow") > 0}>
          {part("allow")}
        </Collapsible>
        <Collapsible title={t("agents.doesNotGet", { count: count("deny") })} open={count("deny") > 0}>
          {part("deny")}
        </Collapsible>
      </div>
    </fieldset>
  );
}

function SenderFields({
  sender,
  disabled,
  onChange,
}: {
  sender: Sender;
  disabled: boolean;
  onChange: (sender: Sender) => void;
}) {
  const { t } = useTranslation();
  const update = (change: Partial<Sender>) => onChange({ ...sender, ...change });
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <Field label={t("filter.chat_type")}>
        {(control) => (
          <Select
            {...control}
            value={sender.chat_type}
            disabled={disabled}
            onChange={(event) => update({ chat_type: event.target.value as Sender["chat_type"] })}
          >
            <option value="">{t("agents.anyChat")}</option>
            <option value="private">{t("filter.private")}</option>
            <option value="group">{t("filter.group")}</option>
          </Select>
        )}
      </Field>
      <Field label={t("filter.roles")}>
        {(control) => (
          <ToggleGroup
            control={control}
            options={ROLES.map((role) => ({ value: role, label: t(`memberRole.${role}`) }))}
            value={sender.roles}
            disabled={disabled}
            onChange={(roles) => update({ roles })}
          />
        )}
      </Field>
      <Field label={t("filter.users")}>
        {(control) => (
          <StringList
            control={control}
            value={sender.users}
            disabled={disabled}
            onChange={(users) => update({ users })}
          />
        )}
      </Field>
      <Field label={t("filter.groups")}>
        {(control) => (
          <StringList
            control={control}
            value={sender.groups}
            disabled={disabled}
            onChange={(groups) => update({ groups })}
          />
        )}
      </Field>
    </div>
  );
}
