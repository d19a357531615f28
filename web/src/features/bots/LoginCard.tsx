// The login to a platform by QR code. The page keeps the sealed session between two steps; the Host keeps nothing.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api } from "../../api/client";
import type { Bot, BotLogin } from "../../api/types";
import { Button } from "../../components/Button";
import { ErrorMessage } from "../../components/Feedback";
import { Field, Input } from "../../components/Field";
import { Card } from "../../components/Layout";

/** The body of the next step; null for the first one. */
type Step = { session: string; code: string } | null;

function requestStep(botId: string, step: Step): Promise<BotLogin> {
  const params = { path: { bot_id: botId } };
  return step
    ? answer(api.POST("/api/v1/bots/{bot_id}/login/continue", { params, body: step }))
    : answer(api.POST("/api/v1/bots/{bot_id}/login", { params }));
}

export function LoginCard({ bot, request = requestStep }: { bot: Bot; request?: typeof requestStep }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const [code, setCode] = useState("");
  const login = useMutation({
    mutationFn: (step: Step) => request(bot.bot_id, step),
    onSuccess: (step) => {
      setCode("");
      if (step.state === "confirmed") void client.invalidateQueries({ queryKey: ["bots"] });
    },
  });
  const step = login.data;
  const { mutate } = login;
  useEffect(() => {
    // a login ends with the page: nothing else asks for the next step
    if (step?.session && step.state !== "code_needed") mutate({ session: step.session, code: "" });
  }, [step, mutate]);
  const last = useLast(step);
  const ended = !last || last.state === "expired" || login.isError;
  return (
    <Card>
      <div className="max-w-2xl space-y-4">
        <h2 className="font-medium">{t("botLogin.title")}</h2>
        <p className="text-sm text-quiet">{t("botLogin.text")}</p>
        {last?.qr && !login.isError && <QrCode rows={last.qr} label={t("botLogin.qr")} />}
        {last?.link && !login.isError && (
          <a className="text-sm text-accent underline sm:hidden" href={last.link}>
            {t("botLogin.open")}
          </a>
        )}
        {last && !login.isError && (
          <p role="status" className="text-sm">
            {t(last.code_is_wrong ? "botLogin.codeIsWrong" : `botLogin.${last.state}`)}
          </p>
        )}
        {last?.state === "code_needed" && !login.isPending && last.session && (
          <form
            className="flex items-end gap-2"
            onSubmit={(event) => {
              event.preventDefault();
              mutate({ session: last.session!, code });
            }}
          >
            <Field label={t("botLogin.code")}>
              {(control) => (
                <Input
                  {...control}
                  inputMode="numeric"
                  autoComplete="one-time-code"
                  value={code}
                  onChange={(event) => setCode(event.target.value.replace(/\D/g, "").slice(0, 12))}
                />
              )}
            </Field>
            <Button type="submit" weight="primary" disabled={!code}>
              {t("botLogin.send")}
            </Button>
          </form>
        )}
        <ErrorMessage error={login.error} />
        {ended && (
          <Button weight="primary" busy={login.isPending} onClick={() => mutate(null)}>
            {t(last || login.isError ? "botLogin.again" : "botLogin.start")}
          </Button>
        )}
      </div>
    </Card>
  );
}

/** The last step that was answered; it stays visible while the next one is asked for. */
function useLast(step: BotLogin | undefined): BotLogin | undefined {
  const [last, setLast] = useState(step);
  if (step && step !== last) setLast(step);
  return step ?? last;
}

const MARGIN = 4;

/** Dark modules on white in every color scheme, with the margin that scanners need. */
function QrCode({ rows, label }: { rows: string[]; label: string }) {
  const size = rows.length + 2 * MARGIN;
  const path = rows.flatMap((row, y) =>
    [...row].flatMap((module, x) => (module === "1" ? [`M${x + MARGIN} ${y + MARGIN}h1v1h-1z`] : [])),
  );
  return (
    <svg role="img" aria-label={label} viewBox={`0 0 ${size} ${size}`} className="size-56 rounded-control">
      <rect width={size} height={size} fill="#fff" />
      <path d={path.join("")} fill="#000" shapeRendering="crispEdges" />
    </svg>
  );
}
