/** The gateway's decisions: the wasm module, its calls with their types, and its healing. */
import * as glue from "../build/core/gateway.js";
import module from "../build/core/gateway_bg.wasm";
import type { Env } from "./env.js";

/** A whole answer, as Rust has decided it. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string | null;
  problem?: string | null;
}

/** What the shell needs to know of the configuration. It holds the admin keys. */
export interface Settings {
  baseUrl: string;
  writeKeys: string[];
  readKeys: string[];
  /** Milliseconds to the head of an upstream answer. */
  timeout: number;
  /** The budgets' window, in milliseconds. */
  window: number;
  analyticsLimit: number;
  createLimit: number;
  messageLimit: number;
  /** Milliseconds between two looks at a watched job. */
  poll: number;
  issuers: string[];
  turnstile: { secret: string; verifyUrl: string } | null;
}

/** A question for page views. */
export interface Views {
  /** Path and query without `limit` and `offset`. */
  list: string;
  limit: number;
  offset: number;
  /** Milliseconds for which a page fetched now stays fresh. */
  freshFor: number;
}

/** A token whose signature is to be verified. */
export interface Verify {
  issuer: string;
  jwks: string;
  kid: string;
  algorithm: "RS256" | "ES256";
  signed: string;
  signature: string;
}

/** A request that changes something upstream. */
export interface Write {
  operation: string;
  policy: string;
  limit: number;
  caller: string;
  subject: string;
  share: number | null;
  job: string | null;
  key: string | null;
  fingerprint: string;
  force: boolean;
  target: string;
  body: string;
  line: string;
  webhook: string | null;
  human: Human | null;
}

/** A Turnstile response that is to be checked. */
export interface Human {
  response: string;
  hostname: string;
}

/** The last job of a page of the ledger. */
export interface Before {
  created: number;
  row: number;
}

export type Todo =
  | { do: "answer"; answer: Answer }
  | { do: "deep"; asked: string | null }
  | { do: "describe" }
  | ({ do: "verify" } & Verify)
  | { do: "readBody"; admitted: unknown }
  | { do: "job"; target: string; job: string }
  | { do: "views"; views: Views }
  | { do: "jobs"; limit: number; before: Before | null }
  | { do: "events"; job: string };

/** What is known of a request, and what is to be done. */
export interface Decided {
  id: string;
  headers: Record<string, string>;
  route: string | null;
  project: string | null;
  subject: string | null;
  caller: string | null;
  share: number | null;
  traceId: string;
  traceparent: string;
  todo: Todo;
}

/** A question to a budget: see `worker/src/budget.rs`. */
export interface Ask {
  /** The request's id. */
  id: string;
  policy: string;
  limit: number;
  window: number;
  now: number;
  caller: string;
  share: number | null;
  closedUntil: number | null;
  used: { caller: string; count: number; oldest: number }[];
  claims: { caller: string; count: number }[];
}

export interface Reserved {
  headers: Record<string, string>;
  left: number;
  answer: Answer | null;
  claimUntil: number | null;
}

/** What became of a request upstream. */
export interface Reply {
  id: string;
  writes: boolean;
  now: number;
  status: number | null;
  timedOut: boolean;
  contentType: string | null;
  retryAfter: string | null;
  requestId: string | null;
  malformed: boolean;
}

export interface ReplyRead {
  answer: Answer | null;
  settled: "store" | "unknown" | "forget";
  closedFor: number | null;
  operator: string | null;
  failure: boolean;
}

export interface Stored {
  fingerprint: string;
  state: "running" | "done" | "unknown";
  live: boolean;
  at: number;
  status: number | null;
}

let settings: Settings | { error: string } | undefined;

glue.initSync({ module });

/**
 * Runs one call. A call that traps leaves the module unusable: it is instantiated anew, and
 * since it keeps nothing but the configuration, nothing is lost but this one call.
 */
function call(run: () => string): string {
  try {
    return run();
  } catch (error) {
    if (error instanceof WebAssembly.RuntimeError) {
      glue.__wbg_reset_state();
      settings = undefined;
    }
    throw error;
  }
}

/** Calls that give JSON. */
function told<T>(run: () => string): T {
  return JSON.parse(call(run)) as T;
}

/** Reads the variables, once while the isolate lives. */
export function configured(env: Env): Settings | { error: string } {
  if (settings === undefined) {
    const variables = Object.entries(env).filter(([, value]) => typeof value === "string");
    settings = told(() => glue.configure(JSON.stringify(Object.fromEntries(variables))));
  }
  return settings as Settings | { error: string };
}

/** The settings, where a request can only get with good ones. */
export function settingsOf(env: Env): Settings {
  const known = configured(env);
  if ("error" in known) throw new Error(known.error);
  return known;
}

export function decide(packed: string, now: number, verified: boolean): Decided {
  return told(() => glue.decide(packed, now, verified));
}

export function accept(
  id: string,
  admitted: unknown,
  fields: Record<string, string | null>,
  body: string,
): { write: Write } | { answer: Answer } {
  return told(() => glue.accept(JSON.stringify({ id, admitted, fields }), body));
}

export type Refusal =
  | "invalid-token"
  | "issuer-unavailable"
  | "content-too-large"
  | "malformed-body"
  | "turnstile-failed"
  | "turnstile-unavailable"
  | "gate-unavailable"
  | "gate-unavailable-write"
  | "internal";

export function refuse(kind: Refusal, id: string, detail = ""): Answer {
  return told(() => glue.refuse(kind, detail, id));
}

/** Whether Turnstile's answer says that a person was there, on a page of this host. */
export function turnstilePassed(answer: string, hostname: string): boolean {
  return glue.turnstile_passed(answer, hostname);
}

export function jwk(
  set: string,
  kid: string,
  algorithm: string,
): { key: string | null } | { error: string } {
  return told(() => glue.jwk(set, kid, algorithm));
}

export function reserve(ask: Ask): Reserved {
  return told(() => glue.reserve(JSON.stringify(ask)));
}

export function repeat(asked: {
  id: string;
  stored: Stored | null;
  fingerprint: string;
  force: boolean;
  now: number;
}): { do: "fresh" | "again" | "replay" } | { answer: Answer } {
  return told(() => glue.repeat(JSON.stringify(asked)));
}

export function reading(reply: Reply, body: string): ReplyRead {
  return told(() => glue.reading(JSON.stringify(reply), body));
}

export function breakerAllows(
  state: string,
  now: number,
  id: string,
): { state: string; answer: Answer | null } {
  return told(() => glue.breaker_allows(state, now, id));
}

export function breakerTold(state: string, success: boolean, now: number): string {
  return call(() => glue.breaker_told(state, success, now));
}

export function breakerState(state: string, now: number): string {
  return call(() => glue.breaker_state(state, now));
}

export function isTerminal(status: string): boolean {
  return glue.is_terminal(status);
}

export function cursor(before: Before): string {
  return call(() => glue.cursor(before.created, before.row));
}

export function delivery(
  id: string,
  seconds: number,
  moment: string,
  status: string,
  job: string,
): { body: string; signature: string } {
  return told(() => glue.delivery(id, seconds, moment, status, job));
}

/** The path of a job upstream. */
export function jobTarget(project: string, job: string): string {
  return call(() => glue.job_target(project, job));
}

/** Milliseconds until the next attempt; below zero for none. */
export function nextDelivery(
  attempts: number,
  status: number,
  retryAfter: string,
  jitter: number,
  now: number,
): number {
  return glue.next_delivery(attempts, status, retryAfter, jitter, now);
}
