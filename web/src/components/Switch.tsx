// A switch, based on Radix.
import { Switch as Primitive } from "radix-ui";

export function Switch({
  checked,
  onChange,
  label,
  id,
  disabled,
}: {
  checked: boolean;
  onChange: (checked: boolean) => void;
  label?: string;
  id?: string;
  disabled?: boolean;
}) {
  return (
    <Primitive.Root
      id={id}
      aria-label={label}
      checked={checked}
      disabled={disabled}
      onCheckedChange={onChange}
      className="relative h-6 w-10 shrink-0 rounded-full bg-edge/70 transition-colors data-[state=checked]:bg-accent disabled:opacity-50"
    >
      <Primitive.Thumb className="block size-5 translate-x-0.5 rounded-full bg-white shadow transition-transform data-[state=checked]:translate-x-[1.125rem]" />
    </Primitive.Root>
  );
}
