/** Parses command lines according to the declarations of the commands. */

import { parseArgs } from "node:util";
import type { Command, Option, Values } from "./command.js";
import { UsageError } from "./errors.js";
import { listOptions, SHARED_OPTIONS } from "./shared_options.js";

export type Parsed =
  | { kind: "help"; topic: string; asked: boolean }
  | { kind: "command"; command: Command; arguments: string[]; values: Values };

/**
 * Parses a command line.
 *
 * @throws {UsageError} with the flag's name, but never its value, which could be a secret
 */
export function parse(args: readonly string[], commands: readonly Command[]): Parsed {
  const words = readLeadingWords(args);
  const command = findCommand(words, commands);
  const flags = listFlags(args);
  if (words[0] === "help") {
    return { kind: "help", topic: findTopic(words.slice(1), commands), asked: true };
  }
  if (flags.includes("--help") || flags.includes("-h")) {
    return { kind: "help", topic: command?.name ?? findTopic(words, commands), asked: true };
  }
  if (command === undefined) {
    const advice = ADVICE[words.slice(0, 2).join(" ")];
    if (advice !== undefined) throw new UsageError(advice);
    if (flags.includes("--version") || flags.includes("-v")) return readVersionCommand(commands);
    if (words.length === 0) {
      refuseUnknown(flags);
      return { kind: "help", topic: "", asked: false };
    }
    throw new UsageError(suggest(words, commands));
  }
  for (const [name, { type }] of Object.entries(listOptions(command))) {
    if (type === "switch" && flags.includes(`--${name}`) && flags.includes(`--no-${name}`)) {
      throw new UsageError(`--${name} and --no-${name} contradict each other`);
    }
  }
  return readCommand(command, args);
}

/** Returns the arguments that can be flags: those before `--`. */
export function listFlags(args: readonly string[]): readonly string[] {
  const end = args.indexOf("--");
  return end === -1 ? args : args.slice(0, end);
}

function readVersionCommand(commands: readonly Command[]): Parsed {
  const command = commands.find(({ name }) => name === "version") as Command;
  return { kind: "command", command, arguments: [], values: {} };
}

/** Advice for commands that users may expect but that do not exist. */
const ADVICE: Readonly<Record<string, string>> = {
  "token revoke":
    "a token is revoked at the gateway: put its id (jti) into the JSON list REVOKED_TOKENS, " +
    "by npx wrangler secret put REVOKED_TOKENS",
};

/** Words that {@link parse} accepts instead of a command. */
const KEYWORDS = ["help"];

/**
 * Checks a command line that has only flags.
 *
 * @throws {UsageError} for a flag that is not in {@link SHARED_OPTIONS}
 */
function refuseUnknown(flags: readonly string[]): void {
  const unknown = flags
    .filter((flag) => flag.startsWith("-") && flag !== "-")
    .map((flag) => (flag.startsWith("--") ? flag.replace(/=.*/s, "") : flag.slice(0, 2)))
    .find((flag) => SHARED_OPTIONS[flag.replace(/^--/, "")] === undefined);
  if (unknown !== undefined) throw new UsageError(`there is no flag ${unknown} without a command`);
}

function readCommand(command: Command, args: readonly string[]): Parsed {
  const options = listOptions(command);
  const { values, positionals } = readFlags(command, args);
  const given = positionals.slice(command.name.split(" ").length);
  const required = command.arguments.filter((argument) => argument.required);
  const missing = required[given.length];
  if (missing !== undefined) throw new UsageError(`${missing.name} is missing: ${missing.summary}`);
  if (given.length > command.arguments.length) {
    const count = command.arguments.length;
    const words = ["takes no argument", "takes one argument"][count] ?? `takes ${count} arguments`;
    throw new UsageError(`${command.name} ${words}; quote what has spaces in it`);
  }
  command.arguments.forEach(({ name, choices }, at) => {
    const value = given[at];
    if (value !== undefined && choices !== undefined && !choices.includes(value)) {
      throw new UsageError(`${name} must be one of ${choices.join(", ")}`);
    }
  });
  for (const [name, { choices }] of Object.entries(options)) {
    const value = values[name];
    if (choices !== undefined && typeof value === "string" && !choices.includes(value)) {
      throw new UsageError(`--${name} must be one of ${choices.join(", ")}`);
    }
  }
  return { kind: "command", command, arguments: given, values };
}

