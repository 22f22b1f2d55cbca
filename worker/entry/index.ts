/** The Worker: what Rust decides about a request is carried out here. */
import description from "../build/core/openapi.json";
import {
  type Answer,
  accept,
  configured,
  type Decided,
  decide,
  refuse,
  settingsOf,
  type Todo,
  type Views,
} from "./core.js";
import { type Env, orgGate, projectGate } from "./env.js";
import { changes, longPoll, waitOf } from "./events.js";
import { verified } from "./identity.js";
import { note } from "./log.js";
import { Memory } from "./memory.js";
import type { ViewsAnswer } from "./org_gate.js";
import type { Report } from "./report.js";
import { checked } from "./turnstile.js";
import { ask } from "./upstream.js";

export { OrgGate } from "./org_gate.js";
export { ProjectGate } from "./project_gate.js";

/** A body is read no further than this; Rust refuses what is larger. */
const LARGEST_BODY = 128 * 1024;

/** Answers that are hot: served without waking the Durable Object. */
const memory = new Memory<ViewsAnswer>();

export default {
  async fetch(request, env): Promise<Response> {
    const started = Date.now();
    try {
      const known = configured(env);
      const { decided, answer, report } = await answered(request, env, started);
      if ("error" in known) report.operator = known.error;
      const response = responseOf(request, decided, answer, report);
      note({ env, decided, status: response.status, problem: problemOf(answer), report, started });
      return response;
    } catch (error) {
      // Where even a decision fails, as when the module traps.
      const id = crypto.randomUUID();
      console.error(JSON.stringify({ requestId: id, status: 500, operator: String(error) }));
      const headers = { ...FAILED_HEADERS, "x-request-id": id };
      return Response.json({ ...FAILED, instance: id }, { status: 500, headers });
    }
  },
} satisfies ExportedHandler<Env>;

/** The problem of `Problem::internal`, for when Rust itself cannot tell it. */
const FAILED = {
  type: "/problems/internal",
  title: "The gateway failed",
  status: 500,
  detail: "the gateway failed; its log says more",
};
const FAILED_HEADERS = {
  "cache-control": "no-store",
  "content-type": "application/problem+json",
  "x-content-type-options": "nosniff",
};

/** What a request was answered with: an {@link Answer}, or a response whose body streams. */
type Given = Answer | Response;

interface Answered {
  decided: Decided;
  answer: Given;
  report: Report;
}

/** A request while it is carried out. */
interface Turn {
  request: Request;
  env: Env;
  decided: Decided;
  report: Report;
}

async function answered(request: Request, env: Env, started: number): Promise<Answered> {
  const packed = packedHead(request);
  const report: Report = {};
  let decided = decide(packed, started, false);
  let answer: Given;
  try {
    if (decided.todo.do === "verify") {
      const refused = await verified(env, decided.id, decided.todo);
      if (refused) return { decided, answer: refused, report };
      decided = decide(packed, started, true);
    }
    answer = await carriedOut({ request, env, decided, report }, decided.todo);
  } catch (error) {
    report.operator = error instanceof Error ? error.message : String(error);
    answer = refuse("internal", decided.id);
  }
  return { decided, answer, report };
}

/** What decides about a request, in the order that `decide` of `bindings.rs` reads it. */
function packedHead({ headers, method, url }: Request): string {
  const field = (name: string) => headers.get(name) ?? "";
  const writes = method === "POST";
  const assertion = field("cf-access-jwt-assertion");
  return [
    crypto.randomUUID(),
    method,
    url,
    field("x-request-id"),
    field("traceparent"),
    field("authorization"),
    assertion,
    field("origin"),
    writes ? field("content-type") : "",
    writes ? field("content-length") : "",
    assertion ? field("sec-fetch-site") : "",
  ].join("\n");
}

