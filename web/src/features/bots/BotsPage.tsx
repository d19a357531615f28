// All bots, with how their connections do.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Bot as BotIcon } from "lucide-react";
import { useTranslation } from "react-i18next";

import * as queries from "../../api/queries";
import { useRights } from "../../app/session";
import { buttonClasses } from "../../components/Button";
import { Row, Rows } from "../../components/List";
import { Monogram } from "../../components/Avatar";
import { Empty, ErrorNote, Loading, useSentence } from "../../components/Feedback";
import { Badge, PageBody, State } from "../../components/Layout";
import { worded } from "../../lib/format";

export default function BotsPage() {
  const { t, i18n } = useTranslation();
  const { edit } = useRights();
  const bots = useQuery(queries.bots);
  const adapters = useQuery(queries.adapters).data ?? [];
  const sentence = useSentence();
  const create = edit && (
    <Link to="/bots/new" className={buttonClasses("primary")}>
      {t("bots.create")}
    </Link>
  );
  return (
    <PageBody title={t("nav.bots")} text={t("bots.text")} actions={create}>
      <ErrorNote error={bots.error} />
      {bots.isPending && <Loading />}
      {bots.data?.length === 0 && (
        <Empty icon={<BotIcon />} title={t("bots.empty")} text={t("bots.emptyText")}>
          {create}
        </Empty>
      )}
      {!!bots.data?.length && (
        <Rows>
          {bots.data.map((bot) => (
            <Row
              key={bot.bot_id}
              sign={<Monogram name={bot.name} />}
              title={
                <Link to="/bots/$botId" params={{ botId: bot.bot_id }} className="hover:underline">
                  {bot.name}
                </Link>
              }
              text={
                <>
                  {worded(adapters.find((each) => each.name === bot.adapter)?.label, i18n.language) || bot.adapter}
                  {bot.enabled && bot.status.last_error && (
                    <span className="block text-warn">
                      {sentence(bot.status.last_error, adapters.find((each) => each.name === bot.adapter)?.config)}
                    </span>
                  )}
                </>
              }
              marks={bot.enabled ? <State state={bot.status.state} /> : <Badge>{t("common.disabled")}</Badge>}
            />
          ))}
        </Rows>
      )}
    </PageBody>
  );
}
