/** What a command is, and what it is given. */

import type { Output } from "./output.js";

/** A flag of a command. */
export interface Option {
  type: "text" | "switch" | "list";
  /** What stands for its value in help. */
  value?: string;
  /** What its value can be. */
  choices?: readonly string[];
  default?: string;
  /** The variable that says it when no flag does. */
  variable?: string;
  summary: string;
}

/** What a command is given by its place. */
export interface Argument {
  name: string;
  required: boolean;
  choices?: readonly string[];
  summary: string;
}

export interface Example {
  /** What it does. */
  text: string;
  /** As it is typed. */
  line: string;
}

/**
 * A command: how it is parsed, its help, its part of `docs/cli.md` and its completion all follow from
 * this.
 */
export interface Command {
  /** One word or two, as it is typed. */
  name: string;
  summary: string;
  /** What else there is to know, a paragraph each. */
  description?: readonly string[];
  /** Whether it talks to a gateway or the platform, and has the flags that say to which. */
  connects: boolean;
  arguments: readonly Argument[];
  options: Readonly<Record<string, Option>>;
  examples: readonly Example[];
  /** Loads what carries it out, which help does not. */
  load(): Promise<{ run: Run }>;
}

/** Carries out a command, and resolves to its exit code; nothing is 0. */
export type Run = (context: Context) => Promise<number | undefined>;

/** The values of a command's flags, by their names. */
export type Values = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

/** What a command is given. */
export interface Context {
  readonly command: Command;
  readonly arguments: readonly string[];
  readonly values: Values;
  readonly host: Host;
  readonly output: Output;
  /** Aborts when the user wants the command to end; its reason is an `Interruption`. */
  readonly signal: AbortSignal;
}

/** What a program is given by the system: the real one's, or a test's. */
export interface Host {
  env: Readonly<Record<string, string | undefined>>;
  /** The current folder. */
  folder: string;
  /** The user's own folder. */
  home: string;
  stdin: AsyncIterable<Uint8Array | string> & { isTTY?: boolean };
  stdout: Stream;
  stderr: Stream;
  signal: AbortSignal;
}

/** Where a program writes to. */
export interface Stream {
  isTTY?: boolean;
  columns?: number;
  write(data: string | Uint8Array, done?: (error?: Error | null) => void): boolean;
}

/** Why a command ends before it is done: the user, or the system, wants it to. */
export class Interruption extends Error {
  override name = "Interruption";

  /** @param code the exit code, which says by which signal */
  constructor(readonly code: number) {
    super("interrupted");
  }
}

/** Bad use of the command line: the message says which part, and never what a secret could be in. */
export class UsageError extends Error {
  override name = "UsageError";

  /** @param hints what the user can do */
  constructor(
    message: string,
    readonly hints: readonly string[] = [],
  ) {
    super(message);
  }
}

/** The value of a flag that is a text. */
export function readText({ values }: Pick<Context, "values">, name: string): string | undefined {
  const value = values[name];
  return typeof value === "string" ? value : undefined;
}

/** Whether a flag is set. */
export function readSwitch({ values }: Pick<Context, "values">, name: string): boolean {
  return values[name] === true;
}

/** Whether a flag is set, or its opposite `--no-…` is; `undefined` when neither is. */
export function readChoice({ values }: Pick<Context, "values">, name: string): boolean | undefined {
  const value = values[name];
  return typeof value === "boolean" ? value : undefined;
}

/** The values of a flag that may be given several times. */
export function readList(
  { values }: Pick<Context, "values">,
  name: string,
): readonly string[] | undefined {
  const value = values[name];
  return typeof value === "object" ? value : undefined;
}
