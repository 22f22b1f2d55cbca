/** Runs a command line. */

import { type Context, type Run, readText } from "./command.js";
import { COMMANDS } from "./commands.js";
import { showWait } from "./duration.js";
import { Interruption, UsageError } from "./errors.js";
import { findExitCode, getExitCode } from "./exit_codes.js";
import type { Host } from "./host.js";
import { Output } from "./output.js";
import { findCommand, listFlags, parse, readLeadingWords } from "./parse.js";
import { ALLOW_PLAIN_HTTP } from "./shared_options.js";
import { toLine } from "./table.js";
import { trimVariables } from "./variables.js";
import { disarmOutputs } from "./workflow_commands.js";

/**
 * Runs a command line and resolves to its exit code. Errors are reported, not thrown.
 *
 * @param args the arguments, without the program's name
 */
export async function run(args: readonly string[], given: Host): Promise<number> {
  const disarmed = disarmOutputs(given);
  // These flags also apply to the error of a command line that cannot be parsed.
  const flags = listFlags(args);
  const isFiltered = flags.some((flag) => flag === "--jq" || flag.startsWith("--jq="));
  const options = {
    json: isFiltered || flags.includes("--json"),
    quiet: flags.includes("--quiet"),
  };
  const output = new Output(disarmed, options);
  try {
    // The getters of the host, such as that of stdin, must stay lazy.
    const host: Host = Object.create(disarmed, { env: { value: trimVariables(given.env) } });
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
    const { command, values } = parsed;
    const { signal } = host;
    if (command.connects) await (await import("./proxy.js")).applyProxy(host, output);
    const context: Context = {
      ...parsed,
      commands: COMMANDS,
      command,
      values,
      host,
      output,
      signal,
    };
    const { run: carryOut } = await command.load();
    const filter = readText(context, "jq");
    const work = filter === undefined ? carryOut(context) : runFiltered(carryOut, context, filter);
    return (await raceWithSignal(work, signal)) ?? getExitCode("ok");
  } catch (error) {
    if (isBrokenPipe(error)) return getExitCode("brokenPipe");
    // An interruption can cause other errors, so report the interruption itself.
    return reportError(given.signal.aborted ? given.signal.reason : error, output, args);
  } finally {
    output.setStatus(undefined);
  }
}

/**
 * Runs a command and filters its result with jq. An error of the command takes precedence over an
 * error of jq.
 */
async function runFiltered(
  carryOut: Run,
  context: Context,
  filter: string,
): Promise<number | undefined> {
  if (readText(context, "output") !== undefined) {
    throw new UsageError("--jq cannot be combined with --output");
  }
  const { startJq } = await import("./jq.js");
  const jq = await startJq(filter, context.host);
  context.output.filterWith(jq);
  let code: number | undefined;
  try {
    code = await carryOut(context);
  } catch (error) {
    if (!isBrokenPipe(error)) {
      await jq.end().catch(() => {});
      throw error;
    }
    // jq ended before the command. Its exit code shows if it failed.
  }
  const failure = await jq.end();
  if (failure !== undefined) throw failure;
  return code;
}

/**
 * Waits for a command. After an abort, waits two more seconds and then rejects with the signal's
 * reason, because some work, such as reading stdin, cannot be cancelled.
 */
