// The changed lines of files, removed and added ones in their colors.
import { classes } from "../lib/classes";

const colorOf = (line: string) =>
  line.startsWith("+") ? "text-good" : line.startsWith("-") ? "text-bad" : "text-quiet";

export function DiffText({ children }: { children: string }) {
  return (
    <pre
      tabIndex={0}
      className="max-h-96 overflow-auto rounded-control bg-raised p-3 font-mono text-xs leading-relaxed whitespace-pre"
    >
      {children.split("\n").map((line, index) => (
        <span key={index} className={classes("block", colorOf(line))}>
          {line || " "}
        </span>
      ))}
    </pre>
  );
}
