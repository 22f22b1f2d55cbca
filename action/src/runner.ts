/**
 * What the runner of GitHub Actions and a step tell each other: variables, files, and lines of the
 * log that are commands. `@actions/core` does the same, with an HTTP client and half a megabyte of
 * undici behind it; what this action needs of the protocol is the few lines here.
 *
 * https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands
 */

import { randomUUID } from "node:crypto";
import { appendFileSync } from "node:fs";

/** An annotation's severity. */
export type Level = "error" | "warning" | "notice";

/** A step must not run without this: the message says what is missing. */
export class RunnerError extends Error {}

/** The step's side of the runner. */
export class Runner {
  readonly env: NodeJS.ProcessEnv;
  readonly #write: (line: string) => void;
  readonly #secrets = new Set<string>();

  constructor(env: NodeJS.ProcessEnv, write: (line: string) => void) {
    this.env = env;
    this.#write = write;
  }

  /** An input as `action.yml` names it; empty where the workflow gives none. */
  input(name: string): string {
    return this.env[`INPUT_${name.toUpperCase().replaceAll(" ", "_")}`] ?? "";
  }

  /** Whether the workflow is run with debug logs. */
  get isDebug(): boolean {
    return this.env.RUNNER_DEBUG === "1";
  }

  /** Keeps a value out of the log and of every file that is written from now on. */
  mask(secret: string): void {
    if (secret === "" || this.#secrets.has(secret)) return;
    this.#write(`::add-mask::${escapeData(secret)}`);
    this.#secrets.add(secret);
  }

  info(text: string): void {
    this.#write(this.#redact(neutralize(text)));
  }

  debug(text: string): void {
    this.#command("debug", {}, text);
  }

  /** Lines that the log shows folded. */
  group(title: string, lines: readonly string[]): void {
    this.#command("group", {}, title);
    for (const line of lines) this.info(line);
    this.#write("::endgroup::");
  }

  /** A message that the run's page shows. */
  annotate(level: Level, title: string, text: string): void {
    this.#command(level, { title }, text);
  }

  setOutput(name: string, value: string): void {
    const text = this.#redact(value);
    // Random, so that no value can end itself and name another output.
    const delimiter = `quillgate-${randomUUID()}`;
    this.#append("GITHUB_OUTPUT", `${name}<<${delimiter}\n${text}\n${delimiter}\n`);
  }

  /** Adds to the summary that the run's page shows. */
  appendSummary(markdown: string): void {
    this.#append("GITHUB_STEP_SUMMARY", `${this.#redact(markdown)}\n`);
  }

  #append(variable: string, text: string): void {
    const file = this.env[variable];
    if (!file) throw new RunnerError(`${variable} is not set: this runs as a step of a workflow`);
    appendFileSync(file, text);
  }

  #command(name: string, properties: Record<string, string>, text: string): void {
    const pairs = Object.entries(properties).map(([key, value]) => {
      return `${key}=${escapeProperty(this.#redact(value))}`;
    });
    const head = pairs.length > 0 ? `${name} ${pairs.join(",")}` : name;
    this.#write(`::${head}::${escapeData(this.#redact(text))}`);
  }

  #redact(text: string): string {
    let redacted = text;
    for (const secret of this.#secrets) redacted = redacted.replaceAll(secret, "***");
    return redacted;
  }
}

/**
 * Text as one line that commands nothing: the runner obeys a line that begins with `::`, and one
 * that has `##[` anywhere.
 */
function neutralize(text: string): string {
  const line = text.replace(/[\r\n]+/g, " ").replaceAll("##[", "## [");
  return line.trimStart().startsWith("::") ? `· ${line}` : line;
}

function escapeData(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
