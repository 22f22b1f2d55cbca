/**
 * Verifies the webhooks that a gateway sends when a job or a deployment ends. Works in every runtime with WebCrypto.
 *
 * @module
 */

import { QuillgateError } from "./errors.js";
import { decode, type Mismatch } from "./generated/decoders.js";
import { ownProperties } from "./known.js";
import type { AgentJob, Deployment, Operations, UnknownString } from "./types.js";
import {
  computeHmac,
  decodeKey,
  isEqual,
  parseSignatures,
  signedContent,
} from "./webhook_signature.js";

/** The five minutes that Standard Webhooks recommends. */
const DEFAULT_TOLERANCE = 300_000;

/** The type of an event about a job. */
export type JobEventType =
  | "agent_job.completed"
  | "agent_job.failed"
  | "agent_job.archived"
  | "agent_job.unfinished"
  | "agent_job.not_found";

/** The type of an event about a deployment or a preview. */
export type DeploymentEventType =
  | "deployment.ended"
  | "deployment.unfinished"
  | "deployment.not_found";

/** The type of an event. Types that later gateways add are other strings. */
export type WebhookEventType = JobEventType | DeploymentEventType | (string & {});

interface CommonEvent {
  /** The `webhook-id`. Store it for a few days: the gateway may deliver an event more than once. */
  id: string;
  /** When the event occurred, as an ISO 8601 date-time. */
  timestamp: string;
  /** The id of the project. */
  project: string;
  /** The address of this receiver, with scheme and host in lower case. */
  webhookUrl: string;
}

/** A job has ended, or the gateway no longer watches it. */
export interface JobEvent extends CommonEvent {
  /**
   * `agent_job.completed`, `agent_job.failed` and `agent_job.archived` report the final status.
   * `agent_job.unfinished` means that the gateway stopped watching the job before it finished.
   * `agent_job.not_found` means that Mintlify no longer has the job. Types that later gateways add
   * are other strings.
   */
  type: JobEventType | UnknownString;
  /** The last known state of the job. */
  data: AgentJob;
}

/** A deployment or a preview has ended, or the gateway no longer watches it. */
export interface DeploymentEvent extends CommonEvent {
  /** `deployment.ended` reports a final status. The other types are as those of jobs. */
  type: DeploymentEventType;
  /** Whether the content is live, also after a `failure` of a later step. `null` if it did not end. */
  isLive: boolean | null;
  /** The last known state of the deployment. */
  data: Deployment;
}

/** A verified webhook. `type` tells events about jobs and deployments apart. */
export type WebhookEvent = JobEvent | DeploymentEvent;

/** The headers of a request: `Headers`, or an object such as `request.headers` in Node.js. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** Options of {@link unwrap}. */
export interface UnwrapOptions {
  /**
   * Maximum difference between `webhook-timestamp` and the current time, in milliseconds.
   * @default 300000 (5 minutes)
   */
  tolerance?: number | undefined;
  /**
   * Returns the current time in milliseconds since 1970.
   * @default Date.now
   */
  now?: (() => number) | undefined;
}

/** The rule that a webhook breaks. */
export type WebhookRule =
  /** A key is not base64 of at least 24 bytes. The receiver's configuration is wrong, not the request. */
  | "key"
  /** `webhook-id`, `webhook-timestamp` or `webhook-signature` is missing. */
  | "headers"
  /** `webhook-timestamp` is not an integer of 1 to 15 digits. */
  | "timestamp"
  /** The timestamp is older than the tolerance: the message may be replayed. */
  | "too-old"
  /** The timestamp is further in the future than the tolerance. */
  | "too-new"
  /** No signature matches a key: the message is forged, changed, or signed with another key. */
  | "signature"
  /** The signature is valid, but the body is not an event. */
  | "event";

/**
 * A webhook that is not authentic, or not an event. Respond with 400. If `rule` is `key`, respond
 * with 5xx, so that the gateway repeats the webhook.
 */
export class WebhookVerificationError extends QuillgateError {
  /** The rule that the webhook breaks. */
  readonly rule: WebhookRule;

  static {
    // As in `errors.ts`.
    const name = { value: "WebhookVerificationError", writable: true, configurable: true };
    Object.defineProperty(WebhookVerificationError.prototype, "name", name);
  }

  constructor(message: string, rule: WebhookRule) {
    super(message);
    this.rule = rule;
  }
}

/**
 * Verifies a webhook of the gateway by [Standard Webhooks](https://www.standardwebhooks.com), and
 * returns its event.
 *
 * @param body the request body exactly as received. Parsing and formatting it again breaks the
 *   signature.
 * @param headers `Headers`, or an object such as `request.headers` in Node.js
 * @param key the key of this receiver, which `npx quillgate webhook key` prints, with or
 *   without `whsec_`. Pass several while you rotate keys: one match is enough.
 * @throws {WebhookVerificationError} if the webhook or a key breaks a {@link WebhookRule}
 * @throws {TypeError} if `body` is neither a string nor bytes
 *
 * @example
 * ```ts
 * import { unwrap, WebhookVerificationError } from "quillgate/webhooks";
 *
 * export async function POST(request: Request): Promise<Response> {
 *   try {
 *     const event = await unwrap(await request.text(), request.headers, process.env.WEBHOOK_KEY!);
 *     if (event.type === "deployment.ended") console.log(event.isLive, event.data.summary);
 *     else if (event.type === "agent_job.completed") console.log(event.data.prLink);
 *     return new Response(null, { status: 204 });
 *   } catch (error) {
 *     // With an invalid key, throw: the gateway repeats the webhook after a 5xx.
 *     if (!(error instanceof WebhookVerificationError) || error.rule === "key") throw error;
 *     return new Response(error.rule, { status: 400 });
 *   }
 * }
 * ```
 */
