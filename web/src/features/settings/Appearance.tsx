// The language and theme of the page in this browser, and the version of Parlour.
import { useQuery } from "@tanstack/react-query";
import { Moon, Sun, SunMoon } from "lucide-react";
import { useTranslation } from "react-i18next";

import * as queries from "../../api/queries";
import { type Theme, useTheme } from "../../app/theme";
import { Field, Select } from "../../components/Field";
import { Card } from "../../components/Layout";
import { classes } from "../../lib/classes";
import { changeLanguage, type Language, LANGUAGES } from "../../lib/language";

const THEMES: [Theme, typeof Sun][] = [
  ["light", Sun],
  ["dark", Moon],
  ["system", SunMoon],
];

export function Appearance() {
  const { t, i18n } = useTranslation();
  const [theme, setTheme] = useTheme();
  const info = useQuery(queries.info).data;
  return (
    <Card>
      <div className="max-w-md space-y-5">
        <Field label={t("settings.language")}>
          {(control) => (
            <Select
              {...control}
              value={i18n.language}
              onChange={(event) => void changeLanguage(event.target.value as Language)}
            >
              {Object.entries(LANGUAGES).map(([code, name]) => (
                <option key={code} value={code}>
                  {name}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <fieldset>
          <legend className="mb-1.5 text-sm font-medium">{t("settings.light")}</legend>
          <div className="grid grid-cols-3 gap-2">
            {THEMES.map(([each, Icon]) => (
              <label
                key={each}
                className={classes(
                  "flex cursor-pointer flex-col items-center gap-1.5 rounded-control border p-3 text-sm has-focus-visible:outline-2 has-focus-visible:outline-accent",
                  theme === each
                    ? "border-accent bg-accent-wash text-accent"
                    : "border-line text-quiet hover:bg-raised",
                )}
              >
                <input
                  type="radio"
                  name="theme"
                  className="sr-only"
                  checked={theme === each}
                  onChange={() => setTheme(each)}
                />
                <Icon aria-hidden className="size-5" />
                {t(each === "system" ? "settings.asSystem" : `theme.${each}`)}
              </label>
            ))}
          </div>
        </fieldset>
        {info && (
          <p className="text-sm text-quiet">{t("settings.version", { version: info.version, zone: info.time_zone })}</p>
        )}
      </div>
    </Card>
  );
}
