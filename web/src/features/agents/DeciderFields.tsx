// The fields of a rule that asks for approval: who decides, and until when.
import { useTranslation } from "react-i18next";

import { Field } from "../../components/Field";
import { StringList } from "../../components/form/lists";
import { NumberInput } from "../../components/NumberInput";
import { ToggleGroup } from "../../components/ToggleGroup";
import type { Deciders } from "./approvalRules";

const ROLES = ["owner", "admin", "member"];

type Props = {
  rule: { who: Deciders; seconds: number };
  disabled: boolean;
  onChange: (change: { who?: Deciders; seconds?: number }) => void;
  children?: React.ReactNode;
};

export function DeciderFields({ rule, disabled, onChange, children }: Props) {
  const { t } = useTranslation();
  const updateWho = (change: Partial<Deciders>) => onChange({ who: { ...rule.who, ...change } });
  const selected = [...rule.who.roles, ...(rule.who.requester ? ["requester"] : [])];
  const options = [
    ...ROLES.map((role) => ({ value: role, label: t(`memberRole.${role}`) })),
    { value: "requester", label: t("agents.requester") },
  ];
  return (
    <div className="mt-4 grid gap-4 border-t border-line pt-4 sm:grid-cols-2">
      <Field label={t("agents.deciders")} hint={t("agents.decidersHint")}>
        {(control) => (
          <ToggleGroup
            control={control}
            options={options}
            value={selected}
            disabled={disabled}
            onChange={(next) =>
              updateWho({ roles: next.filter((each) => each !== "requester"), requester: next.includes("requester") })
            }
          />
        )}
      </Field>
      <Field label={t("agents.minutes")} hint={t("agents.minutesHint")}>
        {(control) => (
          <NumberInput
            control={control}
            min={1}
            max={1440}
            whole
            required
            className="max-w-32"
            value={Math.round(rule.seconds / 60)}
            disabled={disabled}
            onChange={(minutes) => onChange({ seconds: minutes * 60 })}
          />
        )}
      </Field>
      <Field label={t("agents.deciderIds")}>
        {(control) => (
          <StringList
            control={control}
            value={rule.who.users}
            disabled={disabled}
            onChange={(users) => updateWho({ users })}
          />
        )}
      </Field>
      {children}
    </div>
  );
}
