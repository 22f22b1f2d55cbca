/** The tables of docs/reference/ that test runs write. */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../scripts/versions.mjs";

const TABLES = {
  runtimes: {
    title: "Where the package runs",
    text: "We test the package in these runtimes, bundlers and browsers. Each row shows one run of the same checks with the packed tarball. `npm run test:matrix -- package` generates this table. [Bundlers and loading](bundlers.md) lists the settings that bundlers, browsers and test runners need.",
    columns: { runtime: "Runtime", version: "Version", way: "How", result: "Result" },
  },
  behaviour: {
    title: "How the package behaves",
    text: "This page shows how the package behaves where clients often differ. A test of the packed tarball checks each row. `npm test -- package` generates this table. [Use the package](../guides/scripts.md) describes the tasks.",
    columns: { subject: "When", behaviour: "Then", result: "Test" },
  },
};

export function writeTable(name, rows) {
  const { title, text, columns } = TABLES[name];
  const lines = [`# ${title}`, "", text];
  const sections = [...new Set(rows.map(({ section }) => section))];
  for (const section of sections) {
    const ofSection = rows.filter((row) => row.section === section);
    if (section !== undefined) lines.push("", `## ${section}`);
    lines.push("", ...tableOf(columns, ofSection));
  }
  // Another test file may be reading the table.
  const temporary = `${fileOf(name)}.new`;
  writeFileSync(temporary, `${lines.join("\n")}\n`);
  renameSync(temporary, fileOf(name));
}

export function readTable(name) {
  const keys = Object.keys(TABLES[name].columns);
  return readFileSync(fileOf(name), "utf8")
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .map((line) => line.slice(2, -2).split(" | "))
    .map((cells) => Object.fromEntries(keys.map((key, at) => [key, cells[at]])));
}

function fileOf(name) {
  return join(ROOT, "docs", "reference", `${name}.md`);
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
