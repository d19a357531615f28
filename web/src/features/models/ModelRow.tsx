// One model: its abilities, a test, and its settings.
import { useMutation } from "@tanstack/react-query";
import { Pencil } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { answer, api } from "../../api/client";
import type { Model } from "../../api/types";
import { useRights } from "../../app/session";
import { Button, IconButton } from "../../components/Button";
import { DeleteButton } from "../../components/DeleteButton";
import { ErrorMessage } from "../../components/Feedback";
import { Badge } from "../../components/Layout";
import { formatDuration, formatNumber, formatPrice } from "../../lib/format";
import { ModelDialog } from "./ModelDialog";

export function ModelRow({ model, fixed, currency }: { model: Model; fixed: boolean; currency: string }) {
  const { t, i18n } = useTranslation();
  const { edit, operate } = useRights();
  const [editing, setEditing] = useState(false);
  const path = { params: { path: { model_id: model.model_id } } };
  const testing = useMutation({ mutationFn: () => answer(api.POST("/api/v1/models/{model_id}/test", path)) });
  const details = [
    ...(model.context_window
      ? [t("models.window", { tokens: formatNumber(model.context_window, i18n.language) })]
      : []),
    ...model.abilities.map((each) => t(`ability.${each}`)),
    ...(model.prices
      ? [
          t("models.priced", {
            input: formatPrice(model.prices.input, currency),
            output: formatPrice(model.prices.output, currency),
          }),
        ]
      : [t("models.unpriced")]),
  ];
  return (
    <li className="py-3">
      <div className="flex flex-wrap items-center gap-2">
        <div className="min-w-0 flex-1 basis-60">
          <span className="font-medium break-all">{model.name}</span> <Badge>{t(`modelType.${model.type}`)}</Badge>
          <p className="text-sm text-quiet">{details.join(" · ")}</p>
        </div>
        <div className="flex items-center gap-1">
          {operate && (
            <Button
              small
              busy={testing.isPending}
              aria-label={t("models.testName", { name: model.name })}
              onClick={() => testing.mutate()}
            >
              {t("models.test")}
            </Button>
          )}
          {edit && !fixed && (
            <>
              <IconButton label={t("models.edit", { name: model.name })} onClick={() => setEditing(true)}>
                <Pencil className="size-4" />
              </IconButton>
              <DeleteButton
                icon
                label={t("models.delete", { name: model.name })}
                title={t("models.deleteProvider", { name: model.name })}
                text={t("models.deleteText")}
                remove={() => answer(api.DELETE("/api/v1/models/{model_id}", path))}
                stale={["models", "agents"]}
              />
            </>
          )}
        </div>
      </div>
      <div className="mt-2 space-y-2 empty:hidden">
        <ErrorMessage
          error={testing.error ?? (testing.data && !testing.data.ok ? new Error(testing.data.message) : null)}
        />
        {testing.data?.ok && (
          <p role="status" className="rounded-control bg-good-wash px-3.5 py-2 text-sm text-good">
            {testing.data.message.charAt(0).toUpperCase() + testing.data.message.slice(1)}{" "}
            <span className="opacity-80">({formatDuration(testing.data.milliseconds ?? 0)})</span>
          </p>
        )}
      </div>
      <ModelDialog model={model} open={editing} onClose={() => setEditing(false)} />
    </li>
  );
}
