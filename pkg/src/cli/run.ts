/** Runs a command line. */

import { findCause } from "./cause.js";
import { type Context, type Host, Interruption, UsageError } from "./command.js";
import { COMMANDS } from "./commands.js";
import { showWait } from "./duration.js";
import { findExitCode, getExitCode } from "./exit_codes.js";
import { Output } from "./output.js";
import { parse } from "./parse.js";
import { toLine } from "./table.js";

/**
 * Runs a command line, and resolves to its exit code.
 *
 * @param args without the program's own name
 */
export async function run(args: readonly string[], host: Host): Promise<number> {
  // Of a command line that cannot be read, these two are still used.
  const options = { json: args.includes("--json"), quiet: args.includes("--quiet") };
  const output = new Output(host, options);
  try {
    const parsed = parse(args, COMMANDS);
    if (parsed.kind === "help") {
      const { writeHelp } = await import("./help.js");
      const help = writeHelp(parsed.topic, COMMANDS);
      if (parsed.asked) {
        await output.write(help);
        return getExitCode("ok");
      }
      if (output.json) throw new UsageError("there is no command");
      output.draw(help);
      return getExitCode("usage");
    }
    if (parsed.kind === "version") {
      const { readVersion } = await import("./version.js");
      await output.print(readVersion());
      return getExitCode("ok");
    }
    const { command, values } = parsed;
    const { signal } = host;
    const context: Context = { ...parsed, command, values, host, output, signal };
    const { run: carryOut } = await command.load();
    return (await raceWithSignal(carryOut(context), signal)) ?? getExitCode("ok");
  } catch (error) {
    if (isBrokenPipe(error)) return getExitCode("brokenPipe");
    // Whatever an interruption makes fail, it is the reason.
    return reportError(host.signal.aborted ? host.signal.reason : error, output, args);
  } finally {
    output.setStatus(undefined);
  }
}

/**
 * What a command comes to, or the signal's reason. A command that has heard the signal gets the time
 * to end in order first; one that waits for what cannot be taken back, such as standard input, is left.
 */
function raceWithSignal<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const abort = () => {
      timer = setTimeout(() => reject(signal.reason), LONGEST_END_MS);
    };
    signal.addEventListener("abort", abort);
    if (signal.aborted) abort();
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
    };
    work.finally(end).then(resolve, reject);
  });
}

const LONGEST_END_MS = 2_000;

/** What the errors of the client say, beside those of the host. */
interface Failure {
  name?: string;
  message?: string;
  status?: number;
  requestId?: string | null;
  details?: readonly string[];
  /** The body of an answer that is a problem. */
  problem?: { type?: unknown; detail?: unknown } | null;
  cause?: unknown;
}

function reportError(error: unknown, output: Output, args: readonly string[]): number {
  const code = findExitCode(error);
  const known = error as Failure;
  const message = error instanceof Error ? describe(known, code) : String(error);
  const isInput = known.name === "ValidationError" || known.status === 400;
  const nameFlags = (text: string) => (isInput ? replaceParameters(text, args) : text);
  output.fail({
    name: known.name ?? "Error",
    message: nameFlags(message),
    exitCode: code,
    status: known.status ?? null,
    requestId: known.requestId ?? null,
    details: (known.details ?? []).map(nameFlags),
    hints: findHints(error, code, args),
  });
  return code;
}

function describe({ message = "", cause, name, status }: Failure, code: number): string {
  if (name === "ConnectionError" && cause !== undefined) {
    return `${message} (${findCause(cause)})`;
  }
  if (message === "") return `it failed with exit code ${code}`;
  // A server's words do not begin lines of their own.
  return status === undefined ? message : toLine(message);
}

/** The parameters that a flag with another name sets. */
const FLAGS: Readonly<Record<string, string>> = { dateFrom: "--from", dateTo: "--to" };

/** Replaces the names of parameters in an error with the flags that were typed. */
function replaceParameters(text: string, args: readonly string[]): string {
  return text.replace(/\bdate(From|To)\b/g, (name) => {
    const flag = FLAGS[name] as string;
    const isTyped = args.some((arg) => arg === flag || arg.startsWith(`${flag}=`));
    return isTyped ? flag : name;
  });
}

function findHints(error: unknown, code: number, args: readonly string[]): string[] {
  if (error instanceof Interruption) return [];
  if (error instanceof UsageError) {
    const { hints } = error;
    const words = args.filter((arg) => /^[a-z]+$/.test(arg)).slice(0, 2);
    const command = COMMANDS.find(({ name }) => name === words.join(" ") || name === words[0]);
    return [...hints, `see: quillgate ${command === undefined ? "" : `${command.name} `}--help`];
  }
  if (code === getExitCode("budget")) {
    const { retryAfter } = error as { retryAfter?: number | null };
    return retryAfter == null ? [] : [`there are more requests in ${showWait(retryAfter)}`];
  }
  if ((error as Failure).status === 422) {
    return ["the key stands for another request: give another --idempotency-key, or none"];
  }
  if (code === getExitCode("notFound") && !namesJob(error, args)) {
    return ["is the base URL the gateway's? to find out: quillgate doctor"];
  }
  if (code === getExitCode("access") || code === getExitCode("unavailable")) {
    if (explainsItself(error as Failure)) return [];
    return ["to find out why: quillgate doctor"];
  }
  return [];
}

/** Whether a gateway's answer already says why: the doctor could say no more. */
function explainsItself({ status, problem }: Failure): boolean {
  const { type, detail } = problem ?? {};
  if (typeof detail !== "string" || detail === "") return false;
  if (status === 401) return /\b(expired|revoked)\b/.test(detail);
  // What is misconfigured, the doctor knows how to correct.
  return (status === 403 || status === 501) && typeof type === "string";
}

/** Whether a 404 can mean a job: of a command that names one, and not as a gateway says that a path is none. */
function namesJob(error: unknown, args: readonly string[]): boolean {
  const { code } = error as { code?: string | null };
  const isNamed = args.includes("watch") || args.includes("message");
  return isNamed && typeof code === "string" && !code.endsWith("/not-found");
}

function isBrokenPipe(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === "EPIPE";
}
