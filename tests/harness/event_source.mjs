/**
 * Server-Sent Events over a connection of one's own: what a browser's `EventSource` hides (status,
 * comments, how the stream ended) can be seen, and the connection can be cut at any moment.
 */
import { request } from "node:http";

/**
 * @typedef {object} ServerEvent
 * @property {string} type `message` unless the stream says otherwise
 * @property {string} data
 * @property {string} lastEventId that of this event, or of an earlier one
 * @property {number} at when it was complete, in milliseconds, by the monotonic clock
 */

/** Reads an event stream as the HTML standard has it (section 9.2.6). */
export class EventStreamParser {
  #decoder = new TextDecoder();
  #line = "";
  #afterCr = false;
  #data = [];
  #type = "";
  #id = "";
  #on;
  /** The id that a reconnect would send. */
  lastEventId = "";

  /**
   * @param {{ event?: (event: { type: string, data: string, lastEventId: string }) => void,
   *   comment?: (text: string) => void, retry?: (ms: number) => void }} on
   */
  constructor(on = {}) {
    this.#on = on;
  }

  /** Takes the next bytes, wherever they are cut. @param {Uint8Array} bytes */
  push(bytes) {
    for (const character of this.#decoder.decode(bytes, { stream: true })) this.#take(character);
  }

  #take(character) {
    const endsCrLf = this.#afterCr && character === "\n";
    this.#afterCr = character === "\r";
    if (endsCrLf) return;
    if (character === "\r" || character === "\n") this.#endLine();
    else this.#line += character;
  }

  #endLine() {
    const line = this.#line;
    this.#line = "";
    if (line === "") return this.#dispatch();
    const colon = line.indexOf(":");
    if (colon === 0) return this.#on.comment?.(line.slice(1));
    if (colon < 0) return this.#field(line, "");
    return this.#field(line.slice(0, colon), line.slice(colon + 1).replace(/^ /, ""));
  }

  #field(name, value) {
    if (name === "data") this.#data.push(value);
    else if (name === "event") this.#type = value;
    else if (name === "id" && !value.includes("\0")) this.#id = value;
    else if (name === "retry" && /^[0-9]+$/.test(value)) this.#on.retry?.(Number(value));
  }

  #dispatch() {
    this.lastEventId = this.#id;
    const [data, type] = [this.#data, this.#type];
    this.#data = [];
    this.#type = "";
    if (data.length === 0) return;
    this.#on.event?.({
      type: type || "message",
      data: data.join("\n"),
      lastEventId: this.lastEventId,
    });
  }
}

/**
 * @typedef {object} StreamOptions
 * @property {Record<string, string>} [headers]
 * @property {string} [lastEventId] sent as `Last-Event-ID`
 * @property {string} [method]
 */

/**
 * Opens a stream on a connection of its own.
 *
 * @param {string} url of http
 * @param {StreamOptions} [options]
 */
export function openEventStream(url, options) {
  return new EventStream(url, options);
}

class EventStream {
  #request;
  #watchers = new Set();
  #end;
  #failure;
  /** @type {ServerEvent[]} */
  events = [];
  /** Comments, without the colon. @type {{ text: string, at: number }[]} */
  comments = [];
  /** The last `retry` in milliseconds. @type {number | undefined} */
  retry;
  /** Everything received of the body, also when it is no event stream. */
  text = "";
  /** Of the answer, once it is there. @type {number | undefined} */
  status;
  /** @type {import("node:http").IncomingHttpHeaders | undefined} */
  headers;
  /** Resolves with this when the answer's head is there; rejects when none comes. */
  opened;
  /**
   * How it ended, once it has: `clean` (with its last chunk), `cut` (without), `left` (by us),
   * `failed` (no answer came).
   *
   * @type {Promise<"clean" | "cut" | "left" | "failed">}
   */
  ended;

  constructor(url, { headers = {}, lastEventId, method = "GET" } = {}) {
    const decoder = new TextDecoder();
    this.parser = new EventStreamParser({
      event: (event) => this.events.push({ ...event, at: performance.now() }),
      comment: (text) => this.comments.push({ text, at: performance.now() }),
      retry: (ms) => {
        this.retry = ms;
      },
    });
    const resume = lastEventId === undefined ? {} : { "last-event-id": lastEventId };
    const fields = { accept: "text/event-stream", ...resume, ...headers };
    // No pool: as many connections as are asked for, and each ends with its stream.
    this.#request = request(url, { method, headers: fields, agent: false });
    this.ended = new Promise((resolve) => {
      this.#end = (how) => {
        this.how ??= how;
        resolve(this.how);
        this.#look();
      };
    });
    this.opened = new Promise((resolve, reject) => {
      this.#request.on("error", (error) => {
        this.#failure = error;
        reject(error);
        this.#end(this.status === undefined ? "failed" : "cut");
      });
      this.#request.on("response", (response) => {
        this.#follow(response, decoder);
        resolve(this);
      });
    });
    this.opened.catch(() => {});
    this.#request.end();
  }

  #follow(response, decoder) {
    this.status = response.statusCode;
    this.headers = response.headers;
    response.on("data", (bytes) => {
      this.text += decoder.decode(bytes, { stream: true });
      this.parser.push(bytes);
      this.#look();
    });
    response.on("error", () => {});
    response.on("close", () => this.#end(response.complete ? "clean" : "cut"));
    this.#look();
  }

  get lastEventId() {
    return this.parser.lastEventId;
  }

  /** Whether the stream has come to an end of any kind. */
  get isOver() {
    return this.how !== undefined;
  }

  /** Goes away at once: the connection is destroyed. */
  leave() {
    this.how ??= "left";
    this.#request.destroy();
    this.#end("left");
  }

  /**
   * Resolves when `check` gives something other than `undefined` or `false`, with that.
   *
   * @template T
   * @param {(stream: this) => T | undefined | false} check looked at whenever something comes
   * @param {number} [timeoutMs]
   * @returns {Promise<T>} rejects when the stream ends or the time is over before
   */
  until(check, timeoutMs = 60_000) {
    return new Promise((resolve, reject) => {
      const finish = (settle, value) => {
        clearTimeout(deadline);
        this.#watchers.delete(look);
        settle(value);
      };
      const fail = (why) => {
        const words = `${why}; status ${this.status}, received: ${this.text.slice(-1000)}`;
        finish(reject, new Error(words, { cause: this.#failure }));
      };
      const look = () => {
        const found = check(this);
        if (found !== undefined && found !== false) finish(resolve, found);
        else if (this.isOver) fail(`the stream was over before (${this.how})`);
      };
      const deadline = setTimeout(() => fail(`nothing within ${timeoutMs} ms`), timeoutMs);
      this.#watchers.add(look);
      look();
    });
  }

  /**
   * The first event that matches, now or later.
   *
   * @param {(event: ServerEvent) => unknown} [predicate] any unless told
   * @param {number} [timeoutMs]
   * @returns {Promise<ServerEvent>}
   */
  event(predicate = () => true, timeoutMs) {
    return this.until(({ events }) => events.find(predicate), timeoutMs);
  }

  #look() {
    for (const watcher of this.#watchers) watcher();
  }
}
