// Light, dark, or as the system has it.
import { useState } from "react";

import { keep, kept } from "../lib/keeping";

export type Theme = "light" | "dark" | "system";

export function useTheme(): [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState<Theme>((kept("theme") as Theme | null) ?? "system");
  return [
    theme,
    (chosen) => {
      keep("theme", chosen === "system" ? "" : chosen);
      if (chosen === "system") delete document.documentElement.dataset.theme;
      else document.documentElement.dataset.theme = chosen;
      setTheme(chosen);
    },
  ];
}
