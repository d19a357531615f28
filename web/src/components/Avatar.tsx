// An avatar without a picture: the first letter on a colour that depends on the name.
import { classes } from "../lib/classes";

// red is left out: it means an error
const WASHES = ["bg-accent-wash text-accent", "bg-warn-wash text-warn", "bg-good-wash text-good", "bg-raised text-ink"];

function washOf(name: string): string {
  const sum = [...name].reduce((total, letter) => total + (letter.codePointAt(0) ?? 0), 0);
  return WASHES[sum % WASHES.length]!;
}

export function Avatar({ name }: { name: string }) {
  return (
    <span
      aria-hidden
      className={classes(
        "grid size-10 shrink-0 place-items-center rounded-control text-lg font-semibold select-none",
        washOf(name),
      )}
    >
      {[...name.trim()][0]?.toUpperCase() ?? "·"}
    </span>
  );
}
