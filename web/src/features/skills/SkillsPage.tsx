// The installed skills, and the ways to add one: install a zip, a folder or a git address, or write one.
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { GraduationCap } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api } from "../../api/client";
import { fieldMessage } from "../../api/problem";
import { useRights } from "../../app/session";
import { Button } from "../../components/Button";
import { Dialog } from "../../components/Dialog";
import { Empty, ErrorMessage, Loading } from "../../components/Feedback";
import { Field, Input, TextArea } from "../../components/Field";
import { Badge, PageBody } from "../../components/Layout";
import { LeaveGuard } from "../../components/LeaveGuard";
import { Row, Rows } from "../../components/List";
import { useSave } from "../../lib/useSave";
import * as boxQueries from "../box/queries";
import { InstallSkills } from "./InstallSkills";
import * as skillQueries from "./queries";

export default function SkillsPage() {
  const { t } = useTranslation();
  const { edit } = useRights();
  const skills = useQuery(skillQueries.skills);
  const box = useQuery(boxQueries.status);
  const [open, setOpen] = useState<"install" | "new" | null>(null);
  const isReadOnly = !!box.data && box.data.status !== "ready";
  return (
    <PageBody
      title={t("nav.skills")}
      text={t("skills.text")}
      actions={
        edit && (
          <>
            <Button disabled={isReadOnly} onClick={() => setOpen("new")}>
              {t("skills.new")}
            </Button>
            <Button weight="primary" disabled={isReadOnly} onClick={() => setOpen("install")}>
              {t("skills.install")}
            </Button>
          </>
        )
      }
    >
      <div className="space-y-6">
        {isReadOnly && (
          <p role="status" className="text-warn">
            {t("skills.readOnly", { reason: box.data.reason ?? t(`boxStatus.${box.data.status}`) })}
          </p>
        )}
        <ErrorMessage error={skills.error} />
        {skills.isPending && <Loading />}
        {skills.data?.length === 0 && (
          <Empty icon={<GraduationCap />} title={t("skills.none")} text={t("skills.noneText")} />
        )}
        {!!skills.data?.length && (
          <Rows>
            {skills.data.map((skill) => (
              <Row
                key={skill.name}
                title={
                  <Link to="/skills/$name" params={{ name: skill.name }} className="hover:underline">
                    {skill.name}
                  </Link>
                }
                text={skill.description}
                marks={
                  <>
                    {!skill.enabled && <Badge tone="warn">{t("skills.off")}</Badge>}
                    {skill.version && <Badge>{skill.version}</Badge>}
                    <Badge>{t(`skillSource.${skill.source.kind}`)}</Badge>
                    <Badge>{t("skills.files", { count: skill.files })}</Badge>
                  </>
                }
              />
            ))}
          </Rows>
        )}
      </div>
      <Dialog open={open === "install"} title={t("skills.install")} onClose={() => setOpen(null)}>
        <InstallSkills onDone={() => setOpen(null)} />
      </Dialog>
      <Dialog open={open === "new"} title={t("skills.new")} onClose={() => setOpen(null)}>
        <NewSkill onCancel={() => setOpen(null)} />
      </Dialog>
    </PageBody>
  );
}

function NewSkill({ onCancel }: { onCancel: () => void }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const [body, setBody] = useState({ name: "", description: "", instructions: "" });
  const saving = useSave(
    () => answer(api.POST("/api/v1/skills", { body })),
    ["skills"],
    (skill) => void navigate({ to: "/skills/$name", params: { name: skill.name } }),
  );
  return (
    <form
      className="space-y-4"
      onSubmit={(event) => {
        event.preventDefault();
        saving.mutate();
      }}
    >
      <LeaveGuard dirty={!saving.isSuccess && (body.name + body.description + body.instructions).length > 0} />
      <Field label={t("common.name")} hint={t("skills.nameHint")} required error={fieldMessage(saving.error, "name")}>
        {(control) => (
          <Input
            {...control}
            required
            maxLength={64}
            value={body.name}
            onChange={(event) => setBody({ ...body, name: event.target.value })}
          />
        )}
      </Field>
      <Field label={t("skills.description")} hint={t("skills.descriptionHint")} required>
        {(control) => (
          <Input
            {...control}
            required
            maxLength={1024}
            value={body.description}
            onChange={(event) => setBody({ ...body, description: event.target.value })}
          />
        )}
      </Field>
      <Field label={t("skills.instructions")}>
        {(control) => (
          <TextArea
            {...control}
            rows={8}
            value={body.instructions}
            onChange={(event) => setBody({ ...body, instructions: event.target.value })}
          />
        )}
      </Field>
      <ErrorMessage error={saving.error} />
      <div className="flex justify-end gap-2">
        <Button onClick={onCancel}>{t("common.cancel")}</Button>
        <Button type="submit" weight="primary" busy={saving.isPending}>
          {t("common.create")}
        </Button>
      </div>
    </form>
  );
}
