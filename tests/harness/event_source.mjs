/** A client of server-sent events that exposes the status, comments and the end of a stream. */
import { request } from "node:http";

export function openEventStream(url, options) {
  return new EventStream(url, options);
}

class EventStream {
  #request;
  #watchers = new Set();
  #end;
  #failure;
  #line = "";
  #data = [];
  #type = "";
  #id = "";
  events = [];
  /** Comments, without the colon. */
  comments = [];
  /** The last `retry` in milliseconds. */
  retry;
  /** The id that a reconnection would send. */
  lastEventId = "";
  /** The received part of the body, even of a response that is not an event stream. */
  text = "";
  status;
  headers;
  /** Resolves with this stream when the response's head arrives, and rejects without a response. */
  opened;
  /** Resolves at the end: `clean`, `cut` before the last chunk, `left` by this client, or `failed`. */
  ended;

  constructor(url, { headers = {}, lastEventId } = {}) {
    const resume = lastEventId === undefined ? {} : { "last-event-id": lastEventId };
    const fields = { accept: "text/event-stream", ...resume, ...headers };
    // Without a pool, each stream has its own connection, which ends with the stream.
    this.#request = request(url, { headers: fields, agent: false });
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
        this.#follow(response);
        resolve(this);
      });
    });
    this.opened.catch(() => {});
    this.#request.end();
  }

  #follow(response) {
    this.status = response.statusCode;
    this.headers = response.headers;
    response.setEncoding("utf8").on("data", (text) => {
      this.text += text;
      const lines = (this.#line + text).split("\n");
      this.#line = lines.pop();
      for (const line of lines) this.#take(line);
      this.#notify();
    });
    response.on("error", () => {});
    response.on("close", () => this.#end(response.complete ? "clean" : "cut"));
    this.#notify();
  }

  /** Takes a line of the stream (HTML, section 9.2.6). The gateway ends its lines with LF. */
  #take(line) {
    const [, name, value = ""] = /^([^:]*)(?:: ?(.*))?$/.exec(line);
    if (line === "") this.#dispatch();
    else if (name === "") this.comments.push({ text: line.slice(1), at: performance.now() });
    else if (name === "data") this.#data.push(value);
    else if (name === "event") this.#type = value;
    else if (name === "id") this.#id = value;
    else if (name === "retry") this.retry = Number(value);
  }

  #dispatch() {
    this.lastEventId = this.#id;
    const event = { type: this.#type || "message", data: this.#data.join("\n") };
    const isEmpty = this.#data.length === 0;
    this.#data = [];
    this.#type = "";
    if (isEmpty) return;
    this.events.push({ ...event, lastEventId: this.lastEventId, at: performance.now() });
  }

  /** Whether the stream has ended in any way. */
  get isOver() {
    return this.how !== undefined;
  }

  leave() {
    this.how ??= "left";
    this.#request.destroy();
    this.#end("left");
  }

  /** Waits until `check` returns something other than `undefined` or `false`, and resolves to it. */
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