function readFlags(
  command: Command,
  args: readonly string[],
): { values: Values; positionals: string[] } {
  const options = listOptions(command);
  const known = Object.fromEntries(
    Object.entries(options).map(([name, { type, default: fallback }]) => [
      name,
      {
        type: type === "switch" ? ("boolean" as const) : ("string" as const),
        multiple: type === "list",
        ...(name === "output" ? { short: "o" } : {}),
        ...(fallback === undefined ? {} : { default: fallback }),
      },
    ]),
  );
  try {
    const { values, positionals } = parseArgs({
      args: joinNegative(args, options),
      options: known,
      allowPositionals: true,
      allowNegative: true,
    });
    // The cast is safe: only flags of the type `list` have arrays, and their items are strings.
    return { values: values as Values, positionals };
  } catch (error) {
    const { code, message } = error as Error & { code?: string };
    const flag = /'(-[^'\s=,]*)/.exec(message)?.[1] ?? "a flag";
    if (code === "ERR_PARSE_ARGS_UNKNOWN_OPTION") {
      const typed = flag.replace(/^-+/, "");
      const longer = Object.keys(options).find((name) => name.startsWith(`${typed}-`));
      const near = findNearest(typed, Object.keys(options)) ?? longer;
      const hint = near === undefined ? "" : `; did you mean --${near}?`;
      throw new UsageError(`${command.name} has no flag ${flag}${hint}`);
    }
    const option = options[flag === "-o" ? "output" : flag.replace(/^-+/, "")];
    if (option === undefined) throw new UsageError(`${flag} is used wrongly`);
    const need = option.type === "switch" ? "takes no value" : `needs a value: ${option.summary}`;
    throw new UsageError(`${flag} ${need}`);
  }
}

/** Joins a flag and a negative number to one argument, because the number would count as a flag. */
function joinNegative(
  args: readonly string[],
  options: Readonly<Record<string, Option>>,
): string[] {
  const joined: string[] = [];
  for (const [at, arg] of args.entries()) {
    const before = args[at - 1] ?? "";
    const type = before.startsWith("--") ? options[before.slice(2)]?.type : undefined;
    if (type === "text" && /^-\d/.test(arg)) joined.push(`${joined.pop()}=${arg}`);
    else joined.push(arg);
  }
  return joined;
}

/**
 * Returns the first words of a command line, at most three, without flags. Recognizes only the
 * values of shared flags, so the value of another flag counts as a word.
 */
export function readLeadingWords(args: readonly string[]): string[] {
  const words: string[] = [];
  for (let at = 0; at < args.length && words.length < 3; at++) {
    const arg = args[at] as string;
    if (arg === "--") break;
    if (!arg.startsWith("-") || arg === "-") {
      words.push(arg);
      continue;
    }
    const option = SHARED_OPTIONS[arg.replace(/^--/, "")];
    if (option !== undefined && option.type !== "switch") at++;
  }
  return words;
}

/** Returns the command at the start of `words`. A name of two words takes precedence. */
export function findCommand(
  words: readonly string[],
  commands: readonly Command[],
): Command | undefined {
  for (const length of [2, 1]) {
    const name = words.slice(0, length).join(" ");
    const found = commands.find((command) => command.name === name);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Returns the topic of a help request: a command, a group, or an empty string for the program.
 *
 * @throws {UsageError} if the words name neither a command nor a group
 */
function findTopic(words: readonly string[], commands: readonly Command[]): string {
  if (words.length === 0 || KEYWORDS.includes(words[0] as string)) return "";
  const command = findCommand(words, commands);
  if (command !== undefined) return command.name;
  const [group] = words;
  if (commands.some(({ name }) => name.startsWith(`${group} `))) return group as string;
  throw new UsageError(suggest(words, commands));
}

function suggest(words: readonly string[], commands: readonly Command[]): string {
  const [first = "", second] = words;
  const inGroup = commands.filter(({ name }) => name.startsWith(`${first} `));
  if (inGroup.length > 0) {
    const names = inGroup.map(({ name }) => name.slice(first.length + 1));
    if (second === undefined) return `${first} needs one of ${names.join(", ")}`;
    const near = findNearest(second, names);
    if (near !== undefined) return writeSuggestion(`${first} ${second}`, `${first} ${near}`);
    return `${first} has no such command; there are ${names.join(", ")}`;
  }
  const names = commands.map(({ name }) => name.split(" ")[0] as string);
  const near = findNearest(first, [...names, ...KEYWORDS]);
  return near === undefined ? "there is no such command" : writeSuggestion(first, near);
}

/** Suggests a command. Quotes the typed words, which resemble a command and so are not a secret. */
function writeSuggestion(typed: string, near: string): string {
  return `there is no command ${typed}; did you mean ${near}?`;
}

/**
 * Returns the most similar name, unless more than a third of the letters differ. One letter may
 * always differ.
 */
function findNearest(word: string, names: readonly string[]): string | undefined {
  let best: string | undefined;
  let least = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const name of names) {
    const distance = measureDistance(word, name);
    if (distance < least) [best, least] = [name, distance];
  }
  return best;
}

/**
 * Returns the edit distance: the number of letters to insert, delete, replace or swap with a
 * neighbour.
 */
function measureDistance(one: string, other: string): number {
  let before: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const same = one[i - 1] === other[j - 1] ? 0 : 1;
      const isSwap = i > 1 && j > 1 && one[i - 2] === other[j - 1] && one[i - 1] === other[j - 2];
      next.push(
        Math.min(
          (row[j] as number) + 1,
          (next[j - 1] as number) + 1,
          (row[j - 1] as number) + same,
          isSwap ? (before[j - 2] as number) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    [before, row] = [row, next];
  }
  return row[other.length] as number;
}
