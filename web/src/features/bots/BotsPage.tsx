// The list of bots with the state of their connections.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Bot as BotIcon } from "lucide-react";
import { useTranslation } from "react-i18next";

import { useRights } from "../../app/session";
import { Avatar } from "../../components/Avatar";
import { buttonClasses } from "../../components/Button";
import { Empty, ErrorMessage, Loading, useErrorText } from "../../components/Feedback";
import { Badge, PageBody, State } from "../../components/Layout";
import { Row, Rows } from "../../components/List";
import { localized } from "../../lib/format";
import * as botQueries from "./queries";

export default function BotsPage() {
  const { t, i18n } = useTranslation();
  const { edit } = useRights();
  const bots = useQuery(botQueries.bots);
  const adapters = useQuery(botQueries.adapters).data ?? [];
  const sentence = useErrorText();
  const create = edit && (
    <Link to="/bots/new" className={buttonClasses("primary")}>
      {t("bots.create")}
    </Link>
  );
  return (
    <PageBody title={t("nav.bots")} text={t("bots.text")} actions={create}>
      <ErrorMessage error={bots.error} />
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
              sign={<Avatar name={bot.name} />}
              title={
                <Link to="/bots/$botId" params={{ botId: bot.bot_id }} className="hover:underline">
                  {bot.name}
                </Link>
              }
              text={
                <>
                  {localized(adapters.find((each) => each.name === bot.adapter)?.label, i18n.language) || bot.adapter}
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
