// One skill: its state, where it comes from, and its files, which can be read and edited.
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api, ifMatch, type Versioned } from "../../api/client";
import { isGone } from "../../api/problem";
import type { SkillDetail } from "../../api/types";
import { NotFoundPage } from "../../app/ErrorPages";
import { useRights } from "../../app/session";
import { Button } from "../../components/Button";
import { DeleteButton } from "../../components/DeleteButton";
import { ErrorMessage, Loading } from "../../components/Feedback";
import { Field, Input, TextArea } from "../../components/Field";
import { Badge, Card, PageBody } from "../../components/Layout";
import { LeaveGuard } from "../../components/LeaveGuard";
import { Switch } from "../../components/Switch";
import { formatSize } from "../knowledge/size";
import { formatTime } from "../../lib/format";
import { useSave } from "../../lib/useSave";
import * as skillQueries from "./queries";

const DOCUMENT = "SKILL.md";

export default function SkillPage() {
  const { t, i18n } = useTranslation();
  const { edit } = useRights();
  const navigate = useNavigate();
  const { name } = useParams({ from: "/authenticated/skills/$name" });
  const skill = useQuery(skillQueries.skill(name));
  const [path, setPath] = useState(DOCUMENT);
  const enabling = useSave(
    (enabled: boolean) => {
      const { description, instructions } = skill.data!.value;
      const body = { description, instructions, enabled };
      return answer(
        api.PUT("/api/v1/skills/{name}", { params: { path: { name }, header: ifMatch(skill.data!) }, body }),
      );
    },
    ["skills"],
  );
  if (isGone(skill.error)) return <NotFoundPage />;
  if (!skill.data) return <div className="p-8">{skill.error ? <ErrorMessage error={skill.error} /> : <Loading />}</div>;
  const thing = skill.data.value;
  return (
    <PageBody
      title={thing.name}
      text={thing.description}
      actions={
        edit && (
          <DeleteButton
            label={t("common.delete")}
            title={t("skills.deleteTitle", { name })}
            text={t("skills.deleteText")}
            remove={() => answer(api.DELETE("/api/v1/skills/{name}", { params: { path: { name } } }))}
            stale={["skills"]}
            after={() => void navigate({ to: "/skills" })}
          />
        )
      }
    >
      <div className="space-y-6">
        <p>
          <Link to="/skills" className="text-sm text-quiet hover:underline">
            {t("skills.back")}
          </Link>
        </p>
        <Card title={t("skills.about")}>
          <div className="flex flex-wrap items-center gap-2 text-sm">
            <Switch
              label={t("skills.offered")}
              checked={thing.enabled}
              disabled={!edit || enabling.isPending}
              onChange={(on) => enabling.mutate(on)}
            />
            <span aria-hidden>{t("skills.offered")}</span>
          </div>
          <ErrorMessage error={enabling.error} />
          <dl className="mt-4 grid grid-cols-[auto_minmax(0,1fr)] gap-x-6 gap-y-1.5 text-sm">
            <dt className="text-quiet">{t("skills.origin")}</dt>
            <dd className="wrap-anywhere">
              {[t(`skillSource.${thing.source.kind}`), thing.source.address, thing.source.subfolder]
                .filter(Boolean)
                .join(" · ")}
            </dd>
            <dt className="text-quiet">{t("skills.changed")}</dt>
            <dd>{formatTime(thing.updated_at, i18n.language)}</dd>
            <dt className="text-quiet">{t("skills.digest")}</dt>
            <dd className="font-mono text-xs leading-5 wrap-anywhere">{thing.sha256}</dd>
          </dl>
        </Card>
        <Files skill={thing} path={path} onOpen={setPath} />
        <FileEditor key={`${path} ${thing.sha256}`} skill={skill.data} path={path} onClose={() => setPath(DOCUMENT)} />
      </div>
    </PageBody>
  );
}

function Files({ skill, path, onOpen }: { skill: SkillDetail; path: string; onOpen: (path: string) => void }) {
  const { t, i18n } = useTranslation();
  const { edit } = useRights();
  const [name, setName] = useState("");
  const adding = useSave(
    () =>
      answer(
        api.PUT("/api/v1/skills/{name}/files/{path}", {
          params: { path: { name: skill.name, path: name } },
          body: { text: "" },
        }),
      ),
    ["skills"],
    () => {
      onOpen(name);
      setName("");
    },
  );
  return (
    <Card title={t("skills.fileList")}>
      <ul className="space-y-1">
        {skill.entries.map((entry) => (
          <li key={entry.path}>
            <button
              type="button"
              aria-current={entry.path === path}
              className="flex w-full flex-wrap items-center gap-3 rounded-control px-2 py-1 text-left hover:bg-raised aria-current:bg-raised"
              onClick={() => onOpen(entry.path)}
            >
              <span className="min-w-0 flex-1 font-mono text-sm wrap-anywhere">{entry.path}</span>
              {entry.executable && <Badge>{t("skills.executable")}</Badge>}
              <span className="text-sm text-quiet">{formatSize(entry.size_bytes, i18n.language)}</span>
            </button>
          </li>
        ))}
      </ul>
      {edit && (
        <form
          className="mt-4 space-y-3"
          onSubmit={(event) => {
            event.preventDefault();
            adding.mutate();
          }}
        >
          <Field label={t("skills.addFile")} hint={t("skills.addFileHint")}>
            {(control) => (
              <Input {...control} required value={name} onChange={(event) => setName(event.target.value)} />
            )}
          </Field>
          <ErrorMessage error={adding.error} />
          <Button type="submit" busy={adding.isPending}>
            {t("skills.add")}
          </Button>
        </form>
      )}
    </Card>
  );
}

function FileEditor({ skill, path, onClose }: { skill: Versioned<SkillDetail>; path: string; onClose: () => void }) {
  const { t } = useTranslation();
  const { edit } = useRights();
  const file = useQuery(skillQueries.file(skill.value.name, path));
  const [text, setText] = useState<string | null>(null);
  const params = { path: { name: skill.value.name, path }, header: ifMatch(skill) };
  const saving = useSave(
    () => answer(api.PUT("/api/v1/skills/{name}/files/{path}", { params, body: { text: text ?? "" } })),
    ["skills"],
    () => setText(null),
  );
  const stored = file.data?.text;
  const isText = typeof stored === "string";
  return (
    <Card
      title={path}
      actions={
        edit &&
        path !== DOCUMENT && (
          <DeleteButton
            icon
            label={t("skills.deleteFile")}
            title={t("skills.deleteFileTitle", { path })}
            text={t("skills.deleteFileText")}
            remove={() => answer(api.DELETE("/api/v1/skills/{name}/files/{path}", { params }))}
            stale={["skills"]}
            after={onClose}
          />
        )
      }
    >
      <ErrorMessage error={file.error} />
      {file.isPending && <Loading />}
      {file.data && !isText && <p className="text-quiet">{t("skills.notText")}</p>}
      {isText && (
        <form
          className="space-y-3"
          onSubmit={(event) => {
            event.preventDefault();
            saving.mutate();
          }}
        >
          <LeaveGuard dirty={text !== null && text !== stored} />
          <TextArea
            aria-label={path}
            className="font-mono text-sm"
            rows={16}
            readOnly={!edit}
            value={text ?? stored}
            onChange={(event) => setText(event.target.value)}
          />
          <ErrorMessage error={saving.error} />
          {edit && (
            <Button type="submit" weight="primary" disabled={text === null || text === stored} busy={saving.isPending}>
              {t("common.save")}
            </Button>
          )}
        </form>
      )}
    </Card>
  );
}
