// Sizes of files in the units of the user's language.
const UNITS = ["byte", "kilobyte", "megabyte", "gigabyte"] as const;
const STEP = 1024;

export function formatSize(bytes: number, language: string): string {
  let amount = bytes;
  let unit = 0;
  while (amount >= STEP && unit < UNITS.length - 1) {
    amount /= STEP;
    unit += 1;
  }
  const options = {
    style: "unit",
    unit: UNITS[unit],
    unitDisplay: "short",
    maximumFractionDigits: unit ? 1 : 0,
  } as const;
  return new Intl.NumberFormat(language, options).format(amount);
}
