// What to do first: a model, a first talk, a platform. Each step says whether it is done.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Check } from "lucide-react";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";

import * as queries from "../../api/queries";
import { buttonClasses } from "../../components/Button";
import { PageBody } from "../../components/Surfaces";
import { classes } from "../../lib/classes";

export default function WelcomePage() {
  const { t } = useTranslation();
  const models = useQuery(queries.models).data ?? [];
  const agents = useQuery(queries.agents).data ?? [];
  const bots = useQuery(queries.bots).data ?? [];
  const runs = useQuery({ ...queries.stats(24 * 31), select: (stats) => stats.totals["runs.completed"] ?? 0 }).data ?? 0;
  const agent = agents.find((each) => each.enabled);
  return (
    <PageBody title={t("welcome.title")} text={t("welcome.text")}>
      <ol className="space-y-4">
        <Step number={1} done={models.some((model) => model.provider_id !== "demo")} title={t("welcome.model")} text={t("welcome.modelText")}>
          <Link to="/models" className={buttonClasses("plain")}>{t("welcome.modelAction")}</Link>
        </Step>
        <Step number={2} done={runs > 0} title={t("welcome.chat")} text={t("welcome.chatText")}>
          <Link to={agent ? "/chat/$agentId" : "/chat"} params={{ agentId: agent?.agent_id ?? "" }} className={buttonClasses("primary")}>{t("welcome.chatAction")}</Link>
        </Step>
        <Step number={3} done={bots.length > 0} title={t("welcome.platform")} text={t("welcome.platformText")}>
          <Link to="/bots/new" className={buttonClasses("plain")}>{t("welcome.platformAction")}</Link>
        </Step>
      </ol>
    </PageBody>
  );
}

function Step({ number, done, title, text, children }: { number: number; done: boolean; title: string; text: string; children: ReactNode }) {
  const { t } = useTranslation();
  return (
    <li className="flex flex-wrap items-center gap-4 rounded-card border border-line bg-surface p-5 shadow-card">
      <span className={classes("grid size-9 place-items-center rounded-full font-semibold", done ? "bg-good-wash text-good" : "bg-accent-wash text-accent")}>
        {done ? <Check aria-label={t("welcome.done")} className="size-5" /> : number}
      </span>
      <div className="min-w-0 flex-1 basis-64">
        <h2 className="font-semibold">{title}</h2>
        <p className="text-sm text-quiet">{text}</p>
      </div>
      {children}
    </li>
  );
}
