/** `quillgate doctor`: checks the settings, the credential and the gateway, and suggests fixes. */

import { stat } from "node:fs/promises";
import { isLoopback, isPrivate } from "../base_url.js";
import { explainConnection } from "../connection_failure.js";
import { explainResponse } from "../opaque_failure.js";
import { type RateLimit, readLimits } from "../rate_limit.js";
import { type Context, readSwitch } from "./command.js";
import { showWait } from "./duration.js";
import { UsageError } from "./errors.js";
import { getExitCode } from "./exit_codes.js";
import { GATEWAY_SECRETS } from "./gateway_secrets.js";
import type { Host } from "./host.js";
import { type Answered, type SendOptions, send, toAnalyticsPath, toUrl } from "./raw_request.js";
import { type Credential, readSettings } from "./settings.js";
import { ALLOW_PLAIN_HTTP, allowsPlainHttp } from "./shared_options.js";
import { toLine } from "./table.js";
import { readVersion } from "./version.js";

type Level = "ok" | "warning" | "problem";

interface Finding {
  check: string;
  level: Level;
  /** The observed state, in words. */
  found: string;
  /** The suggested fix; `null` if the check passed. */
  action: string | null;
}

const TIMEOUT_MS = 15_000;
/**
 * The tolerated difference between this machine's clock and the gateway's. The gateway checks a
 * token's times with its own clock.
 */
const MAX_SKEW_S = 30;
/** The doctor warns about a token that expires within this time. */
const EXPIRY_WARNING_S = 3 * 86_400;
const DAY_MS = 86_400_000;
const MIN_NODE = [20, 19] as const;
const COLORS: Record<Level, string> = { ok: "32", warning: "33", problem: "31" };
const WORDS: Record<Level, string> = { ok: "ok", warning: "warning", problem: "PROBLEM" };

/** The flags that need `--live`. */
const LIVE_FLAGS = ["yes", "job", "output"];

export async function run(context: Context): Promise<number> {
  const { output, values } = context;
  if (readSwitch(context, "live")) return (await import("./doctor_live.js")).run(context);
  const misplaced = LIVE_FLAGS.find((name) => values[name] !== undefined);
  if (misplaced !== undefined) throw new UsageError(`--${misplaced} needs --live`);
  const findings: Finding[] = [];
  for await (const finding of examine(context)) {
    findings.push(finding);
    if (!output.json) await output.print(writeFinding(finding, output.hasColor));
  }
  if (output.json) await output.printJson(findings);
  const problems = findings.filter(({ level }) => level === "problem").length;
  if (problems === 0) return getExitCode("ok");
  output.note(`quillgate: ${problems} ${problems === 1 ? "problem" : "problems"}`);
  return getExitCode("findings");
}

async function* examine(context: Context): AsyncGenerator<Finding> {
  const { host } = context;
  yield examineNode();
  let refusal: UsageError | undefined;
  const settings = await readSettings(context, (error) => {
    refusal = error;
  });
  const { projectId, credential } = settings;
  const now = Date.now();
  yield projectId === undefined
    ? problem("project", "is not set", "set QUILLGATE_PROJECT_ID or --project")
    : ok("project", projectId);
  if (refusal !== undefined) yield problem("credential", refusal.message, ASK);
  else yield* examineCredential(credential, projectId, now);
  if (credential?.file !== undefined) yield* examineFile(credential.file, host);
  if (credential?.kind === "adminKey") {
    yield ok("base URL", `${settings.baseUrl ?? "Mintlify's own"}: an admin key needs no gateway`);
    return;
  }
  yield* examineGateway(context, settings);
}

const LOG_IN = "run quillgate login, or set";
const ASK = "ask the operator of the gateway, who creates tokens with quillgate token mint";

function examineNode(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const [leastMajor, leastMinor] = MIN_NODE;
  const found = `quillgate ${readVersion()} on Node ${process.versions.node}`;
  const isOld = major < leastMajor || (major === leastMajor && minor < leastMinor);
  return isOld
    ? problem("versions", found, `install Node ${leastMajor}.${leastMinor} or later`)
    : ok("versions", found);
}

