// Where and by whom a message of a preview is said to be written.
import { useTranslation } from "react-i18next";

import { Field, Input, Select } from "../../components/Field";
import { Switch } from "../../components/Switch";
import type { Scene } from "./queries";

const ROLES = ["owner", "admin", "member"] as const;
const MAX_LENGTH = 255;

export function SceneFields({ scene, onChange }: { scene: Scene; onChange: (scene: Scene) => void }) {
  const { t } = useTranslation();
  const put = (change: Partial<Scene>) => onChange({ ...scene, ...change });
  const putPerson = (change: Partial<Scene["person"]>) => put({ person: { ...scene.person, ...change } });
  const isGroup = scene.chat_type === "group";
  return (
    <fieldset className="grid gap-x-4 gap-y-3 sm:grid-cols-2">
      <legend className="sr-only">{t("previews.scene")}</legend>
      <Field label={t("pipelines.sampleChat")}>
        {(control) => (
          <Select
            {...control}
            value={scene.chat_type}
            onChange={(event) => put({ chat_type: event.target.value as Scene["chat_type"] })}
          >
            <option value="private">{t("pipelines.private")}</option>
            <option value="group">{t("pipelines.group")}</option>
          </Select>
        )}
      </Field>
      <Field label={t("previews.chatId")}>
        {(control) => (
          <Input
            {...control}
            required
            maxLength={MAX_LENGTH}
            value={scene.chat_id}
            onChange={(event) => put({ chat_id: event.target.value })}
          />
        )}
      </Field>
      <Field label={t("previews.personId")}>
        {(control) => (
          <Input
            {...control}
            required
            maxLength={MAX_LENGTH}
            value={scene.person.id}
            onChange={(event) => putPerson({ id: event.target.value })}
          />
        )}
      </Field>
      <Field label={t("previews.personName")}>
        {(control) => (
          <Input
            {...control}
            maxLength={MAX_LENGTH}
            value={scene.person.name}
            onChange={(event) => putPerson({ name: event.target.value })}
          />
        )}
      </Field>
      <Field label={t("previews.role")}>
        {(control) => (
          <Select {...control} value={scene.person.role} onChange={(event) => putPerson({ role: event.target.value })}>
            <option value="">{t("previews.noRole")}</option>
            {ROLES.map((role) => (
              <option key={role} value={role}>
                {t(`memberRole.${role}`)}
              </option>
            ))}
          </Select>
        )}
      </Field>
      {isGroup && (
        <Field label={t("pipelines.mentioned")} beside>
          {(control) => (
            <Switch id={control.id} checked={scene.mentions_bot} onChange={(mentions_bot) => put({ mentions_bot })} />
          )}
        </Field>
      )}
    </fieldset>
  );
}
