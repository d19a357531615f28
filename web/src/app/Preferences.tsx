// The language and the theme of the page, kept in this browser.
import { Moon, Sun, SunMoon } from "lucide-react";
import { useTranslation } from "react-i18next";

import { IconButton } from "../components/Button";
import { changeLanguage, type Language, LANGUAGES } from "../lib/language";
import { type Theme, useTheme } from "./theme";

const NEXT: Record<Theme, Theme> = { system: "light", light: "dark", dark: "system" };
const ICONS = { system: SunMoon, light: Sun, dark: Moon };

export function Preferences() {
  const { t, i18n } = useTranslation();
  const [theme, setTheme] = useTheme();
  const Icon = ICONS[theme];
  return (
    <div className="flex items-center gap-1 px-1">
      <select
        aria-label={t("settings.language")}
        value={i18n.language}
        onChange={(event) => void changeLanguage(event.target.value as Language)}
        className="h-9 min-w-0 flex-1 rounded-control bg-transparent px-1.5 text-sm text-quiet hover:bg-raised"
      >
        {Object.entries(LANGUAGES).map(([code, name]) => (
          <option key={code} value={code}>
            {name}
          </option>
        ))}
      </select>
      <IconButton label={t(`theme.${theme}`)} onClick={() => setTheme(NEXT[theme])}>
        <Icon className="size-4.5" />
      </IconButton>
    </div>
  );
}
