// Joins the names of classes, leaving out what does not hold.
export function classes(...names: (string | false | null | undefined)[]): string {
  return names.filter(Boolean).join(" ");
}