function raceWithSignal<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const abort = () => {
      timer = setTimeout(() => reject(signal.reason), MAX_END_MS);
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

const MAX_END_MS = 2_000;

/** The properties that an error of the client or of Node.js can have. */
interface Failure {
  name?: string;
  message?: string;
  rule?: string;
  status?: number;
  requestId?: string | null;
  details?: readonly string[];
  /** The response's body, if it is a JSON object. */
  problem?: { type?: unknown; detail?: unknown } | null;
}

function reportError(error: unknown, output: Output, args: readonly string[]): number {
  const code = findExitCode(error);
  const known = error as Failure;
  const message = error instanceof Error ? describe(known, code) : String(error);
  const { type } = known.problem ?? {};
  const isInput = known.name === "ValidationError" || known.status === 400;
  const nameFlags = (text: string) => (isInput ? replaceParameters(text, args) : text);
  output.fail({
    name: known.name ?? "Error",
    message: nameFlags(message),
    exitCode: code,
    status: known.status ?? null,
    type: typeof type === "string" ? type : null,
    requestId: known.requestId ?? null,
    details: (known.details ?? []).map(nameFlags),
    hints: findHints(error, code, args),
  });
  return code;
}

function describe({ message = "", status }: Failure, code: number): string {
  if (message === "") return `it failed with exit code ${code}`;
  // A server's message must stay on one line.
  return status === undefined ? message : toLine(message);
}

/** The flags whose names differ from their parameters. */
const FLAGS: Readonly<Record<string, string>> = {
  baseUrl: "--base-url",
  dateFrom: "--from",
  dateTo: "--to",
};

/** Replaces parameter names in an error with the flags that the user typed. */
function replaceParameters(text: string, args: readonly string[]): string {
  return text.replace(/\b(baseUrl|dateFrom|dateTo)\b/g, (name) => {
    const flag = FLAGS[name] as string;
    const isTyped = args.some((arg) => arg === flag || arg.startsWith(`${flag}=`));
    return isTyped ? flag : name;
  });
}

function findHints(error: unknown, code: number, args: readonly string[]): string[] {
  if (error instanceof Interruption) return [];
  if (error instanceof UsageError) {
    const { hints } = error;
    const command = findCommand(readLeadingWords(args), COMMANDS);
    return [...hints, `see: quillgate ${command === undefined ? "" : `${command.name} `}--help`];
  }
  if ((error as Failure).rule === "secure-base-url") {
    return [`in a private network, allow it with ${ALLOW_PLAIN_HTTP}=1`];
  }
  if (code === getExitCode("budget")) {
    const { retryAfter } = error as { retryAfter?: number | null };
    return retryAfter == null ? [] : [`there are more requests in ${showWait(retryAfter)}`];
  }
  if (isProblem(error as Failure, "idempotency-key-reused")) {
    return ["the key belongs to another request: use another --idempotency-key, or omit it"];
  }
  if (code === getExitCode("notFound") && !namesResource(error, args)) {
    return ["is the base URL the gateway's? to find out: quillgate doctor"];
  }
  if (/^baseUrl must be an absolute/.test((error as Failure).message ?? "")) {
    return ["it starts with http:// or https://, such as http://127.0.0.1:8787"];
  }
  if (code === getExitCode("access") || code === getExitCode("unavailable")) {
    // `doctor` checks stored settings, and a failed login stores none.
    const isLogin = readLeadingWords(args)[0] === "login";
    if (isLogin) return ["nothing was stored: check --base-url, --project and the token"];
    if (explainsItself(error as Failure)) return [];
    return ["to find out why: quillgate doctor"];
  }
  return [];
}

/** Returns whether the response explains the error, so there is no need to suggest `doctor`. */
function explainsItself({ status, problem }: Failure): boolean {
  const { type, detail } = problem ?? {};
  if (typeof detail !== "string" || detail === "") return false;
  if (status === 401) return /\b(expired|revoked)\b/.test(detail);
  // Other statuses can mean a misconfigured gateway. `doctor` shows how to fix that.
  return (status === 403 || status === 501) && typeof type === "string";
}

/** Returns whether the gateway's problem has a type, which is the end of a URL. */
function isProblem({ problem }: Failure, name: string): boolean {
  return typeof problem?.type === "string" && problem.type.endsWith(`/problems/${name}`);
}

/**
 * Returns whether a 404 may mean that the job or the deployment does not exist. For an unknown route,
 * the gateway's code ends in `/not-found`.
 */
function namesResource(error: unknown, args: readonly string[]): boolean {
  const { code } = error as { code?: string | null };
  const command = findCommand(readLeadingWords(args), COMMANDS);
  const takesId = command?.arguments[0]?.name === "ID";
  return takesId && typeof code === "string" && !code.endsWith("/not-found");
}

function isBrokenPipe(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === "EPIPE";
}
