/** The declaration of a command, and access to the values of its flags. */

import type { Host } from "./host.js";
import type { Output } from "./output.js";

export interface Option {
  type: "text" | "switch" | "list";
  /** The placeholder for the value in the help, such as `FILE`. */
  value?: string;
  /** The allowed values. By default, any value is allowed. */
  choices?: readonly string[];
  /** Values for completion. Others are allowed too. */
  suggestions?: readonly string[];
  default?: string;
  /** The environment variable that can replace the flag. Only the documentation uses this. */
  variable?: string;
  summary: string;
}

/** A positional argument of a command. */
export interface Argument {
  name: string;
  required: boolean;
  choices?: readonly string[];
  summary: string;
}

/** An example in a command's help. */
export interface Example {
  /** A description of the command line. */
  text: string;
  /** The command line itself. */
  line: string;
}

/**
 * A command's declaration. The parser, the help, the man page, `docs/reference/cli.md` and the
 * completion scripts derive from it.
 */
export interface Command {
  /** The command as typed: one or two words. */
  name: string;
  /** The operations that the command calls, such as `agentJobs.create`. */
  operations?: readonly string[];
  summary: string;
  /** Further paragraphs of the help. */
  description?: readonly string[];
  /** Whether the command accepts the connection flags and uses the proxy of the environment. */
  connects: boolean;
  arguments: readonly Argument[];
  options: Readonly<Record<string, Option>>;
  examples: readonly Example[];
  /** Loads the implementation on demand, because the help does not need it. */
  load(): Promise<{ run: Run }>;
}

/** Runs a command. Resolves to its exit code; `undefined` means 0. */
export type Run = (context: Context) => Promise<number | undefined>;

/** The values of a command's flags, by name. */
export type Values = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

/** A parsed command line and its environment. */
export interface Context {
  /** Every command of the program. */
  readonly commands: readonly Command[];
  readonly command: Command;
  readonly arguments: readonly string[];
  readonly values: Values;
  readonly host: Host;
  readonly output: Output;
  /** Aborts when the user or the system interrupts the command. The reason is an `Interruption`. */
  readonly signal: AbortSignal;
}

/** Returns the value of a flag that takes a string, or `undefined` if the flag is absent. */
export function readText({ values }: Pick<Context, "values">, name: string): string | undefined {
  const value = values[name];
  return typeof value === "string" ? value : undefined;
}

export function readSwitch({ values }: Pick<Context, "values">, name: string): boolean {
  return values[name] === true;
}

/**
 * Returns `true` for a switch such as `--archive`, `false` for `--no-archive`, and `undefined` if
 * neither is set.
 */
export function readChoice({ values }: Pick<Context, "values">, name: string): boolean | undefined {
  const value = values[name];
  return typeof value === "boolean" ? value : undefined;
}

/** Returns the values of a repeatable flag, or `undefined` if the flag is absent. */
export function readList(
  { values }: Pick<Context, "values">,
  name: string,
): readonly string[] | undefined {
  const value = values[name];
  return typeof value === "object" ? value : undefined;
}
