// The steps to the first bot: a model, a chat, a platform, its first message, each with its state.
import { useQueries, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Check, PartyPopper } from "lucide-react";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";

import type { Bot } from "../../api/types";
import { useRights } from "../../app/session";
import { Button, buttonClasses } from "../../components/Button";
import { ErrorMessage } from "../../components/Feedback";
import { PageBody, State } from "../../components/Layout";
import { classes } from "../../lib/classes";
import * as agentQueries from "../agents/queries";
import * as botQueries from "../bots/queries";
import * as homeQueries from "../home/queries";
import { ProviderForm } from "../models/ProviderForm";
import * as modelQueries from "../models/queries";
import { SandboxMissing } from "../plugins/SandboxMissing";
import { doneOf, firstWorking, nextOf, type Step, STEPS } from "./steps";

const LOOKED_AT = 20;

export default function WelcomePage() {
  const { t } = useTranslation();
  const models = useQuery(modelQueries.models).data ?? [];
  const bots = useQuery(botQueries.bots).data ?? [];
  const answered =
    useQuery({ ...homeQueries.stats(24 * 31), select: (stats) => stats.totals["runs.completed"] ?? 0 }).data ?? 0;
  const heard = useHeard(bots);
  const bot = firstWorking(bots, heard);
  const done = doneOf({ models, answered, bots, heard });
  const next = nextOf(done);
  const parts: Record<Step, ReactNode> = {
    model: <ModelStep next={next === "model"} done={done.has("model")} />,
    chat: <ChatStep next={next === "chat"} />,
    platform: <PlatformStep next={next === "platform"} bots={bots} />,
    message: bot && <MessageStep next={next === "message"} bot={bot} arrived={heard.has(bot.bot_id)} />,
  };
  return (
    <PageBody title={t("welcome.title")} text={t("welcome.text")}>
      <SandboxMissing />
      <ol className="space-y-4">
        {STEPS.map((step, index) => (
          <StepCard key={step} number={index + 1} step={step} done={done.has(step)} next={next === step}>
            {parts[step]}
          </StepCard>
        ))}
      </ol>
      {next === null && (
        <p role="status" className="mt-6 flex flex-wrap items-center gap-3 rounded-card bg-good-wash p-5 text-good">
          <PartyPopper aria-hidden className="size-5" /> {t("welcome.allDone")}
          <Link to="/" className={classes(buttonClasses("plain", true), "ml-auto text-ink")}>
            {t("nav.home")}
          </Link>
        </p>
      )}
    </PageBody>
  );
}

/** Finds the bots that have received events, among the first `LOOKED_AT`. */
function useHeard(bots: Bot[]): Set<string> {
  const checkedBots = bots.slice(0, LOOKED_AT);
  const events = useQueries({ queries: checkedBots.map((bot) => botQueries.botEvents(bot.bot_id)) });
  return new Set(checkedBots.filter((_, index) => (events[index]?.data?.length ?? 0) > 0).map((bot) => bot.bot_id));
}

function StepCard({
  number,
  step,
  done,
  next,
  children,
}: {
  number: number;
  step: Step;
  done: boolean;
  next: boolean;
  children: ReactNode;
}) {
  const { t } = useTranslation();
  return (
    <li
      aria-current={next ? "step" : undefined}
      className={classes(
        "flex flex-wrap items-start gap-4 rounded-card border bg-surface p-5 shadow-card",
        next ? "border-accent" : "border-line",
      )}
    >
      <span
        className={classes(
          "grid size-9 shrink-0 place-items-center rounded-full font-semibold",
          done ? "bg-good-wash text-good" : "bg-accent-wash text-accent",
        )}
      >
        {done ? <Check aria-label={t("welcome.done")} className="size-5" /> : number}
      </span>
      <div className="min-w-0 flex-1 basis-64">
        <h2 className="font-semibold">{t(`welcome.${step}`)}</h2>
        <p className="text-sm text-quiet">{t(`welcome.${step}Text`)}</p>
      </div>
      {children}
    </li>
  );
}

function ModelStep({ next, done }: { next: boolean; done: boolean }) {
  const { t } = useTranslation();
  const { edit } = useRights();
  const [adding, setAdding] = useState(false);
  if (done || !edit)
    return (
      <Link to="/models" className={buttonClasses("plain")}>
        {t("nav.models")}
      </Link>
    );
  if (!adding)
    return (
      <Button weight={next ? "primary" : "plain"} onClick={() => setAdding(true)}>
        {t("welcome.modelAction")}
      </Button>
    );
  return (
    <div className="w-full border-t border-line pt-5">
      <ProviderForm onDone={() => setAdding(false)} />
    </div>
  );
}

function ChatStep({ next }: { next: boolean }) {
  const { t } = useTranslation();
  const agent = useQuery(agentQueries.agents).data?.find((each) => each.enabled);
  return (
    <Link
      to={agent ? "/chat/$agentId" : "/chat"}
      params={{ agentId: agent?.agent_id ?? "" }}
      className={buttonClasses(next ? "primary" : "plain")}
    >
      {t("welcome.chatAction")}
    </Link>
  );
}

function PlatformStep({ next, bots }: { next: boolean; bots: Bot[] }) {
  const { t } = useTranslation();
  if (bots.length > 0)
    return (
      <Link to="/bots" className={buttonClasses("plain")}>
        {t("nav.bots")}
      </Link>
    );
  return (
    <Link to="/bots/new" className={buttonClasses(next ? "primary" : "plain")}>
      {t("welcome.platformAction")}
    </Link>
  );
}

/** Follows the state of the connection, and shows the first message when it arrives. */
function MessageStep({ next, bot, arrived }: { next: boolean; bot: Bot; arrived: boolean }) {
  const { t } = useTranslation();
  return (
    <>
      <div className="flex min-w-0 items-center gap-3">
        {!arrived && <State state={bot.status.state} />}
        <Link
          to="/bots/$botId"
          params={{ botId: bot.bot_id }}
          className={classes(buttonClasses(next ? "primary" : "plain"), "min-w-0")}
        >
          <span className="truncate">{t("welcome.messageAction", { name: bot.name })}</span>
        </Link>
      </div>
      {!arrived && bot.status.last_error && (
        <div className="w-full">
          <ErrorMessage error={new Error(bot.status.last_error)} mild />
        </div>
      )}
    </>
  );
}
