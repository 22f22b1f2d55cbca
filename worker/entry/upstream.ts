/** Requests upstream: the admin key, a deadline, one fallback key, one repetition of a GET. */
import type { Answer, Reply, ReplyRead, Settings } from "./core.js";
import { breakerAllows, breakerState, breakerTold, reading } from "./core.js";

/** How much of an upstream error's body is read for its message. */
const LONGEST_ERROR = 64 * 1024;
/** How much of a success is read where it is kept; a page of 250 rows is some 30 kB. */
const LONGEST_SUCCESS = 1_500_000;

/** A request, without the credential. */
export interface Asked {
  id: string;
  method: "GET" | "POST";
  /** Path and query. */
  target: string;
  body?: string;
  traceparent: string;
}

/** What is known of an exchange with the upstream, for the log and `Server-Timing`. */
export interface Exchange {
  status: number | null;
  milliseconds: number;
  operator: string | null;
}

/** A success, still to be read, or what else became of a request. */
export type Outcome = { exchange: Exchange } & (
  | { response: Response; reading?: undefined }
  | { response?: undefined; reading: ReplyRead }
);

/** A success that was read as JSON, or what else became of a request. */
export type JsonOutcome = { exchange: Exchange; text: string; reading: ReplyRead } & (
  | { json: Record<string, unknown> }
  | { json?: undefined }
);

/**
 * The breaker's state; nothing while nothing fails, so that a healthy upstream costs no call.
 * It is the isolate's: what it has seen is what it judges by.
 */
let breaker: string | undefined;

/** The breaker's state in a word. */
export function breakerWord(): string {
  return breakerState(breaker ?? "", Date.now());
}

/** Whether a GET may be sent once more: a budget counts each attempt. */
export type Again = () => boolean;

/** Sends a request and waits for the head of the answer. A success's body may take its time. */
export async function ask(settings: Settings, asked: Asked, again?: Again): Promise<Outcome> {
  const { outcome, timer } = await attempted(settings, asked, again);
  timer.stop();
  return outcome;
}

/** Sends a request and reads a success as a JSON object, in the same time as its head. */
export async function askJson(
  settings: Settings,
  asked: Asked,
  again?: Again,
): Promise<JsonOutcome> {
  const { outcome, timer } = await attempted(settings, asked, again);
  const { exchange, response } = outcome;
  if (!response) {
    timer.stop();
    return { exchange, text: "", reading: outcome.reading };
  }
  const text = await textOf(response, LONGEST_SUCCESS).finally(timer.stop);
  const json = text === undefined ? undefined : objectOf(text);
  if (json && text) return { exchange, text, json, reading: GOOD };
  return { exchange, text: "", reading: judged(replyOf(asked, response, true), "") };
}

/** What a plain success means. */
const GOOD: ReplyRead = Object.freeze({
  answer: null,
  settled: "store",
  closedFor: null,
  operator: null,
  failure: false,
});

/** What a success means that turns out not to be what was promised. */
export function malformed(asked: Asked): ReplyRead {
  return judged(
    { ...silent(asked, false), status: 200, contentType: JSON_TYPE, malformed: true },
    "",
  );
}

const JSON_TYPE = "application/json";

type Head = Response | "broken" | "timed-out";

/** The time that an exchange may take; what is still going on at its end is broken off. */
class Timer {
  readonly #controller = new AbortController();
  readonly #deadline: number;
  readonly #timeout: ReturnType<typeof setTimeout>;

  constructor(milliseconds: number) {
    this.#deadline = Date.now() + milliseconds;
    this.#timeout = setTimeout(() => this.#controller.abort(), milliseconds);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isOver(): boolean {
    return this.#controller.signal.aborted || Date.now() >= this.#deadline;
  }

