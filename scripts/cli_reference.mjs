/**
 * `node scripts/cli_reference.mjs`: generates `docs/reference/cli.md` from the declarations of the
 * package's commands. Build the package first.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "./versions.mjs";

export const REFERENCE = join(ROOT, "docs", "reference", "cli.md");
const HEAD = `<!-- Generated from the declarations of the commands (pkg/cli/commands.ts): do not edit.
     node scripts/cli_reference.mjs -->
# Commands

This page lists the \`quillgate\` commands with their flags, and the exit codes. [The command line](../guides/command-line.md) explains
settings, output and interrupted exports. \`quillgate --help\` prints the same texts.

## Exit codes

Scripts can rely on the numbers. [Problems](../problems/README.md) has the exit code of each error of the gateway.
`;

export async function makeReference() {
  const load = (name) => import(new URL(`../pkg/dist/cli/${name}.js`, import.meta.url).href);
  const { COMMANDS } = await load("commands");
  const { EXIT_CODES } = await load("exit_codes");
  const help = await load("help");
  const { COMMON_OPTIONS, CONNECTION_OPTIONS } = await load("shared_options");
  const lines = [
    HEAD,
    ...["| code | meaning |", "| --- | --- |"],
    ...Object.values(EXIT_CODES).map(([code, meaning]) => `| ${code} | ${meaning} |`),
    ...["", "## Flags of every command", ""],
    ...writeFlags(COMMON_OPTIONS, help),
    ...["", "Commands that connect to a gateway or to Mintlify also have these flags:", ""],
    ...writeFlags(CONNECTION_OPTIONS, help),
    ...["", "## Commands", ""],
    ...COMMANDS.flatMap((command) => writeCommand(command, help)),
  ];
  return `${lines.join("\n").trimEnd()}\n`;
}

function writeCommand(command, help) {
  const { name, summary, description = [], arguments: args, options, examples } = command;
  return [
    ...[`### ${name}`, "", "```", `quillgate ${help.writeUsage(command)}`, "```", "", summary, ""],
    ...description.flatMap((paragraph) => [paragraph, ""]),
    ...args.map((argument) => `- \`${argument.name}\`: ${argument.summary}`),
    ...(args.length > 0 ? [""] : []),
    ...(Object.keys(options).length > 0 ? [...writeFlags(options, help), ""] : []),
    "```sh",
    ...examples.flatMap(({ text, line }) => [`# ${text}`, line]),
    ...["```", ""],
  ];
}

function writeFlags(options, { writeOption }) {
  const rows = Object.entries(options).map((option) => {
    const [flag, text] = writeOption(option);
    return `| \`${flag}\` | ${text.replaceAll("|", "\\|")} |`;
  });
  return ["| flag | meaning |", "| --- | --- |", ...rows];
}

if (process.argv[1] === import.meta.filename) {
  await writeFile(REFERENCE, await makeReference());
}
