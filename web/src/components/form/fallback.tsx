// A model, and its fallbacks in order.
import { ArrowDown, ArrowUp, X } from "lucide-react";
import { useTranslation } from "react-i18next";

import type { Model } from "../../api/types";
import { IconButton } from "../Button";
import { Select } from "../Field";
import type { ItemProps } from "./controls";

type Chain = { primary?: string; fallbacks?: string[] };

export function FallbackControl({ control, value, onChange, choices, disabled }: ItemProps) {
  const { t } = useTranslation();
  const { primary = "", fallbacks = [] } = (value ?? {}) as Chain;
  const models = choices.models.filter((model) => model.type === "llm");
  const update = (chain: Chain) => onChange(chain.primary ? { fallbacks: [], ...chain } : undefined);
  const available = models.filter((model) => model.model_id !== primary && !fallbacks.includes(model.model_id));
  return (
    <div className="space-y-2">
      <Select
        {...control}
        value={primary}
        disabled={disabled}
        onChange={(event) =>
          update({ primary: event.target.value, fallbacks: fallbacks.filter((each) => each !== event.target.value) })
        }
      >
        <option value="">{t("form.noModel")}</option>
        <Options models={models} />
      </Select>
      {fallbacks.map((each, index) => (
        <div key={each} className="flex items-center gap-1 pl-4 text-sm">
          <span className="flex-1">
            {t("form.then", { model: models.find((model) => model.model_id === each)?.name ?? each })}
          </span>
          <IconButton
            label={t("common.up")}
            disabled={disabled || index === 0}
            onClick={() => update({ primary, fallbacks: swapped(fallbacks, index, index - 1) })}
          >
            <ArrowUp className="size-4" />
          </IconButton>
          <IconButton
            label={t("common.down")}
            disabled={disabled || index === fallbacks.length - 1}
            onClick={() => update({ primary, fallbacks: swapped(fallbacks, index, index + 1) })}
          >
            <ArrowDown className="size-4" />
          </IconButton>
          <IconButton
            label={t("common.remove")}
            disabled={disabled}
            onClick={() => update({ primary, fallbacks: fallbacks.filter((_, position) => position !== index) })}
          >
            <X className="size-4" />
          </IconButton>
        </div>
      ))}
      {primary && available.length > 0 && !disabled && (
        <Select
          aria-label={t("form.addFallback")}
          value=""
          fits
          className="ml-4 text-sm text-quiet"
          onChange={(event) => update({ primary, fallbacks: [...fallbacks, event.target.value] })}
        >
          <option value="">{t("form.addFallback")}</option>
          <Options models={available} />
        </Select>
      )}
    </div>
  );
}

function Options({ models }: { models: Model[] }) {
  return models.map((model) => (
    <option key={model.model_id} value={model.model_id}>
      {model.name}
    </option>
  ));
}

function swapped<T>(list: T[], from: number, to: number): T[] {
  const copy = [...list];
  [copy[from], copy[to]] = [copy[to]!, copy[from]!];
  return copy;
}