/**
 * Checks the format of the credential and the claims of a token. Only the gateway can verify a
 * token's signature.
 */
function* examineCredential(
  credential: Credential | undefined,
  projectId: string | undefined,
  now: number,
): Generator<Finding> {
  if (credential === undefined) {
    yield problem("credential", "is not set", `${LOG_IN} QUILLGATE_TOKEN or QUILLGATE_TOKEN_FILE`);
    return;
  }
  const { kind, value, source } = credential;
  if (kind === "adminKey") {
    yield value.startsWith("mint_")
      ? ok("credential", `an admin key from ${source}`)
      : problem(
          "credential",
          `${source} does not contain an admin key`,
          "admin keys start with mint_",
        );
    return;
  }
  const claims = readClaims(value);
  if (claims === undefined) {
    const action = `a gateway's token has three parts separated by dots: ${ASK}`;
    yield problem("credential", `${source} does not contain a token`, action);
    return;
  }
  const { sub, scope, projects, exp } = claims;
  yield ok(
    "credential",
    `a token ${sub === undefined ? "without a subject" : `for ${String(sub)}`} from ${source}`,
  );
  yield typeof scope === "string" && scope !== ""
    ? ok("scopes", scope)
    : warning(
        "scopes",
        "the token names none",
        "an issuer's token has those of the gateway's rules",
      );
  if (Array.isArray(projects) && projectId !== undefined && !projects.includes(projectId)) {
    const found = `the token is not for ${projectId}, but for ${projects.join(", ") || "none"}`;
    yield problem("scopes", found, "ask for a token for this project, or set another project");
  }
  yield examineExpiry(exp, now);
}

function examineExpiry(exp: unknown, now: number): Finding {
  if (typeof exp !== "number") return problem("expiry", "the token has none", "ask for another");
  const left = exp - now / 1000;
  const instant = new Date(exp * 1000);
  const when = Number.isNaN(instant.getTime()) ? "never" : instant.toISOString();
  if (left <= 0) return problem("expiry", `the token expired at ${when}`, "ask for another");
  if (left < EXPIRY_WARNING_S)
    return warning("expiry", `the token expires at ${when}`, "ask for another soon");
  return ok("expiry", `the token expires at ${when}`);
}

async function* examineFile(file: string, { env }: Host): AsyncGenerator<Finding> {
  const mode = await stat(file).then(
    (found) => found.mode,
    () => 0,
  );
  if (env.OS === "Windows_NT" || (mode & 0o077) === 0) return;
  yield warning("file", `other users of this machine may read ${file}`, `chmod 600 ${file}`);
}

async function* examineGateway(
  { host, signal }: Context,
  { baseUrl, projectId, credential }: Awaited<ReturnType<typeof readSettings>>,
): AsyncGenerator<Finding> {
  if (baseUrl === undefined) {
    yield problem("base URL", "is not set", `${LOG_IN} QUILLGATE_BASE_URL or --base-url`);
    return;
  }
  const allowPlainHttp = allowsPlainHttp(host);
  const options = { signal, timeout: TIMEOUT_MS, allowPlainHttp };
  const started = Date.now();
  let health: Answered;
  try {
    health = await send(toUrl(baseUrl, "/healthz"), {}, options);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof UsageError) {
      yield problem("base URL", error.message, "set another QUILLGATE_BASE_URL or --base-url");
      return;
    }
    yield examineConnection("base URL", error, baseUrl);
    return;
  }
  const ended = Date.now();
  const { status } = health.response;
  if (!health.response.ok) {
    const { summary, advice } = explainResponse(health.response, health.body) ?? {};
    const found = `${baseUrl}/healthz answers ${status}${summary ? `: ${summary}` : ""}`;
    yield problem("base URL", found, advice ?? "is it a gateway's address?");
    return;
  }
  yield isPrivate(baseUrl)
    ? ok("base URL", `${baseUrl} answers within ${ended - started} ms`)
    : judgePlainHttp(baseUrl, allowPlainHttp);
  yield examineClock(health.response, started, ended, isLoopback(baseUrl));
  yield* examineVersion(baseUrl, options);
  if (credential === undefined || projectId === undefined) return;
  // An earlier check has reported that the token is for another project. Every request would fail.
  if (!mayAccess(credential, projectId)) return;
  if (!isPrivate(baseUrl) && !allowPlainHttp) return;
  yield* examineAccess(baseUrl, projectId, credential, options);
}

