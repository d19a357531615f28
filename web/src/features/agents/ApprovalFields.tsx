// The actions on its platform that an agent may take, and those that need approval.
import { useQuery } from "@tanstack/react-query";
import { Plus, X } from "lucide-react";
import { useTranslation } from "react-i18next";

import { Button, IconButton } from "../../components/Button";
import { Input, Select } from "../../components/Field";
import * as botQueries from "../bots/queries";
import { type ApprovalRule, DECISIONS, freshRule, patternsFor, type Place, policyOf, rulesOf } from "./approvalRules";
import { DeciderFields } from "./DeciderFields";
import { useAgentForm } from "./formContext";
import { requestedActions } from "./permissions";

export function ApprovalFields() {
  const { draft, put, runner, disabled } = useAgentForm();
  const { t } = useTranslation();
  const rules = rulesOf(draft.approval_policy);
  const patterns = patternsFor(requestedActions(runner));
  const available = patterns.filter((pattern) => !rules.some((rule) => rule.pattern === pattern));
  const save = (next: ApprovalRule[]) => put({ approval_policy: policyOf(next) });
  return (
    <div className="space-y-4">
      <p className="text-sm text-quiet">{t("agents.actionsText")}</p>
      {rules.length === 0 && (
        <p className="rounded-control bg-raised px-3.5 py-2.5 text-sm">{t("agents.actionsNone")}</p>
      )}
      {rules.map((rule, index) => (
        <RuleFields
          key={rule.pattern}
          rule={rule}
          disabled={disabled}
          onChange={(next) => save(rules.map((each, position) => (position === index ? next : each)))}
          onRemove={() => save(rules.filter((_, position) => position !== index))}
        />
      ))}
      {!disabled && available.length > 0 && (
        <Select
          aria-label={t("agents.addAction")}
          fits
          className="max-w-full text-sm"
          value=""
          onChange={(event) => save([...rules, freshRule(event.target.value)])}
        >
          <option value="">{t("agents.addAction")}</option>
          {available.map((pattern) => (
            <ActionOption key={pattern} pattern={pattern} />
          ))}
        </Select>
      )}
    </div>
  );
}

function useActionWords(): (pattern: string) => string {
  const { t, i18n } = useTranslation();
  return (pattern) => {
    const [, elsewhere, name] = /^(elsewhere\/)?(.*)$/.exec(pattern)!;
    const key = `action.${name}`;
    const label = i18n.exists(key) ? t(key) : name!;
    return elsewhere ? t("agents.elsewhere", { action: label }) : label;
  };
}

function ActionOption({ pattern }: { pattern: string }) {
  const actionWords = useActionWords();
  return <option value={pattern}>{actionWords(pattern)}</option>;
}

type RuleProps = {
  rule: ApprovalRule;
  disabled: boolean;
  onChange: (rule: ApprovalRule) => void;
  onRemove: () => void;
};

function RuleFields({ rule, disabled, onChange, onRemove }: RuleProps) {
  const { t } = useTranslation();
  const actionWords = useActionWords();
  return (
    <fieldset className="rounded-card border border-line p-4">
      <legend className="sr-only">{actionWords(rule.pattern)}</legend>
      <div className="flex flex-wrap items-center gap-3">
        <div className="min-w-0 flex-1 basis-48 font-medium">{actionWords(rule.pattern)}</div>
        <Select
          aria-label={t("agents.decision", { action: actionWords(rule.pattern) })}
          fits
          value={rule.decision}
          disabled={disabled}
          onChange={(event) => onChange({ ...rule, decision: event.target.value as ApprovalRule["decision"] })}
        >
          {DECISIONS.map((decision) => (
            <option key={decision} value={decision}>
              {t(`decision.${decision}`)}
            </option>
          ))}
        </Select>
        {!disabled && (
          <IconButton label={t("common.remove")} onClick={onRemove}>
            <X className="size-4" />
          </IconButton>
        )}
      </div>
      {rule.decision === "ask" && (
        <DeciderFields rule={rule} disabled={disabled} onChange={(change) => onChange({ ...rule, ...change })}>
          <PlaceFields
            place={rule.show_in}
            disabled={disabled}
            onChange={(show_in) => onChange({ ...rule, show_in })}
          />
        </DeciderFields>
      )}
    </fieldset>
  );
}

function PlaceFields({
  place,
  disabled,
  onChange,
}: {
  place: Place | null;
  disabled: boolean;
  onChange: (place: Place | null) => void;
}) {
  const { t } = useTranslation();
  const bots = useQuery(botQueries.bots).data ?? [];
  const add = () => onChange({ bot_id: bots[0]?.bot_id ?? "", chat_type: "group", chat_id: "" });
  return (
    <div className="space-y-1.5">
      <div className="text-sm font-medium">{t("agents.showIn")}</div>
      {!place && <p className="text-sm text-quiet">{t("agents.showInChat")}</p>}
      {!place && !disabled && bots.length > 0 && (
        <Button small onClick={add}>
          <Plus aria-hidden className="size-4" /> {t("agents.showElsewhere")}
        </Button>
      )}
      {place && (
        <div className="space-y-2">
          <Select
            aria-label={t("runs.bot")}
            value={place.bot_id}
            disabled={disabled}
            onChange={(event) => onChange({ ...place, bot_id: event.target.value })}
          >
            {bots.map((bot) => (
              <option key={bot.bot_id} value={bot.bot_id}>
                {bot.name}
              </option>
            ))}
          </Select>
          <div className="flex gap-2">
            <Select
              aria-label={t("filter.chat_type")}
              fits
              value={place.chat_type}
              disabled={disabled}
              onChange={(event) => onChange({ ...place, chat_type: event.target.value as Place["chat_type"] })}
            >
              <option value="group">{t("filter.group")}</option>
              <option value="private">{t("filter.private")}</option>
            </Select>
            <Input
              aria-label={t("agents.chatId")}
              placeholder={t("agents.chatId")}
              required
              value={place.chat_id}
              disabled={disabled}
              onChange={(event) => onChange({ ...place, chat_id: event.target.value })}
            />
            {!disabled && (
              <IconButton label={t("common.remove")} onClick={() => onChange(null)}>
                <X className="size-4" />
              </IconButton>
            )}
          </div>
        </div>
      )}
    </div>
  );
}
