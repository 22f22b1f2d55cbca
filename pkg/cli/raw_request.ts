/**
 * Sends the requests of `quillgate doctor` that the client would not send, such as unauthenticated
 * ones.
 */

import { checkSecure } from "../base_url.js";
import { explainConnection } from "../connection_failure.js";
import { ConnectionError, RequestTimeoutError } from "../errors.js";
import { exchange } from "../exchange.js";
import { USER_AGENT } from "../generated/protocol.js";
import { UsageError } from "./errors.js";

export interface Answered {
  response: Response;
  body: unknown;
}

export interface SendOptions {
  signal: AbortSignal;
  /** In milliseconds. */
  timeout: number;
  /** @default false */
  allowPlainHttp?: boolean;
}

/**
 * Sends a GET request and returns the response, whatever its status.
 *
 * Does not follow redirects, so that the credential reaches only this URL.
 *
 * @throws {ValidationError} if `headers` contain a credential that others on the network could read
 * @throws {ConnectionError} if there is no response
 * @throws {RequestTimeoutError} if the timeout expires
 * @throws the signal's reason if it aborts
 */
export async function send(
  url: string,
  headers: Record<string, string>,
  { signal, timeout, allowPlainHttp }: SendOptions,
): Promise<Answered> {
  signal.throwIfAborted();
  if (headers.authorization !== undefined) checkSecure(url, allowPlainHttp);
  const init = {
    headers: { accept: "application/json", "user-agent": USER_AGENT, ...headers },
    redirect: "manual" as const,
  };
  const result = await exchange((own) => fetch(url, { ...init, signal: own }), timeout, signal);
  if ("body" in result) return result;
  signal.throwIfAborted();
  const server = new URL(url);
  if (result.expired) {
    const message = `no complete answer from ${server.host} within ${timeout} ms`;
    throw new RequestTimeoutError(message, timeout);
  }
  throw new ConnectionError(explainConnection(result.cause, server), result.cause);
}

/**
 * Appends a path to the gateway's base URL, without the base URL's trailing slashes.
 *
 * @param path starts with `/`
 * @throws {UsageError} if the base URL is not an http or https URL, or has credentials, a query or
 *   a fragment
 */
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

export function toAnalyticsPath(projectId: string, report: string): string {
  return `/v1/analytics/${encodeURIComponent(projectId)}/${report}`;
}
