// Buttons with what may be said next: questions that an agent's service suggests, or the options of its question.
import { useTranslation } from "react-i18next";

import { Button } from "../../components/Button";
import type { ChatState } from "./chatState";
import { suggestionsOf } from "./suggestions";

export function Suggestions({ state, onChoose }: { state: ChatState; onChoose: (text: string) => void }) {
  const { t } = useTranslation();
  const texts = suggestionsOf(state);
  if (texts.length === 0) return null;
  return (
    <div role="group" aria-label={t("chat.suggestions")} className="flex flex-wrap gap-2">
      {texts.map((text) => (
        <Button key={text} small onClick={() => onChoose(text)}>
          {text}
        </Button>
      ))}
    </div>
  );
}