export async function unwrap(
  body: string | ArrayBuffer | Uint8Array,
  headers: WebhookHeaders,
  key: string | readonly string[],
  options: UnwrapOptions = {},
): Promise<WebhookEvent> {
  const keys = [key].flat().map(readKey);
  if (keys.length === 0) throw new WebhookVerificationError("no key was passed", "key");
  const id = readHeader(headers, "webhook-id");
  const timestamp = readHeader(headers, "webhook-timestamp");
  const signatures = parseSignatures(readHeader(headers, "webhook-signature"));
  checkTimestamp(timestamp, options);
  const bytes = toBytes(body);
  const content = signedContent(id, timestamp, bytes);
  const expected = await Promise.all(keys.map((each) => computeHmac(each, content)));
  const isSigned = signatures.some((one) => expected.some((other) => isEqual(one, other)));
  if (!isSigned) {
    throw new WebhookVerificationError("no signature in webhook-signature is valid", "signature");
  }
  return parseEvent(id, bytes);
}

function readKey(key: string): Uint8Array<ArrayBuffer> {
  const decoded = typeof key === "string" ? decodeKey(key) : undefined;
  if (decoded) return decoded;
  throw new WebhookVerificationError(
    "the key must be base64 of at least 24 bytes, such as whsec_…",
    "key",
  );
}

function readHeader(headers: WebhookHeaders, name: string): string {
  const value = findHeader(headers, name);
  if (typeof value === "string" && value !== "") return value;
  throw new WebhookVerificationError(`the header ${name} is missing`, "headers");
}

function findHeader(headers: WebhookHeaders, name: string): unknown {
  if (typeof headers.get === "function") return headers.get(name);
  const entries = Object.entries(headers);
  const value = entries.find(([header]) => header.toLowerCase() === name)?.[1];
  return Array.isArray(value) ? value.join(" ") : value;
}

function checkTimestamp(timestamp: string, options: UnwrapOptions): void {
  const { tolerance = DEFAULT_TOLERANCE, now = Date.now } = ownProperties(options);
  if (!/^\d{1,15}$/.test(timestamp)) {
    throw new WebhookVerificationError("webhook-timestamp must be an integer", "timestamp");
  }
  const age = now() - Number(timestamp) * 1000;
  // A tolerance of NaN must not accept every timestamp.
  if (Math.abs(age) <= tolerance) return;
  const seconds = Math.round(Math.abs(age) / 1000);
  const [direction, rule] =
    age > 0 ? (["old", "too-old"] as const) : (["ahead", "too-new"] as const);
  const message = `webhook-timestamp is ${seconds} s ${direction}, more than ${tolerance / 1000} s`;
  throw new WebhookVerificationError(message, rule);
}

function toBytes(body: string | ArrayBuffer | Uint8Array): Uint8Array {
  if (typeof body === "string") return new TextEncoder().encode(body);
  if (ArrayBuffer.isView(body)) {
    return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  }
  if (Object.prototype.toString.call(body) === "[object ArrayBuffer]") return new Uint8Array(body);
  throw new TypeError("body must be the request body as a string or as bytes, not a parsed object");
}

function parseEvent(id: string, bytes: Uint8Array): WebhookEvent {
  const event = parseObject(bytes);
  const text = (name: string): string => {
    const value = event[name];
    if (typeof value === "string") return value;
    throw new WebhookVerificationError(`the event's ${name} must be a string`, "event");
  };
  const [type, timestamp] = [text("type"), text("timestamp")];
  const [project, webhookUrl] = [text("project"), text("webhookUrl")];
  const common = { id, timestamp, project, webhookUrl };
  if (!isDeployment(type)) {
    const data = decodeData("agentJobs.get", event.data);
    return { ...common, type: type as JobEventType, data };
  }
  const isLive = typeof event.isLive === "boolean" ? event.isLive : null;
  return { ...common, type, isLive, data: decodeData("deployments.get", event.data) };
}

function parseObject(bytes: Uint8Array): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    return Object(parsed);
  } catch {
    throw new WebhookVerificationError("the body must be JSON", "event");
  }
}

function isDeployment(type: string): type is DeploymentEventType {
  return type.startsWith("deployment.");
}

function decodeData<Name extends "agentJobs.get" | "deployments.get">(
  operation: Name,
  data: unknown,
): Operations[Name]["result"] {
  try {
    return decode(operation, data) as Operations[Name]["result"];
  } catch (error) {
    const { path, reason } = error as Mismatch;
    const field = path === "" ? "data" : `data.${path}`;
    throw new WebhookVerificationError(`the event's ${field} ${reason}`, "event");
  }
}
