// A select of event types with their labels.
import { type ControlProps, Select } from "../../components/Field";
import { useEventLabel } from "../../lib/useEventLabel";

const PATTERNS = ["message.*", "group.*", "friend.*", "bot.*", "*"];

/** `events` are those that the adapter can receive; `patterns` offers families of events too. */
export function EventTypeSelect({
  control,
  value,
  events,
  patterns,
  disabled,
  onChange,
}: {
  control: ControlProps;
  value: string;
  events: string[];
  patterns?: boolean;
  disabled?: boolean;
  onChange: (type: string) => void;
}) {
  const eventLabel = useEventLabel();
  const single = events.filter((each) => patterns || !each.includes("*"));
  const families = patterns
    ? PATTERNS.filter((pattern) => pattern === "*" || events.some((each) => each.startsWith(pattern.slice(0, -1))))
    : [];
  const choices = [...new Set([...single, ...families, value])];
  return (
    <Select {...control} value={value} disabled={disabled} onChange={(event) => onChange(event.target.value)}>
      {choices.map((type) => (
        <option key={type} value={type}>
          {eventLabel(type)}
        </option>
      ))}
    </Select>
  );
}