async function carriedOut(turn: Turn, todo: Todo): Promise<Given> {
  switch (todo.do) {
    case "answer":
      return todo.answer;
    case "views":
      return await views(turn, todo.views);
    case "job":
      return await job(turn, todo);
    case "readBody":
      return await write(turn, todo.admitted);
    case "jobs":
      return await jobs(turn, todo);
    case "events":
      return await changes(turn.request, gateOf(turn), callOf(turn), todo.job);
    case "describe":
      return ownJson(description);
    case "deep":
      return await health(turn.env, todo.asked);
    case "verify":
      // It was verified, and asked for again: nothing may pass on this way.
      return refuse("internal", turn.decided.id);
  }
}

// --- page views ------------------------------------------------------------

async function views({ request, env, decided, report }: Turn, asked: Views): Promise<Given> {
  const name = `${asked.list} ${asked.limit} ${asked.offset}`;
  const revalidate = isNoCache(request.headers.get("cache-control"));
  const hot = revalidate ? undefined : memory.get(name, Date.now());
  if (hot) {
    report.cache = "hit";
    return cachedAnswer(
      request,
      hot,
      `hit; ttl=${Math.floor((hot.freshUntil - Date.now()) / 1000)}`,
      {},
    );
  }
  const { id, caller, share, traceparent } = decided;
  const call = { id, caller: caller ?? "", share, traceparent, views: asked, revalidate };
  const given = await orgGate(env)
    .views(call)
    .catch(() => undefined);
  if (!given) return refuse("gate-unavailable", id);
  Object.assign(report, given.report);
  if ("answer" in given) return given.answer;
  const answer = given.views;
  report.cache = answer.cache;
  if (Date.now() < answer.freshUntil) {
    memory.set(name, answer, { bytes: answer.body.length, until: answer.freshUntil });
  }
  return cachedAnswer(request, answer, answer.cache, answer.headers);
}

function isNoCache(directives: string | null): boolean {
  return directives !== null && /(^|[\s,])no-cache([\s,]|$)/i.test(directives);
}

function cachedAnswer(
  request: Request,
  { body, etag, fetched, freshUntil }: ViewsAnswer,
  cache: string,
  budget: Record<string, string>,
): Answer {
  const now = Date.now();
  const lifetime = Math.floor((freshUntil - fetched) / 1000);
  const headers = {
    ...budget,
    age: String(Math.max(0, Math.floor((now - fetched) / 1000))),
    "cache-control": now < freshUntil ? `private, max-age=${lifetime}` : "private, no-cache",
    "cache-status": `quillgate; ${cache}`,
    "content-type": "application/json",
    etag,
    vary: "Origin, Authorization",
  };
  if (matches(request.headers.get("if-none-match"), etag)) {
    const { "content-type": _, ...rest } = headers;
    return { status: 304, headers: rest, body: null };
  }
  return { status: 200, headers, body };
}

/** Compares weakly (RFC 9110, section 13.1.2). */
function matches(ifNoneMatch: string | null, etag: string): boolean {
  if (ifNoneMatch === null) return false;
  const tags = ifNoneMatch.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return tags.includes(etag) || ifNoneMatch.trim() === "*";
}

// --- jobs ------------------------------------------------------------------

async function job(
  turn: Turn,
  { target, job: id }: { target: string; job: string },
): Promise<Given> {
  const { request, env, decided, report } = turn;
  const wait = waitOf(request.headers.get("prefer"));
  if (wait !== undefined) return await longPoll(request, gateOf(turn), callOf(turn), id, wait);
  const { traceparent } = decided;
  const asked = { id: decided.id, method: "GET" as const, target, traceparent };
  const outcome = await ask(settingsOf(env), asked);
  report.upstream = outcome.exchange;
  if (outcome.reading) return outcome.reading.answer ?? refuse("internal", decided.id);
  return outcome.response;
}

