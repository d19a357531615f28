// The parts of the work with their owners, and the dialog that moves one to another Host.
import { useQuery } from "@tanstack/react-query";
import { Network } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api } from "../../api/client";
import type { ClusterHost, ClusterPart } from "../../api/types";
import { useRights } from "../../app/session";
import { Button } from "../../components/Button";
import { Dialog } from "../../components/Dialog";
import { Empty, ErrorMessage } from "../../components/Feedback";
import { Field, Select } from "../../components/Field";
import { Badge } from "../../components/Layout";
import { Row, Rows } from "../../components/List";
import { formatTime } from "../../lib/format";
import { useSave } from "../../lib/useSave";
import { bots as botsQuery } from "../bots/queries";
import * as hostQueries from "./queries";

const KINDS = ["bot", "shard", "duty"] as const;

export function PartList({ live }: { live: ClusterHost[] }) {
  const { t } = useTranslation();
  const parts = useQuery(hostQueries.parts);
  const bots = useQuery(botsQuery);
  const [kind, setKind] = useState<string>("bot");
  const shown = parts.data?.filter((part) => part.part.startsWith(`${kind}:`));
  const nameOf = (part: string) => {
    const id = part.slice(kind.length + 1);
    if (kind === "shard") return t("hosts.shard", { number: Number(id) + 1 });
    if (kind === "duty") return t(`hosts.duty.${id}`);
    return bots.data?.find((bot) => bot.bot_id === id)?.name ?? (bots.data ? t("hosts.unknownBot") : id);
  };
  return (
    <section aria-label={t("hosts.parts")}>
      <div className="mb-3 flex flex-wrap items-center justify-between gap-3">
        <h2 className="text-sm font-medium text-quiet">{t("hosts.parts")}</h2>
        <Select fits aria-label={t("hosts.kind")} value={kind} onChange={(event) => setKind(event.target.value)}>
          {KINDS.map((each) => (
            <option key={each} value={each}>
              {t(`hosts.kinds.${each}`)}
            </option>
          ))}
        </Select>
      </div>
      <ErrorMessage error={parts.error ?? bots.error} />
      {shown?.length === 0 && <Empty icon={<Network />} title={t("hosts.noParts")} text={t("hosts.text")} />}
      {!!shown?.length && (
        <Rows>
          {shown.map((part) => (
            <PartRow key={part.part} part={part} name={nameOf(part.part)} live={live} />
          ))}
        </Rows>
      )}
    </section>
  );
}

function PartRow({ part, name, live }: { part: ClusterPart; name: string; live: ClusterHost[] }) {
  const { t, i18n } = useTranslation();
  const { edit } = useRights();
  const hostName = (id: string | null) => live.find((host) => host.host_id === id)?.name;
  const owner = hostName(part.host_id);
  const wanted = hostName(part.wanted_by);
  const targets = live.filter((host) => host.host_id !== part.host_id && host.state === "live");
  return (
    <Row
      title={name}
      text={
        <>
          {owner ? t("hosts.owner", { name: owner }) : t("hosts.free")}
          {part.moved_at > 0 && ` · ${t("hosts.movedAt", { time: formatTime(part.moved_at, i18n.language) })}`}
        </>
      }
      marks={
        <>
          {wanted && part.wanted_by !== part.host_id && (
            <Badge tone="accent">{t("hosts.moving", { name: wanted })}</Badge>
          )}
          {!owner && <Badge tone="warn">{t("hosts.free")}</Badge>}
        </>
      }
      actions={edit && targets.length > 0 && <MoveButton part={part} name={name} targets={targets} />}
    />
  );
}

function MoveButton({ part, name, targets }: { part: ClusterPart; name: string; targets: ClusterHost[] }) {
  const { t } = useTranslation();
  const [open, setOpen] = useState(false);
  const [chosen, setChosen] = useState("");
  const target = targets.find((host) => host.host_id === chosen) ?? targets[0];
  const moving = useSave(
    (host_id: string) =>
      answer(api.POST("/api/v1/parts/{part}/move", { params: { path: { part: part.part } }, body: { host_id } })),
    ["hosts"],
    () => setOpen(false),
  );
  const close = () => {
    setOpen(false);
    moving.reset();
  };
  return (
    <>
      <Button small aria-label={t("hosts.moveTitle", { name })} onClick={() => setOpen(true)}>
        {t("hosts.move")}
      </Button>
      <Dialog open={open} title={t("hosts.moveTitle", { name })} onClose={close}>
        <p className="mb-4 text-quiet">{t("hosts.moveText")}</p>
        <Field label={t("hosts.moveTo")}>
          {(control) => (
            <Select {...control} value={target?.host_id} onChange={(event) => setChosen(event.target.value)}>
              {targets.map((host) => (
                <option key={host.host_id} value={host.host_id}>
                  {host.name}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <ErrorMessage error={moving.error} />
        <div className="mt-5 flex justify-end gap-2">
          <Button onClick={close}>{t("common.cancel")}</Button>
          <Button weight="primary" busy={moving.isPending} onClick={() => target && moving.mutate(target.host_id)}>
            {t("hosts.move")}
          </Button>
        </div>
      </Dialog>
    </>
  );
}
