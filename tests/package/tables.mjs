/** Tables that a test run writes into docs/, and the one of runtimes into the README too. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../scripts/versions.mjs";

const TABLES = {
  runtimes: {
    title: "Where the package runs",
    text: "Written by `npm test package`. One script of checks is run from the packed tarball in every row.",
    columns: { runtime: "Runtime", version: "Version", way: "By", result: "Result" },
  },
  behaviour: {
    title: "How the package behaves",
    text: "Written by `npm test package`: each row is a test, run from the packed tarball.",
    columns: { subject: "Case", behaviour: "Behaviour", result: "Result" },
  },
};

/**
 * @param {keyof typeof TABLES} name of the file
 * @param {Record<string, string>[]} rows those with a `section` stand below its name
 */
export function writeTable(name, rows) {
  const { title, text, columns } = TABLES[name];
  const lines = [`# ${title}`, "", text];
  const sections = [...new Set(rows.map(({ section }) => section))];
  for (const section of sections) {
    const own = rows.filter((row) => row.section === section);
    if (section !== undefined) lines.push("", `## ${section}`);
    lines.push("", ...tableOf(columns, own));
  }
  writeFileSync(join(ROOT, "docs", `${name}.md`), `${lines.join("\n")}\n`);
  if (name === "runtimes") writeIntoReadme(tableOf(columns, rows).join("\n"));
}

/** Puts the table between the marks that the package's README has for it. */
function writeIntoReadme(table) {
  const file = join(ROOT, "pkg", "README.md");
  const text = readFileSync(file, "utf8");
  const marked = /(<!-- runtimes: written by `npm test package` -->\n)[\s\S]*(<!-- \/runtimes -->)/;
  if (!marked.test(text)) throw new Error("pkg/README.md has no place for the table of runtimes");
  const updated = text.replace(marked, (_, begin, end) => `${begin}\n${table}\n\n${end}`);
  if (updated !== text) writeFileSync(file, updated);
}

function tableOf(columns, rows) {
  const line = (cells) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  const keys = Object.keys(columns);
  return [
    line(Object.values(columns)),
    line(keys.map(() => "---")),
    ...rows.map((row) => line(keys.map((key) => row[key]))),
  ];
}
