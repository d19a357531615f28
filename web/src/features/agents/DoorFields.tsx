// Through which standards clients may use an agent, and where.
import { useTranslation } from "react-i18next";

import { Field } from "../../components/Field";
import { CheckList } from "../../components/form/lists";
import { BASE } from "../../lib/base";
import { DOORS, doorAddress } from "./doors";
import { useAgentForm } from "./formContext";

export function DoorFields() {
  const { t } = useTranslation();
  const { draft, put, disabled } = useAgentForm();
  const origin = `${window.location.origin}${BASE}`;
  return (
    <>
      <Field label={t("agents.published")} hint={t("agents.publishedHint")}>
        {(control) => (
          <CheckList
            control={control}
            options={DOORS.map((door) => ({ value: door, label: t(`door.${door}`) }))}
            value={draft.published}
            disabled={disabled}
            onChange={(published) => put({ published: published as typeof draft.published })}
          />
        )}
      </Field>
      {draft.published.length > 0 && (
        <dl className="space-y-2 text-sm">
          {draft.published.map((door) => (
            <div key={door}>
              <dt className="text-muted">{t(`door.${door}`)}</dt>
              <dd>
                <code className="break-all">{doorAddress(door, origin, draft.agent_id)}</code>
              </dd>
            </div>
          ))}
        </dl>
      )}
    </>
  );
}
