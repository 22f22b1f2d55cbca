/** A raw HTTP/1.1 client. */
import { connect } from "node:net";
import { checkResponse } from "../harness/openapi.mjs";

const IDLE_TIMEOUT_MS = 30_000;

/** Returns the bytes of a request. Adds `Transfer-Encoding` if `chunked` is set. */
export function requestBytes({ method = "GET", target = "/", headers = [], body, chunked }) {
  const all = [...headers];
  const bytes = body === undefined ? Buffer.alloc(0) : Buffer.from(body);
  const named = (name) => all.some(([other]) => other.toLowerCase() === name);
  if (chunked) all.push(["Transfer-Encoding", "chunked"]);
  else if (body !== undefined && !named("content-length")) {
    all.push(["Content-Length", String(bytes.length)]);
  }
  const lines = [
    `${method} ${target} HTTP/1.1`,
    ...all.map(([name, value]) => `${name}: ${value}`),
  ];
  const head = Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
  return Buffer.concat([head, chunked ? chunks(bytes) : bytes]);
}

function chunks(bytes, size = 16_384) {
  const parts = [];
  for (let at = 0; at < bytes.length; at += size) {
    const part = bytes.subarray(at, at + size);
    parts.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from("\r\n"));
  }
  return Buffer.concat([...parts, Buffer.from("0\r\n\r\n")]);
}

export class Answer {
  raw = Buffer.alloc(0);
  /** Whether the connection is closed. */
  closed = false;
  #method;

  constructor(method) {
    this.#method = method;
  }

  get #headEnd() {
    return this.raw.indexOf("\r\n\r\n");
  }

  get hasHead() {
    return this.#headEnd >= 0;
  }

  get #lines() {
    return this.raw.subarray(0, this.#headEnd).toString("latin1").split("\r\n");
  }

  get status() {
    return this.hasHead ? Number(this.#lines[0].split(" ")[1]) : undefined;
  }

  /** Returns the header fields as pairs of a lower-case name and a value, sorted by name. */
  get headers() {
    const fields = this.#lines.slice(1).map((line) => {
      const at = line.indexOf(":");
      return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()];
    });
    return fields.sort(([a], [b]) => (a < b ? -1 : 1));
  }

  /** Returns the values of a header field, joined by the rules of RFC 9110, section 5.3. */
  header(name) {
    const values = this.headers.filter(([other]) => other === name).map(([, value]) => value);
    return values.length > 0 ? values.join(", ") : undefined;
  }

  get #framed() {
    return this.raw.subarray(this.#headEnd + 4);
  }

  get #isChunked() {
    return this.header("transfer-encoding") === "chunked";
  }

  /** Returns the body's bytes so far, without chunk framing and later responses. */
  get body() {
    if (this.#isChunked) return unchunked(this.#framed).body;
    const length = this.header("content-length");
    return length === undefined ? this.#framed : this.#framed.subarray(0, Number(length));
  }

  get text() {
    return this.body.toString("utf8");
  }

  get json() {
    return JSON.parse(this.text);
  }

  /** Whether the whole response has arrived, according to its `Content-Length` or chunks. */
  get complete() {
    if (!this.hasHead) return false;
    if (this.#method === "HEAD" || this.status === 204 || this.status === 304) return true;
    if (this.#isChunked) return unchunked(this.#framed).ended;
    const length = this.header("content-length");
    return length === undefined ? this.closed : this.#framed.length >= Number(length);
  }
}

function unchunked(framed) {
  const parts = [];
  let at = 0;
  for (;;) {
    const lineEnd = framed.indexOf("\r\n", at);
    if (lineEnd < 0) return { body: Buffer.concat(parts), ended: false };
    const size = Number.parseInt(framed.subarray(at, lineEnd).toString("latin1"), 16);
    if (size === 0) return { body: Buffer.concat(parts), ended: true };
    const start = lineEnd + 2;
    parts.push(framed.subarray(start, start + size));
    if (framed.length < start + size + 2) return { body: Buffer.concat(parts), ended: false };
    at = start + size + 2;
  }
}

export class Exchange {
  #socket;
  #origin;
  #bytes;
  #isChecked = false;
  #watchers = new Set();
  answer;
  /** Resolves when the bytes are written or the write has failed. */
  sent;

  constructor(port, bytes, method = "GET") {
    const answer = new Answer(method);
    this.answer = answer;
    this.#origin = `http://127.0.0.1:${port}`;
    this.#bytes = bytes;
    const notify = () => {
      for (const watcher of this.#watchers) watcher();
    };
    this.#socket = connect(port, "127.0.0.1");
    this.sent = new Promise((resolve) => this.#socket.write(bytes, resolve));
    this.#socket.setTimeout(IDLE_TIMEOUT_MS, () => this.#socket.destroy());
    this.#socket.on("data", (data) => {
      answer.raw = Buffer.concat([answer.raw, data]);
      notify();
    });
    // A server that rejects a request early may reset the connection. Only the response matters.
    this.#socket.on("error", () => {});
    this.#socket.on("close", () => {
      answer.closed = true;
      notify();
    });
  }

  /** Resolves with the response when `check` returns true or the connection has closed. */
  until(check) {
    return new Promise((resolve) => {
      const settle = () => {
        if (!this.answer.closed && !check(this.answer)) return;
        this.#watchers.delete(settle);
        if (this.answer.complete) this.#check(this.answer.text);
        resolve(this.answer);
      };
      this.#watchers.add(settle);
      settle();
    });
  }

  leave() {
    this.#check();
    this.#socket.destroy();
  }

  /** Checks the response once against the gateway's description; without `body`, only its head. */
  #check(body) {
    const request = /^([A-Z]+) (\S+) HTTP\/1\.1\r\n/.exec(this.#bytes.toString("latin1"));
    if (this.#isChecked || !this.answer.hasHead || request === null) return;
    this.#isChecked = true;
    const [, method, target] = request;
    const { status, headers } = this.answer;
    checkResponse(this.#origin, { method, target, status, headers, body });
  }

  /** Disconnects with a reset. After only a FIN, workerd assumes that the client still reads. */
  reset() {
    this.#socket.resetAndDestroy();
  }
}
