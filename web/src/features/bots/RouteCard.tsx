// One route: a summary, and its form when it is open.
import { ArrowRight, ChevronDown, GripVertical, Trash2 } from "lucide-react";
import { Collapsible } from "radix-ui";
import { type ComponentProps, useId } from "react";
import { useTranslation } from "react-i18next";

import type { Adapter, HandlerType } from "../../api/types";
import { Button } from "../../components/Button";
import { Field, Input, Select } from "../../components/Field";
import { Badge } from "../../components/Layout";
import { Switch } from "../../components/Switch";
import { classes } from "../../lib/classes";
import { useEventLabel } from "../../lib/useEventLabel";
import { ConditionFields } from "./ConditionFields";
import { summaries } from "./conditions";
import { EventTypeSelect } from "./EventTypeSelect";
import { HANDLER_TYPES, handedTo, HandlerFields, useTarget } from "./HandlerFields";
import { problemOf, type RouteDraft } from "./route";

type Props = {
  route: RouteDraft;
  number: number;
  adapter: Adapter;
  problems: Record<string, string>;
  open: boolean;
  held: boolean;
  disabled: boolean;
  handle: Pick<ComponentProps<"button">, "onPointerDown" | "onKeyDown">;
  onOpen: (open: boolean) => void;
  onChange: (route: RouteDraft) => void;
  onRemove: () => void;
};

export function RouteCard({ route, number, problems, open, held, disabled, handle, onOpen, onChange, ...rest }: Props) {
  const { t } = useTranslation();
  const hasProblems = Object.keys(problems).length > 0;
  return (
    <Collapsible.Root asChild open={open} onOpenChange={onOpen}>
      <li
        className={classes(
          "rounded-card border bg-surface shadow-card",
          hasProblems ? "border-bad" : held ? "border-accent" : "border-line",
          !route.enabled && !open && "opacity-70",
        )}
      >
        <div className="flex items-center gap-1 p-2">
          {!disabled && (
            <button
              type="button"
              aria-label={t("routes.move", { number })}
              title={t("routes.moveHint")}
              className="grid h-9 w-7 shrink-0 cursor-grab touch-none place-items-center rounded-control text-quiet hover:bg-raised active:cursor-grabbing"
              {...handle}
            >
              <GripVertical className="size-4" />
            </button>
          )}
          <Collapsible.Trigger className="group flex min-w-0 flex-1 items-center gap-2 rounded-control px-2 py-1.5 text-left hover:bg-raised">
            <Line route={route} number={number} />
            <ChevronDown
              aria-hidden
              className="ml-auto size-4 shrink-0 text-quiet transition-transform group-data-[state=open]:rotate-180"
            />
          </Collapsible.Trigger>
          <span className="flex px-1.5">
            <Switch
              label={t("routes.enabled", { number })}
              checked={route.enabled}
              disabled={disabled}
              onChange={(enabled) => onChange({ ...route, enabled })}
            />
          </span>
        </div>
        <Collapsible.Content className="border-t border-line p-4">
          <Details route={route} problems={problems} disabled={disabled} onChange={onChange} {...rest} />
        </Collapsible.Content>
      </li>
    </Collapsible.Root>
  );
}

function Line({ route, number }: { route: RouteDraft; number: number }) {
  const { t } = useTranslation();
  const eventLabel = useEventLabel();
  const target = useTarget(route);
  return (
    <span className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-1">
      <span className="sr-only">{t("routes.edit", { number })}</span>
      <span className="font-medium">{eventLabel(route.event_type)}</span>
      {summaries(route.filters).map(({ key, values }) => (
        <Badge key={key}>{t(`condition.${key}`, values)}</Badge>
      ))}
      <span className="flex min-w-0 items-center gap-2">
        <ArrowRight aria-hidden className="size-4 shrink-0 text-quiet" />
        <span className={classes("min-w-0 truncate", route.handler_type === "drop" ? "text-quiet" : "text-accent")}>
          {target}
        </span>
      </span>
      {route.description && <span className="w-full truncate text-sm text-quiet">{route.description}</span>}
    </span>
  );
}

function Details({
  route,
  adapter,
  problems,
  disabled,
  onChange,
  onRemove,
}: Pick<Props, "route" | "adapter" | "problems" | "disabled" | "onChange" | "onRemove">) {
  const { t } = useTranslation();
  const id = useId();
  return (
    <div className="space-y-5">
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label={t("routes.event")} error={problemOf(problems, "event_type")}>
          {(control) => (
            <EventTypeSelect
              control={control}
              value={route.event_type}
              events={adapter.supported_events}
              patterns
              disabled={disabled}
              onChange={(event_type) => onChange({ ...route, event_type })}
            />
          )}
        </Field>
        <Field label={t("routes.handler")}>
          {(control) => (
            <Select
              {...control}
              value={route.handler_type}
              disabled={disabled}
              onChange={(event) => onChange(handedTo(route, event.target.value as HandlerType))}
            >
              {HANDLER_TYPES.map((handler) => (
                <option key={handler} value={handler}>
                  {t(`handler.${handler}`)}
                </option>
              ))}
            </Select>
          )}
        </Field>
      </div>
      <HandlerFields
        key={route.handler_type + id}
        route={route}
        config={route.handler_config}
        problems={problems}
        disabled={disabled}
        onChange={(handler_config) => onChange({ ...route, handler_config })}
      />
      <ConditionFields
        filters={route.filters}
        problems={problems}
        disabled={disabled}
        onChange={(filters) => onChange({ ...route, filters })}
      />
      <div className="flex flex-wrap items-end gap-3 border-t border-line pt-4">
        <div className="min-w-56 flex-1">
          <Field label={t("routes.note")} error={problemOf(problems, "description")}>
            {(control) => (
              <Input
                {...control}
                maxLength={500}
                value={route.description}
                disabled={disabled}
                onChange={(event) => onChange({ ...route, description: event.target.value })}
              />
            )}
          </Field>
        </div>
        {!disabled && (
          <Button weight="danger" onClick={onRemove}>
            <Trash2 aria-hidden className="size-4" /> {t("common.remove")}
          </Button>
        )}
      </div>
    </div>
  );
}
