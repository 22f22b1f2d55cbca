/** A client of server-sent events. */
import { request } from "node:http";

/** Parses an event stream as the HTML standard specifies (section 9.2.6). */
class EventStreamParser {
  #decoder = new TextDecoder();
  #line = "";
  #afterCr = false;
  #data = [];
  #type = "";
  #id = "";
  #on;
  /** The id that a reconnection would send. */
  lastEventId = "";

  constructor(on = {}) {
    this.#on = on;
  }

  /** Parses the next bytes, which may end anywhere. */
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

/** Opens a stream on a new connection. */
export function openEventStream(url, options) {
  return new EventStream(url, options);
}

class EventStream {
  #request;
  #watchers = new Set();
  #end;
  #failure;
  events = [];
  /** Comments, without the colon. */
  comments = [];
  /** The last `retry` in milliseconds. */
  retry;
  /** The received part of the body, even of a response that is not an event stream. */
  text = "";
  /** Status of the response, once it has been received. */
  status;
  headers;
  /** Resolves with this stream when the response's head arrives, and rejects without a response. */
  opened;
  /** Resolves at the end: `clean`, `cut` before the last chunk, `left` by this client, or `failed`. */
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
    // Without a pool, each stream has its own connection, which ends with the stream.
    this.#request = request(url, { method, headers: fields, agent: false });
    this.ended = new Promise((resolve) => {
      this.#end = (how) => {
        this.how ??= how;
        resolve(this.how);
        this.#notify();
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
      this.#notify();
    });
    response.on("error", () => {});
    response.on("close", () => this.#end(response.complete ? "clean" : "cut"));
    this.#notify();
  }

  get lastEventId() {
    return this.parser.lastEventId;
  }

  /** Whether the stream has ended in any way. */
  get isOver() {
    return this.how !== undefined;
  }

  /** Closes the connection immediately. */
  leave() {
    this.how ??= "left";
    this.#request.destroy();
    this.#end("left");
  }

  /**
   * Waits until `check` returns something other than `undefined` or `false`, and resolves with it.
   */
  until(check, timeoutMs = 60_000) {
    return new Promise((resolve, reject) => {
      const finish = (settle, value) => {
        clearTimeout(deadline);
        this.#watchers.delete(watch);
        settle(value);
      };
      const fail = (reason) => {
        const message = `${reason}; status ${this.status}, received: ${this.text.slice(-1000)}`;
        finish(reject, new Error(message, { cause: this.#failure }));
      };
      const watch = () => {
        const found = check(this);
        if (found !== undefined && found !== false) finish(resolve, found);
        else if (this.isOver) fail(`the stream has ended (${this.how})`);
      };
      const deadline = setTimeout(() => fail(`no match within ${timeoutMs} ms`), timeoutMs);
      this.#watchers.add(watch);
      watch();
    });
  }

  /** Waits for the first matching event. */
  event(predicate = () => true, timeoutMs) {
    return this.until(({ events }) => events.find(predicate), timeoutMs);
  }

  #notify() {
    for (const watcher of this.#watchers) watcher();
  }
}
