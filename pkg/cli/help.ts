/** Formats the help. The man page and `docs/reference/cli.md` share its descriptions of flags. */

import type { Command, Option } from "./command.js";
import { COMMON_OPTIONS, listOptions } from "./shared_options.js";

const WIDTH = 80;

/** Returns the help of a command such as `job list` or a group such as `job`; `""` is the program. */
export function writeHelp(topic: string, commands: readonly Command[]): string {
  const command = commands.find(({ name }) => name === topic);
  if (command !== undefined) return writeCommandHelp(command);
  const shown = commands.filter(({ name }) => topic === "" || name.startsWith(`${topic} `));
  return [
    `usage: quillgate ${topic === "" ? "COMMAND" : `${topic} COMMAND`} [FLAGS]`,
    "",
    ...writeList(shown.map(({ name, summary }) => [name, summary])),
    "",
    ...writeList(Object.entries(COMMON_OPTIONS).map(writeOption)),
    ...(topic === "" ? writeList([["-v, --version", "Print the version."]]) : []),
    "",
    "Run quillgate COMMAND --help for details. Settings come from flags, QUILLGATE_* variables, a",
    "settings file or a profile, in that order. No flag takes a secret.",
    "",
  ].join("\n");
}

function writeCommandHelp(command: Command): string {
  const { arguments: args, description = [], examples } = command;
  return [
    `usage: quillgate ${writeUsage(command)}`,
    "",
    ...wrap(command.summary, WIDTH),
    ...description.flatMap((paragraph) => ["", ...wrap(paragraph, WIDTH)]),
    ...(args.length > 0 ? [""] : []),
    ...writeList(args.map(({ name, summary }) => [name, summary])),
    "",
    ...writeList(Object.entries(listOptions(command)).map(writeOption)),
    "",
    ...examples.flatMap(({ text, line }) => [`${text}:`, `  ${line}`]),
    "",
  ].join("\n");
}

/** Returns the usage of a command, such as `job watch ID [FLAGS]`. */
export function writeUsage({ name, arguments: args }: Command): string {
  const words = args.map((argument) => (argument.required ? argument.name : `[${argument.name}]`));
  return [name, ...words, "[FLAGS]"].join(" ");
}

/** Returns a flag with its placeholder, such as `--rows N`, and its description. */
export function writeOption([name, option]: [string, Option]): [string, string] {
  const { value, variable, choices, default: fallback, type, summary } = option;
  const notes = [
    choices === undefined ? "" : `One of ${choices.join(", ")}.`,
    fallback === undefined ? "" : `Default: ${fallback}.`,
    variable === undefined ? "" : `Or ${variable}.`,
    type === "list" && !summary.includes("several times") ? "May be given several times." : "",
  ];
  const flag = name === "output" ? "-o, --output" : `--${name}`;
  return [
    value === undefined ? flag : `${flag} ${value}`,
    [summary, ...notes].filter(Boolean).join(" "),
  ];
}

function writeList(entries: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(16, ...entries.map(([name]) => name.length));
  return entries.flatMap(([name, text]) => {
    const [first = "", ...rest] = wrap(text, WIDTH - width - 4);
    return [
      `  ${name.padEnd(width)}  ${first}`,
      ...rest.map((line) => " ".repeat(width + 4) + line),
    ];
  });
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}