  readonly stop = (): void => clearTimeout(this.#timeout);
}

/** Sends a request, perhaps twice, and judges all but a success. The timer is still running. */
async function attempted(
  settings: Settings,
  asked: Asked,
  again?: Again,
): Promise<{ outcome: Outcome; timer: Timer }> {
  const started = Date.now();
  const timer = new Timer(settings.timeout);
  const shut = breakerRefusal(asked);
  if (shut) {
    const exchange = { status: null, milliseconds: 0, operator: null };
    return { outcome: { exchange, reading: refusedReading(shut) }, timer };
  }
  let head = await attempt(settings, asked, timer);
  // Another connection may do better; a time that ran out has none left.
  const repeatable = asked.method === "GET" && mayPass(head) && !timer.isOver;
  if (repeatable && (again?.() ?? true)) {
    await leave(head);
    head = await attempt(settings, asked, timer);
  }
  return { outcome: await outcomeOf(head, asked, started), timer };
}

/** One attempt: with the newest key, and with the one before where that is not accepted. */
async function attempt(settings: Settings, asked: Asked, timer: Timer): Promise<Head> {
  const keys = asked.method === "GET" ? settings.readKeys : settings.writeKeys;
  let head: Head = "broken";
  for (const key of keys) {
    await leave(head);
    head = await send(settings.baseUrl, asked, key, timer);
    // Refused before anything was done, so that a POST may be sent again as well.
    if (!(head instanceof Response) || head.status !== 401) break;
  }
  return head;
}

async function send(baseUrl: string, asked: Asked, key: string, timer: Timer): Promise<Head> {
  const headers: Record<string, string> = {
    accept: JSON_TYPE,
    authorization: `Bearer ${key}`,
    traceparent: asked.traceparent,
    "user-agent": "quillgate/0.1.0",
  };
  if (asked.body !== undefined) headers["content-type"] = JSON_TYPE;
  try {
    return await fetch(baseUrl + asked.target, {
      method: asked.method,
      headers,
      redirect: "manual",
      // Whatever a path may look like, nothing between here and there keeps an answer.
      cache: "no-store",
      signal: timer.signal,
      ...(asked.body === undefined ? {} : { body: asked.body }),
    });
  } catch {
    return timer.signal.aborted ? "timed-out" : "broken";
  }
}

/**
 * Whether a GET is worth one more attempt at once (RFC 9110, section 9.2.2): not when the
 * upstream itself asks to wait.
 */
function mayPass(head: Head): boolean {
  if (!(head instanceof Response)) return head === "broken";
  return [502, 503, 504].includes(head.status) && !head.headers.has("retry-after");
}

async function leave(head: Head): Promise<void> {
  if (head instanceof Response) await head.body?.cancel();
}

async function outcomeOf(head: Head, asked: Asked, started: number): Promise<Outcome> {
  const exchange: Exchange = { status: null, milliseconds: Date.now() - started, operator: null };
  if (!(head instanceof Response)) {
    return { exchange, reading: judged(silent(asked, head === "timed-out"), "") };
  }
  exchange.status = head.status;
  const success = head.ok && isJson(head.headers.get("content-type"));
  if (success) {
    if (breaker !== undefined) tell(true);
    return { exchange, response: head };
  }
  const text = await textOf(head, LONGEST_ERROR);
  const read = judged(replyOf(asked, head, false), text ?? "");
  exchange.operator = read.operator;
  return { exchange, reading: read };
}

function isJson(type: string | null): boolean {
  return type?.split(";", 1)[0]?.trim().toLowerCase() === JSON_TYPE;
}

function silent(asked: Asked, timedOut: boolean): Reply {
  return {
    id: asked.id,
    writes: asked.method === "POST",
    now: Date.now(),
    status: null,
    timedOut,
    contentType: null,
    retryAfter: null,
    requestId: null,
    malformed: false,
  };
}

function replyOf(asked: Asked, { status, headers }: Response, isMalformed: boolean): Reply {
  return {
    ...silent(asked, false),
    status,
    contentType: headers.get("content-type"),
    retryAfter: headers.get("retry-after"),
    requestId: headers.get("x-request-id"),
    malformed: isMalformed,
  };
}

function judged(reply: Reply, body: string): ReplyRead {
  const read = reading(reply, body);
  if (read.failure || breaker !== undefined) tell(!read.failure);
  return read;
}

// --- the breaker -----------------------------------------------------------

function breakerRefusal(asked: Asked): Answer | undefined {
  if (breaker === undefined) return undefined;
  const { state, answer } = breakerAllows(breaker, Date.now(), asked.id);
  breaker = state;
  return answer ?? undefined;
}

function tell(success: boolean): void {
  breaker = breakerTold(breaker ?? "", success, Date.now()) || undefined;
}

/** Nothing was sent: the caller may try again, and nothing is held against the upstream. */
function refusedReading(answer: Answer): ReplyRead {
  return { answer, settled: "forget", closedFor: null, operator: null, failure: false };
}

// --- bodies ----------------------------------------------------------------

/** Reads a body of at most `most` bytes; nothing when it is longer or breaks off. */
async function textOf(response: Response, most: number): Promise<string | undefined> {
  const { headers } = response;
  const announced = Number(headers.get("content-length") ?? Number.NaN);
  try {
    // Of a body that is packed, the length says nothing.
    if (announced <= most && !headers.has("content-encoding")) return await response.text();
    return await shortText(response.body, most);
  } catch {
    return undefined;
  }
}

async function shortText(
  body: ReadableStream<Uint8Array> | null,
  most: number,
): Promise<string | undefined> {
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > most) return undefined;
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function objectOf(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
