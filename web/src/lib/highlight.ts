// Splits code into parts that are coloured differently: comments, strings, numbers and keywords.
// Works by families of languages, which is enough for reading; unknown languages stay plain.

export type Part = { kind: "comment" | "text" | "number" | "word" | "plain"; text: string };
type Family = { comment: string; text: string; words: ReadonlySet<string>; anyCase?: boolean };

const LONGEST = 20_000;
const QUOTED = String.raw`"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?`;
const TEMPLATE = "`(?:\\\\.|[^`\\\\])*`?";
const wordSet = (text: string): ReadonlySet<string> => new Set(text.split(" "));

const SLASHES: Family = {
  comment: String.raw`\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)`,
  text: `${QUOTED}|${TEMPLATE}`,
  words: wordSet(
    "abstract as async await break case catch class const continue default defer delete do else enum export extends false final finally fn for from func function go if impl implements import in instanceof interface let match mod mut new nil null override package private protected public return self static struct super switch this throw trait true try type typeof undefined union use val var void while with yield",
  ),
};
const PYTHON: Family = {
  comment: "#[^\\n]*",
  text: String.raw`"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|${QUOTED}`,
  words: wordSet(
    "and as assert async await break case class continue def del elif else except False finally for from global if import in is lambda match None nonlocal not or pass raise return self True try while with yield",
  ),
};
const SHELL: Family = {
  comment: String.raw`(?<=^|\s)#[^\n]*`,
  text: QUOTED,
  words: wordSet(
    "case do done echo elif else end esac exit export false fi for function if in local null return set source then true until while",
  ),
};
const SQL: Family = {
  comment: String.raw`--[^\n]*|\/\*[^]*?(?:\*\/|$)`,
  text: QUOTED,
  anyCase: true,
  words: wordSet(
    "add all alter and as asc between by case constraint create default delete desc distinct drop else end exists false foreign from group having if in index inner insert into is join key left like limit not null on or order outer primary references right select set table then true union unique update using values view when where with",
  ),
};
const FAMILIES: Record<string, Family> = {
  ...byName(
    SLASHES,
    "js javascript jsx ts typescript tsx java kotlin kt c cpp c++ cs csharp go rust rs swift dart scala php css scss json jsonc",
  ),
  ...byName(PYTHON, "py python python3 pyi"),
  ...byName(SHELL, "sh bash zsh shell console yaml yml toml ini dockerfile makefile ruby rb"),
  ...byName(SQL, "sql sqlite postgresql mysql"),
};

function byName(family: Family, names: string): Record<string, Family> {
  return Object.fromEntries(names.split(" ").map((name) => [name, family]));
}

export function highlighted(code: string, language: string): Part[] {
  const family = FAMILIES[language.toLowerCase()];
  if (!family || code.length > LONGEST) return [{ kind: "plain", text: code }];
  const pattern = new RegExp(`(${family.comment})|(${family.text})|(\\b\\d[\\w.]*)|([A-Za-z_]\\w*)`, "g");
  const parts: Part[] = [];
  let end = 0;
  for (const match of code.matchAll(pattern)) {
    add(parts, "plain", code.slice(end, match.index));
    add(parts, kindOf(match, family), match[0]);
    end = match.index + match[0].length;
  }
  add(parts, "plain", code.slice(end));
  return parts;
}

function kindOf([, comment, text, number, word]: RegExpMatchArray, family: Family): Part["kind"] {
  if (comment !== undefined) return "comment";
  if (text !== undefined) return "text";
  if (number !== undefined) return "number";
  return family.words.has(family.anyCase ? word!.toLowerCase() : word!) ? "word" : "plain";
}

function add(parts: Part[], kind: Part["kind"], text: string): void {
  const last = parts.at(-1);
  if (text && last?.kind === kind) last.text += text;
  else if (text) parts.push({ kind, text });
}
