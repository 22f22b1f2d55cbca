/**
 * The browser's session with the gateway. A cookie that scripts cannot read holds the session. This
 * module reads and ends the session, and turns failed responses into errors.
 */
import { fetchGateway, readAnswer } from "../shell/gateway_fetch.ts";
import { recordOf } from "../shell/problem.ts";
import { requestOptions, SESSION, takeAnswerAhead } from "./ask.ts";
import type { Claims } from "./claims.ts";

/** A response that is not 2xx, with the fields that `describeProblem` reads. */
class GatewayError extends Error {
  override readonly name = "GatewayError";
  readonly status: number;
  readonly requestId: string | null;
  readonly problem: Record<string, unknown>;
  readonly code: unknown;
  readonly retryAfter: number | null;

  constructor(response: Response, problem: Record<string, unknown>) {
    super(typeof problem.title === "string" ? problem.title : "the gateway refused");
    this.status = response.status;
    this.requestId = response.headers.get("x-request-id");
    this.problem = problem;
    this.code = problem.type;
    const seconds = Number.parseInt(response.headers.get("retry-after") ?? "", 10);
    this.retryAfter = Number.isNaN(seconds) ? null : seconds;
  }
}

/**
 * Returns the session of the browser's cookie; null without a valid cookie. Rejects if the gateway
 * does not answer, or with any other error.
 */
export async function readSession(): Promise<Claims | null> {
  try {
    const ahead = takeAnswerAhead()?.then(({ response, at }) => readAnswer(response, at));
    return await claimsOf(await take(ahead ?? ask("GET", SESSION)));
  } catch (error) {
    if (error instanceof GatewayError && error.status === 401) return null;
    throw error;
  }
}

/** Makes the gateway end the session, which all tabs share, and delete the cookie. */
export async function deleteSession(): Promise<void> {
  await request("DELETE", SESSION);
}

/** Sends a request about sessions. Throws errors that `describeProblem` understands. */
export async function request(method: string, path: string, body?: object): Promise<Response> {
  return take(ask(method, path, body));
}

function ask(method: string, path: string, body?: object): Promise<Response> {
  return fetchGateway(path, requestOptions(method, body));
}

async function take(answer: Promise<Response>): Promise<Response> {
  const response = await arrived(answer);
  if (response.ok) return response;
  throw new GatewayError(response, recordOf(await response.json().catch(() => null)));
}

async function arrived(answer: Promise<Response>): Promise<Response> {
  try {
    return await answer;
  } catch (cause) {
    const isLate = cause instanceof DOMException && cause.name === "TimeoutError";
    const error = new Error(isLate ? "no answer in 20 s" : "no connection", { cause });
    error.name = isLate ? "RequestTimeoutError" : "ConnectionError";
    throw error;
  }
}

export async function claimsOf(response: Response): Promise<Claims> {
  const claims = recordOf(await response.json());
  const { issuer, subject, projects, archivedProjects, scopes, keepsPrompts, expiresAt } = claims;
  return {
    issuer: typeof issuer === "string" ? issuer : null,
    subject: typeof subject === "string" ? subject : null,
    projects: stringsOf(projects),
    archivedProjects: stringsOf(archivedProjects),
    scopes: stringsOf(scopes),
    keepsPrompts: keepsPrompts === "first-line" ? "first-line" : "whole",
    expiresAt: Number(expiresAt),
  };
}

function stringsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}
