/**
 * Talks to the GitHub Actions runner through its variables, files and workflow commands.
 *
 * Replaces `@actions/core`, which would add half a megabyte to the bundle, mostly its HTTP client.
 *
 * https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands
 */

import { randomUUID } from "node:crypto";
import { appendFileSync } from "node:fs";

export type Level = "error" | "warning" | "notice";

/** Thrown when one of the runner's variables is missing. The message names it. */
export class RunnerError extends Error {}

export class Runner {
  readonly env: NodeJS.ProcessEnv;
  readonly #write: (line: string) => void;
  readonly #secrets = new Set<string>();

  constructor(env: NodeJS.ProcessEnv, write: (line: string) => void) {
    this.env = env;
    this.#write = write;
  }

  /**
   * Returns an input by its name in `action.yml`. Returns an empty string if the workflow does not
   * set the input and `action.yml` has no default.
   */
  input(name: string): string {
    return this.env[`INPUT_${name.toUpperCase().replaceAll(" ", "_")}`] ?? "";
  }

  /** Whether debug logging is enabled for the run. */
  get isDebug(): boolean {
    return this.env.RUNNER_DEBUG === "1";
  }

  /** Masks a secret in the log, in outputs and in the summary. */
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

  /** Logs lines as a collapsed group. */
  group(title: string, lines: readonly string[]): void {
    this.#command("group", {}, title);
    for (const line of lines) this.info(line);
    this.#write("::endgroup::");
  }

  /** Adds an annotation to the run's page. */
  annotate(level: Level, title: string, text: string): void {
    this.#command(level, { title }, text);
  }

  setOutput(name: string, value: string): void {
    const text = this.#redact(value);
    // The delimiter is random. Otherwise a value could contain it and set another output.
    const delimiter = `quillgate-${randomUUID()}`;
    this.#append("GITHUB_OUTPUT", `${name}<<${delimiter}\n${text}\n${delimiter}\n`);
  }

  /** Appends to the summary on the run's page. */
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
 * Returns text as one line that the runner does not execute. The runner executes a line that begins
 * with `::` or contains `##[`. It trims spaces that JavaScript does not, such as U+0085, and ignores
 * invisible characters.
 */
function neutralize(text: string): string {
  const line = text.replace(/[\r\n]+/g, " ").replaceAll("##[", "## [");
  return /^[\s\p{C}]*:\p{C}*:/u.test(line) ? `· ${line}` : line;
}

function escapeData(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