function judgePlainHttp(baseUrl: string, isAllowed: boolean): Finding {
  const found = `${baseUrl} is not https`;
  const action = "use the gateway's https address";
  return isAllowed
    ? warning("base URL", `${found}: others on the network can read the token`, action)
    : problem(
        "base URL",
        `${found}: quillgate sends no token to it`,
        `${action}, or in a private network set ${ALLOW_PLAIN_HTTP}=1`,
      );
}

/** Describes a request without a response: an error of {@link send}. */
function examineConnection(check: string, error: unknown, baseUrl: string): Finding {
  const { name, message, cause } = error as Error;
  if (name !== "ConnectionError") return problem(check, message, REACH);
  const { summary, advice } = explainConnection(cause, new URL(baseUrl));
  return problem(check, summary, advice || REACH);
}

const REACH = "check the address, the network and the proxy; `wrangler tail` shows what arrives";

function examineClock(
  { headers }: Response,
  started: number,
  ended: number,
  isOfThisMachine: boolean,
): Finding {
  const told = Date.parse(headers.get("date") ?? "");
  if (Number.isNaN(told)) {
    // `wrangler dev` sends no `Date` field. It uses this machine's clock anyway.
    if (isOfThisMachine) return ok("clock", "not known: a local gateway does not say its time");
    return warning("clock", "the gateway does not say its time", "none needed");
  }
  // `Date` has whole seconds, so the gateway's clock may be up to 999 ms ahead of it.
  const early = (started - (told + 999)) / 1000;
  const late = (told - ended) / 1000;
  const skew = Math.max(0, early, late);
  const found = `this clock is ${Math.round(skew)} s ${early > late ? "ahead" : "behind"}`;
  if (skew > MAX_SKEW_S) {
    return problem("clock", found, "set this machine's clock by a time server (NTP)");
  }
  return ok("clock", skew < 1 ? "it agrees with the gateway's" : found);
}

/**
 * Checks that the gateway and this package have the same major version or, before 1.0, the same
 * minor version. Yields nothing if the gateway's version is unknown.
 */
async function* examineVersion(baseUrl: string, options: SendOptions): AsyncGenerator<Finding> {
  const answered = await send(toUrl(baseUrl, "/openapi.json"), {}, options).catch(() => {
    options.signal.throwIfAborted();
    return undefined;
  });
  const { info } = (answered?.body ?? {}) as { info?: { version?: unknown } };
  if (typeof info?.version !== "string") return;
  const [own, other] = [readVersion(), info.version].map(
    (version) => /^0\.\d+|^\d+/.exec(version)?.[0],
  );
  const found = `the gateway is ${info.version}`;
  yield own === other
    ? ok("versions", found)
    : warning("versions", found, `use one release: npx quillgate@${toLine(info.version)}`);
}

/**
 * Checks that the gateway accepts the token for `jobs:read`, `deployments:read`, `analytics:read` and
 * `gateway:operate`, with one request for each of these scopes that the token has. If it has none,
 * tests `jobs:read`.
 *
 * After `analytics:read`, also checks the archive. Stops after a failure that other requests share.
 */
