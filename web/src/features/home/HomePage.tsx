// The home page: alerts, metrics, and the state of all parts.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { buttonClasses } from "../../components/Button";
import { ErrorMessage, Loading } from "../../components/Feedback";
import { Select } from "../../components/Field";
import { PageBody } from "../../components/Layout";
import { Alerts } from "./Alerts";
import { Health } from "./Health";
import { LatestRuns } from "./LatestRuns";
import { Metrics } from "./Metrics";
import * as homeQueries from "./queries";

const SPANS = [24, 24 * 7, 24 * 31];

export default function HomePage() {
  const { t } = useTranslation();
  const [hours, setHours] = useState(24);
  const stats = useQuery(homeQueries.stats(hours));
  return (
    <PageBody
      wide
      title={t("nav.home")}
      text={t("home.text")}
      actions={
        <>
          <Link to="/welcome" className={buttonClasses("quiet")}>
            {t("home.firstSteps")}
          </Link>
          <Select
            aria-label={t("home.span")}
            fits
            value={hours}
            onChange={(event) => setHours(Number(event.target.value))}
          >
            {SPANS.map((each) => (
              <option key={each} value={each}>
                {t(`home.span${each}`)}
              </option>
            ))}
          </Select>
        </>
      }
    >
      <div className="space-y-5">
        <Alerts />
        <ErrorMessage error={stats.error} />
        {stats.isPending && <Loading />}
        {stats.data && <Metrics stats={stats.data} hours={hours} />}
        <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-5 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
          <LatestRuns />
          <Health />
        </div>
      </div>
    </PageBody>
  );
}
