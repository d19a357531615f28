// Instructions for a model: one text, or messages with roles.
import { useTranslation } from "react-i18next";

import { Button } from "../Button";
import { Select, TextArea } from "../Field";
import type { ItemProps } from "./controls";

type Message = { role: string; content: string };

const ROLES = ["system", "user", "assistant"];

export function PromptControl(props: ItemProps) {
  if (Array.isArray(props.value)) return <Messages {...props} messages={props.value as Message[]} />;
  const value = typeof props.value === "string" ? props.value : "";
  return (
    <TextArea
      {...props.control}
      rows={6}
      value={value}
      disabled={props.disabled}
      onChange={(event) => props.onChange(event.target.value)}
    />
  );
}

function Messages({ control, messages, onChange, disabled }: ItemProps & { messages: Message[] }) {
  const { t } = useTranslation();
  const replace = (index: number, message: Message) =>
    onChange(messages.map((each, position) => (position === index ? message : each)));
  return (
    <div id={control.id} role="group" className="space-y-3">
      {messages.map((message, index) => (
        <div key={index} className="space-y-1.5">
          <div className="flex gap-2">
            <Select
              aria-label={t("form.role")}
              className="max-w-40"
              value={message.role}
              disabled={disabled}
              onChange={(event) => replace(index, { ...message, role: event.target.value })}
            >
              {ROLES.map((role) => (
                <option key={role}>{role}</option>
              ))}
            </Select>
            <Button disabled={disabled} onClick={() => onChange(messages.filter((_, position) => position !== index))}>
              {t("common.remove")}
            </Button>
          </div>
          <TextArea
            aria-label={t("form.content")}
            rows={3}
            value={message.content}
            disabled={disabled}
            onChange={(event) => replace(index, { ...message, content: event.target.value })}
          />
        </div>
      ))}
      <Button small disabled={disabled} onClick={() => onChange([...messages, { role: "user", content: "" }])}>
        {t("form.addMessage")}
      </Button>
    </div>
  );
}
