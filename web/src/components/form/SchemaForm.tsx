// Draws the form that a runner or an adapter declares. Options are passed in; nothing is fetched here.
import { useTranslation } from "react-i18next";

import type { Fields, FormItem } from "../../api/types";
import { localized } from "../../lib/format";
import { Field } from "../Field";
import { type Choices, CONTROLS } from "./controls";
import { changed, hasChoices, isShown } from "./values";

export function SchemaForm({
  items,
  values,
  onChange,
  choices,
  messages = {},
  secretsSet = [],
  disabled = false,
}: {
  items: FormItem[];
  values: Fields;
  onChange: (values: Fields) => void;
  choices: Choices;
  messages?: Record<string, string | undefined>;
  secretsSet?: string[];
  disabled?: boolean;
}) {
  const { i18n } = useTranslation();
  return (
    <div className="space-y-5">
      {items
        .filter((item) => isShown(item, values) && hasChoices(item, values[item.name], choices))
        .map((item) => {
          const Control = CONTROLS[item.type];
          return (
            <Field
              key={item.name}
              label={localized(item.label, i18n.language) || item.name}
              hint={localized(item.description, i18n.language)}
              error={messages[item.name]}
              required={item.required}
              beside={item.type === "boolean"}
            >
              {(control) =>
                item.display ? (
                  <output
                    id={control.id}
                    className="block rounded-control bg-raised px-3 py-2 font-mono text-sm break-all"
                  >
                    {String(item.default ?? "")}
                  </output>
                ) : (
                  <Control
                    control={control}
                    item={item}
                    value={values[item.name]}
                    onChange={(value) => onChange(changed(values, item.name, value))}
                    choices={choices}
                    kept={secretsSet.includes(item.name)}
                    remove={(yes) => onChange(yes ? { ...values, [item.name]: "" } : changed(values, item.name, ""))}
                    disabled={disabled}
                  />
                )
              }
            </Field>
          );
        })}
    </div>
  );
}