async function* examineAccess(
  baseUrl: string,
  projectId: string,
  credential: Credential,
  options: SendOptions,
): AsyncGenerator<Finding> {
  const scopes = String(readClaims(credential.value)?.scope ?? "").split(" ");
  const paths: [string, string][] = [
    ["jobs:read", `/v2/agent/${encodeURIComponent(projectId)}/jobs?limit=1`],
    ["deployments:read", `/v1/project/${encodeURIComponent(projectId)}/deployments?limit=1`],
    ["analytics:read", toAnalyticsPath(projectId, "views?limit=1")],
    ["gateway:operate", "/healthz?deep"],
  ];
  const told = new Set<string>();
  const allowed = paths.filter(([scope]) => scopes.includes(scope));
  for (const [scope, path] of allowed.length > 0 ? allowed : paths.slice(0, 1)) {
    // A cached response would not show the current budget.
    const headers = {
      authorization: `Bearer ${credential.value}`,
      "cache-control": "no-cache",
    };
    let answered: Answered;
    try {
      answered = await send(toUrl(baseUrl, path), headers, options);
    } catch (error) {
      options.signal.throwIfAborted();
      yield examineConnection(scope, error, baseUrl);
      return;
    }
    const { response, body } = answered;
    const { status, headers: fields } = response;
    const finding = judge(scope, answered);
    if (status !== 429 && !told.has(finding.found)) yield finding;
    if (finding.level === "problem") told.add(finding.found);
    const [budget] = readLimits(fields);
    if (status === 429 || isSpent(fields)) yield describeSpentBudget(budget, fields);
    else if (budget !== undefined) yield examineBudget(budget);
    // Stop, because the requests for other scopes would fail in the same way.
    if (status === 401 || findMisconfigured(body) !== undefined) return;
    if (scope === "analytics:read" && status !== 403) {
      yield* examineArchive(baseUrl, projectId, headers, options);
    }
  }
}

/** Checks the project's daily archive. The request does not count against the hourly budget. */
async function* examineArchive(
  baseUrl: string,
  projectId: string,
  headers: Record<string, string>,
  options: SendOptions,
): AsyncGenerator<Finding> {
  const path = toAnalyticsPath(projectId, "views/daily/status");
  const answered = await send(toUrl(baseUrl, path), headers, options).catch((error) => {
    options.signal.throwIfAborted();
    return examineConnection("archive", error, baseUrl);
  });
  if ("check" in answered) {
    yield answered;
    return;
  }
  const { response, body } = answered;
  const { status } = response;
  const found = describeAnswer(answered);
  if (response.ok) {
    yield judgeArchive((body ?? {}) as Record<string, unknown>);
  } else if (status === 501 && readDetail(body).includes("d1 migrations apply")) {
    // The archive has a database without tables.
    const where = isLoopback(baseUrl) ? "--local" : "--remote";
    yield problem("archive", found, `npx wrangler d1 migrations apply ARCHIVE ${where}`);
  } else if (status === 501) {
    // The archive is optional. The response names the variable or binding that it needs.
    yield ok("archive", `not available: ${readDetail(body) || "it is not configured"}`);
  } else if (status === 404) {
    yield ok("archive", "not available: the gateway has no such route");
  } else {
    yield problem("archive", found, OPERATOR);
  }
}

function judgeArchive(status: Record<string, unknown>): Finding {
  const { complete, missing, failed, completeAt } = status;
  const days = countDays(missing);
  if (!Number.isSafeInteger(complete) || days === undefined) {
    return warning("archive", "the gateway's response has no number of days", OPERATOR);
  }
  const held = `${complete} ${complete === 1 ? "day" : "days"} held`;
  if (days === 0) return ok("archive", `${held}, none missing`);
  if (Number(failed) > 0) {
    return warning(
      "archive",
      `${held}, ${days} missing`,
      "quillgate archive status lists failures",
    );
  }
  const end = typeof completeAt === "string" ? `, complete at ${completeAt}` : "";
  return ok("archive", `${held}, ${days} missing${end}`);
}

/** Returns the number of days in a list of ranges, or `undefined` if the list is invalid. */
function countDays(ranges: unknown): number | undefined {
  if (!Array.isArray(ranges)) return undefined;
  const lengths = ranges.map(
    (range) => (Date.parse(range?.dateTo) - Date.parse(range?.dateFrom)) / DAY_MS,
  );
  return lengths.some(Number.isNaN) ? undefined : lengths.reduce((sum, days) => sum + days, 0);
}

const OPERATOR = "the operator should look at the gateway's log, and at its /healthz?deep";

function describeAnswer({ response, body }: Answered): string {
  const detail = readDetail(body);
  return `the gateway answers ${response.status}${detail === "" ? "" : `: ${detail}`}`;
}

