// The tool policy of an agent: entries of tool patterns, each with a decision about the calls of these tools.
import { Plus, X } from "lucide-react";
import { useTranslation } from "react-i18next";

import { Button, IconButton } from "../../components/Button";
import { Field, Select } from "../../components/Field";
import { StringList } from "../../components/form/lists";
import { DECISIONS, type Decision, freshToolRule, type ToolRule } from "./approvalRules";
import { DeciderFields } from "./DeciderFields";
import { useAgentForm } from "./formContext";

export function ToolPolicyFields() {
  const { draft, put, disabled } = useAgentForm();
  const { t } = useTranslation();
  const rules = draft.tool_policy as ToolRule[];
  const save = (tool_policy: ToolRule[]) => put({ tool_policy });
  return (
    <div className="space-y-4">
      <p className="text-sm text-quiet">{t("agents.toolPolicyText")}</p>
      {rules.length === 0 && (
        <p className="rounded-control bg-raised px-3.5 py-2.5 text-sm">{t("agents.toolPolicyNone")}</p>
      )}
      {rules.map((rule, index) => (
        <ToolRuleFields
          key={index}
          rule={rule}
          number={index + 1}
          disabled={disabled}
          onChange={(next) => save(rules.map((each, position) => (position === index ? next : each)))}
          onRemove={() => save(rules.filter((_, position) => position !== index))}
        />
      ))}
      {!disabled && (
        <Button small onClick={() => save([...rules, freshToolRule()])}>
          <Plus aria-hidden className="size-4" /> {t("agents.toolPolicyAdd")}
        </Button>
      )}
    </div>
  );
}

type Props = {
  rule: ToolRule;
  number: number;
  disabled: boolean;
  onChange: (rule: ToolRule) => void;
  onRemove: () => void;
};

function ToolRuleFields({ rule, number, disabled, onChange, onRemove }: Props) {
  const { t } = useTranslation();
  return (
    <fieldset className="space-y-4 rounded-card border border-line p-4">
      <legend className="sr-only">{t("agents.toolRule", { number })}</legend>
      <div className="flex flex-wrap items-start gap-3">
        <div className="min-w-0 flex-1 basis-48">
          <Field label={t("agents.toolPatterns")} hint={t("agents.toolPatternsHint")}>
            {(control) => (
              <StringList
                control={control}
                value={rule.tools}
                disabled={disabled}
                onChange={(tools) => onChange({ ...rule, tools })}
              />
            )}
          </Field>
        </div>
        <Select
          aria-label={t("agents.toolDecision", { number })}
          fits
          value={rule.decide}
          disabled={disabled}
          onChange={(event) => onChange({ ...rule, decide: event.target.value as Decision })}
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
      {rule.decide === "ask" && (
        <DeciderFields rule={rule} disabled={disabled} onChange={(change) => onChange({ ...rule, ...change })} />
      )}
    </fieldset>
  );
}