async function write(turn: Turn, admitted: unknown): Promise<Given> {
  const { request, decided, report } = turn;
  const { id } = decided;
  const body = await bodyOf(request);
  if (body === undefined) return refuse("content-too-large", id);
  if (body === null) return refuse("malformed-body", id);
  const accepted = accept(id, admitted, writeFields(request.headers), body);
  if ("answer" in accepted) return accepted.answer;
  const { human, fingerprint } = accepted.write;
  const refused = human && (await checked(settingsOf(turn.env), human, fingerprint, id));
  if (refused) return refused;
  const done = await gateOf(turn)
    .write(callOf(turn), accepted.write)
    .catch(() => undefined);
  if (!done) return refuse("gate-unavailable-write", id);
  Object.assign(report, done.report);
  return done.answer;
}

function writeFields(headers: Headers): Record<string, string | null> {
  return {
    idempotencyKey: headers.get("idempotency-key"),
    idempotencyRetry: headers.get("idempotency-retry"),
    webhookUrl: headers.get("webhook-url"),
    turnstile: headers.get("cf-turnstile-response"),
  };
}

/** A body as text; `null` for one that broke off or is not UTF-8, nothing for one too long. */
async function bodyOf(request: Request): Promise<string | null | undefined> {
  try {
    const bytes = await bytesOf(request);
    return bytes && new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

async function bytesOf(request: Request): Promise<ArrayBuffer | undefined> {
  // Rust has refused what announces more than it may.
  if (request.headers.has("content-length")) return await request.arrayBuffer();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > LARGEST_BODY) return undefined;
    chunks.push(chunk);
  }
  return await new Blob(chunks).arrayBuffer();
}

async function jobs(
  turn: Turn,
  todo: { limit: number; before: { created: number; row: number } | null },
) {
  const { limit, before } = todo;
  const done = await gateOf(turn)
    .list({ ...callOf(turn), limit, before })
    .catch(() => undefined);
  return done?.answer ?? refuse("gate-unavailable", turn.decided.id);
}

function gateOf({ env, decided }: Turn) {
  return projectGate(env, decided.project ?? "");
}

function callOf({ decided: { id, project, traceparent } }: Turn) {
  return { id, project: project ?? "", traceparent };
}

// --- health ----------------------------------------------------------------

async function health(env: Env, project: string | null): Promise<Answer> {
  const [organisation, gate] = await Promise.all([
    orgGate(env).health(),
    project === null ? undefined : projectGate(env, project).health(),
  ]);
  const open = [organisation.breaker, gate?.breaker].includes("open");
  const { issuers } = settingsOf(env);
  const told = {
    status: open ? "degraded" : "ok",
    organisation,
    project: gate,
    trustedIssuers: issuers,
  };
  return ownJson(JSON.stringify(told));
}

function ownJson(body: string): Answer {
  return { status: 200, headers: { "content-type": "application/json" }, body };
}

// --- answering -------------------------------------------------------------

/** Header fields of the upstream that are passed on with a success. */
const PASSED_ON = ["content-type", "content-language"];

function responseOf(request: Request, decided: Decided, given: Given, report: Report): Response {
  const timing = timingOf(report);
  const always = timing ? { ...decided.headers, "server-timing": timing } : decided.headers;
  if (given instanceof Response) return streamed(given, always);
  const headers = { ...always, ...given.headers };
  const body = request.method === "HEAD" ? null : given.body;
  return new Response(body, { status: given.status, headers });
}

/** A body that streams: the upstream's own, or a job's changes. */
function streamed(response: Response, always: Record<string, string>): Response {
  const headers: Record<string, string> = { ...always };
  for (const name of response.webSocket ? [] : PASSED_ON) {
    const value = response.headers.get(name);
    if (value !== null) headers[name] = value;
  }
  return new Response(response.body, { status: response.status, headers });
}

/** `Server-Timing`: what of the time was the upstream's, in milliseconds. */
function timingOf({ upstream }: Report): string | undefined {
  return upstream && `upstream;dur=${upstream.milliseconds}`;
}

function problemOf(given: Given): string | null {
  return given instanceof Response ? null : (given.problem ?? null);
}