function readDetail(body: unknown): string {
  return String((body as { detail?: unknown } | null | undefined)?.detail ?? "");
}

function judge(scope: string, answered: Answered): Finding {
  const { response, body } = answered;
  const { status } = response;
  const { type } = (body ?? {}) as { type?: unknown };
  const found = describeAnswer(answered);
  if (response.ok) return ok(scope, "the gateway accepts the token for it");
  if (status === 401) {
    return problem(
      scope,
      found,
      "the token is revoked, expired or of another gateway: ask for another",
    );
  }
  if (String(type).endsWith("/project-not-allowed")) {
    return problem("project", found, "check the project's identifier, or ask for a token for it");
  }
  if (status === 403) return problem(scope, found, `ask for a token with the scope ${scope}`);
  if (status === 404) return problem(scope, found, "check the project's identifier");
  const variable = findMisconfigured(body);
  if (variable === undefined) return problem(scope, found, OPERATOR);
  const action = GATEWAY_SECRETS.includes(variable)
    ? `the operator sets it: npx wrangler secret put ${variable}`
    : `the operator corrects it in [vars] of wrangler.toml, where npm run check finds it, or by npx wrangler secret put ${variable}`;
  return problem(scope, found, action);
}

function examineBudget(budget: RateLimit): Finding {
  const { policy, left, quota } = budget;
  const found = `${policy}: ${left}${quota === null ? "" : ` of ${quota}`} requests left`;
  return left > 0 ? ok("budget", found) : describeSpentBudget(budget);
}

/** Returns whether the gateway responded from its cache because the budget is used up. */
function isSpent(headers: Headers): boolean {
  return /;\s*detail=quota-exceeded\b/.test(headers.get("cache-status") ?? "");
}

function describeSpentBudget(
  budget: RateLimit | undefined,
  headers?: Pick<Headers, "get">,
): Finding {
  const { policy = "analytics", quota = null } = budget ?? {};
  const next = Number(headers?.get("retry-after")) || budget?.next || null;
  const left = quota === null ? "none left" : `0 of ${quota} left`;
  const more = next === null ? "" : `, more in ${showWait(next)}`;
  const action = "wait, or let a report wait by --wait 1h; the whole organization shares them";
  return problem("budget", `${policy}: ${left}${more}`, action);
}

/** Returns `true` unless the token lists its projects and this one is missing. */
function mayAccess({ value }: Credential, projectId: string): boolean {
  const projects = readClaims(value)?.projects;
  return !Array.isArray(projects) || projects.includes(projectId);
}

/** Returns the claims of a token without verifying it, or `undefined` if they cannot be decoded. */
function readClaims(token: string): Record<string, unknown> | undefined {
  const [, payload, ...rest] = token.split(".");
  if (payload === undefined || rest.length !== 1) return undefined;
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, "base64url").toString());
    if (typeof claims !== "object" || claims === null || Array.isArray(claims)) return undefined;
    return { ...claims };
  } catch {
    return undefined;
  }
}

/**
 * Returns the variable that a `misconfigured` problem names, or `undefined` for other responses.
 */
function findMisconfigured(body: unknown): string | undefined {
  const { type, variable } = (body ?? {}) as { type?: unknown; variable?: unknown };
  if (typeof type !== "string" || !type.endsWith("/misconfigured")) return undefined;
  return typeof variable === "string" && /^[A-Z0-9_]+$/.test(variable) ? variable : undefined;
}

function writeFinding({ check, level, found, action }: Finding, colored: boolean): string {
  const word = WORDS[level].padEnd(7);
  const shown = colored ? `\u001b[${COLORS[level]}m${word}\u001b[0m` : word;
  const line = `${shown}  ${toLine(check).padEnd(15)}  ${toLine(found)}`;
  return action === null ? line : `${line}\n${" ".repeat(26)}${toLine(action)}`;
}

function ok(check: string, found: string): Finding {
  return { check, level: "ok", found, action: null };
}

function warning(check: string, found: string, action: string): Finding {
  return { check, level: "warning", found, action };
}

function problem(check: string, found: string, action: string): Finding {
  return { check, level: "problem", found, action };
}
