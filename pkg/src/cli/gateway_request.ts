/** Requests for what only a gateway has, and the client has no method for. */

import { ConnectionError, DecodeError, toApiError, toTimeoutError } from "../errors.js";
import { exchange } from "../exchange.js";
import { USER_AGENT } from "../generated/protocol.js";
import { UsageError } from "./command.js";
import type { GatewaySettings } from "./connection.js";

const TIMEOUT_MS = 60_000;

/** An answer that is JSON, with its head. */
export interface Answered {
  response: Response;
  body: unknown;
}

/**
 * Reads a route of the gateway.
 *
 * @param path what follows the base URL
 * @param query parameters; those that are undefined are left out
 * @returns the parsed body
 */
export async function readRoute(
  { baseUrl, credential }: Pick<GatewaySettings, "baseUrl" | "credential">,
  path: string,
  query: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const headers = { authorization: `Bearer ${credential.value}` };
  const { response, body } = await send(
    `${toUrl(baseUrl, path)}${toQuery(query)}`,
    headers,
    signal,
  );
  if (!response.ok) {
    throw toApiError(response, body, readRetryAfter(response), credential.value);
  }
  if (typeof body !== "object" || body === null) {
    const { headers } = response;
    const requestId = headers.get("x-request-id");
    const what = "is not a JSON object";
    throw new DecodeError(`the body ${what}`, { where: "", what, requestId, headers });
  }
  return body as Record<string, unknown>;
}

/** Sends a GET, whatever its answer is. A redirect is not followed: the credential would go along. */
export async function send(
  url: string,
  headers: Record<string, string>,
  signal: AbortSignal,
  timeout = TIMEOUT_MS,
): Promise<Answered> {
  signal.throwIfAborted();
  const init = {
    headers: { accept: "application/json", "user-agent": USER_AGENT, ...headers },
    redirect: "manual" as const,
  };
  const result = await exchange((own) => fetch(url, { ...init, signal: own }), timeout, signal);
  if ("response" in result) return result;
  signal.throwIfAborted();
  const { host } = new URL(url);
  if (result.expired) throw toTimeoutError(timeout, host);
  throw new ConnectionError(`no answer from ${host}`, { cause: result.cause });
}

/** The address of a path of the gateway. */
export function toUrl(baseUrl: string, path: string): string {
  if (!URL.canParse(baseUrl) || !/^https?:$/.test(new URL(baseUrl).protocol)) {
    throw new UsageError("the base URL must be an address such as https://gate.example");
  }
  const { username, password, search, hash } = new URL(baseUrl);
  if (`${username}${password}${search}${hash}` !== "") {
    throw new UsageError("the base URL must have no credentials, query or fragment");
  }
  return baseUrl.replace(/\/+$/, "") + path;
}

/** The path of a report of a project. */
export function toAnalyticsPath(projectId: string, report: string): string {
  return `/v1/analytics/${encodeURIComponent(projectId)}/${report}`;
}

function toQuery(query: Readonly<Record<string, string | undefined>>): string {
  const pairs = Object.entries(query).filter((pair): pair is [string, string] => pair[1] != null);
  return pairs.length === 0 ? "" : `?${new URLSearchParams(pairs)}`;
}

function readRetryAfter(response: Response): number | null {
  const text = response.headers.get("retry-after");
  return text !== null && /^\d+$/.test(text) ? Number(text) : null;
}
