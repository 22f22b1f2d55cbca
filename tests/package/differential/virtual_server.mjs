/** Answers requests as a case says, however badly, and keeps what became of each. */
import { inspect } from "node:util";
import { makeValue } from "./values.mjs";

/** A case that sends more than this is going round in circles. */
export const MOST_REQUESTS = 150;

/**
 * @typedef {object} Answer
 * @property {number} after how long it takes to begin, in milliseconds
 * @property {number} [status]
 * @property {[string, string][]} [headers]
 * @property {string} [text] the body
 * @property {string} [base64] the body
 * @property {object} [list] the body is the part of a list that the request asks for
 * @property {{ text: string, after: number }[]} [chunks] the body in pieces
 * @property {"break" | "hang"} [end] of the chunks, unless they end well
 * @property {object} [reject] the description of what the fetch rejects with
 * @property {object} [throw] … throws
 * @property {object} [resolve] … resolves to, in the place of a `Response`
 * @property {boolean} [hang] there is no answer
 * @property {boolean} [deaf] the fetch does not listen to the request's signal
 */

/** The host's own `fetch` listens to the signal, and gives a `Response` or a `TypeError`. */
function asHost({ resolve, deaf: _, ...answer }) {
  if (resolve === undefined) return answer;
  return { ...answer, reject: { $: "error", name: "TypeError", message: "fetch failed" } };
}

export class VirtualServer {
  requests = 0;
  #host;
  #case;
  #record;
  #make;
  #label;
  #counts = { answers: 0, streams: 0 };
  #open = new Map();

  /**
   * @param {object} options
   * @param {import("./virtual_host.mjs").VirtualHost} options.host
   * @param {{ answers: Answer[], streams?: Answer[] }} options.script
   * @param {(event: object) => object} options.record
   * @param {object} options.make what descriptions of values are made with
   * @param {(value: unknown, name: string) => void} options.label names a value for the record
   */
  constructor({ host, script, record, make, label }) {
    this.#host = host;
    this.#case = script;
    this.#record = record;
    this.#make = make;
    this.#label = label;
  }

  /** The requests that nobody has answered or given up. */
  get open() {
    return [...this.#open.keys()];
  }

  /** As a custom `fetch`, which is given a `Request` and nothing else. */
  customFetch = (...given) => {
    const [request] = given;
    if (!(request instanceof Request) || given.length !== 1) {
      this.#record({ event: "custom fetch misused", given });
    }
    return this.#receive(request, "custom fetch");
  };

  /** As the host's `fetch`, which takes an address and its options just as well. */
  hostFetch = async (input, init) => {
    const request =
      input instanceof Request && init === undefined ? input : new Request(input, init);
    return this.#receive(request, "host's fetch");
  };

  #receive(request, by) {
    this.requests += 1;
    const number = this.requests;
    const entry = this.#record({ event: "request", number, by, ...readHead(request) });
    if (request.body !== null) {
      entry.body = "not read yet";
      request.text().then((text) => {
        entry.body = text;
      });
    }
    if (number > MOST_REQUESTS) throw new Error("the case sends too many requests");
    const answer = this.#answerOf(request);
    if (answer.throw !== undefined) throw this.#made(answer.throw, number);
    const isOdd = answer.resolve !== undefined || answer.deaf;
    const isHosts = by !== "custom fetch";
    return this.#answer(isOdd && isHosts ? asHost(answer) : answer, request, number);
  }

  #answerOf({ url }) {
    const kind = this.#case.streams && /\/events$/.test(url) ? "streams" : "answers";
    const list = this.#case[kind];
    const at = Math.min(this.#counts[kind]++, list.length - 1);
    return list[at];
  }

  #made(described, number) {
    const value = makeValue(described, this.#make);
    if (typeof value === "object" && value !== null)
      this.#label(value, `thrown by fetch ${number}`);
    return value;
  }

  #answer(answer, request, number) {
    const { signal } = request;
    return new Promise((resolve, reject) => {
      const exchange = { body: undefined };
      this.#open.set(number, exchange);
      const cancel = answer.hang
        ? () => {}
        : this.#host.after(answer.after, () => {
            if (exchange.left && !answer.deaf) return;
            if (answer.reject !== undefined) {
              this.#open.delete(number);
              reject(this.#made(answer.reject, number));
              return;
            }
            if (answer.resolve !== undefined) {
              this.#open.delete(number);
              resolve(makeValue(answer.resolve, this.#make));
              return;
            }
            resolve(this.#respond(answer, request, number, exchange));
          });
      const leave = () => {
        if (!this.#open.has(number)) return;
        this.#leave(number, exchange);
        if (answer.deaf) return;
        cancel();
        exchange.body?.error(signal.reason);
        reject(signal.reason);
      };
      if (signal.aborted) leave();
      else signal.addEventListener("abort", leave);
    });
  }

  /** Whoever sent the request wants nothing more of it. */
  #leave(number, exchange) {
    if (exchange.left) return;
    exchange.left = true;
    this.#open.delete(number);
    this.#record({ event: "request given up", number });
  }

  #respond(answer, request, number, exchange) {
    const { status = 200, headers = [] } = answer;
    const hasNoBody = [204, 205, 304].includes(status);
    if (hasNoBody || answer.chunks === undefined) this.#open.delete(number);
    const body = hasNoBody ? null : this.#bodyOf(answer, request, number, exchange);
    const response = new Response(body, { status, headers });
    // What a string says of itself; the case says it if it is to be said.
    if (!headers.some(([name]) => name === "content-type")) response.headers.delete("content-type");
    Object.defineProperty(response, "url", { value: request.url });
    this.#label(response, `response ${number}`);
    return response;
  }

  #bodyOf(answer, request, number, exchange) {
    if (answer.list !== undefined) return JSON.stringify(pageOf(answer.list, request.url));
    if (answer.base64 !== undefined) return Buffer.from(answer.base64, "base64");
    if (answer.chunks === undefined) return answer.text ?? "";
    return this.#streamOf(answer, number, exchange);
  }

  #streamOf({ chunks, end }, number, exchange) {
    const encoder = new TextEncoder();
    const begin = (controller) => {
      exchange.body = controller;
      let at = 0;
      const next = () => {
        if (exchange.left) return;
        if (at < chunks.length) {
          const { text, after } = chunks[at++];
          this.#host.after(after, () => {
            if (exchange.left) return;
            controller.enqueue(encoder.encode(text));
            next();
          });
        } else if (end === "break") {
          this.#open.delete(number);
          const error = new TypeError("terminated", { cause: new Error("other side closed") });
          this.#label(error, `broke body ${number}`);
          controller.error(error);
        } else if (end !== "hang") {
          this.#open.delete(number);
          controller.close();
        }
      };
      next();
    };
    return new ReadableStream({ start: begin, cancel: () => this.#leave(number, exchange) });
  }
}

function readHead({ method, url, headers, redirect }) {
  return {
    method,
    url,
    headers: [...headers],
    order: namesInOrder(headers),
    body: null,
    redirect,
  };
}

const FIELD = /(?:'([^']+)'|(\w+)): (?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`)/gs;

/** The fields' names as they will be sent: iterating would sort them. */
function namesInOrder(headers) {
  const shown = inspect(headers, { breakLength: Number.POSITIVE_INFINITY, maxStringLength: null });
  return [...shown.matchAll(FIELD)].map(([, quoted, bare]) => quoted ?? bare);
}

/** The part of a list that a request asks for. */
function pageOf({ by, rows, row, total, pageSize, members, cursors }, url) {
  const { searchParams } = new URL(url);
  const limit = Number(searchParams.get("limit") ?? pageSize);
  const cursor = searchParams.get("cursor");
  const begin =
    by === "offset" ? Number(searchParams.get("offset") ?? 0) : cursorAt(cursor, cursors);
  const size = Math.min(limit, pageSize);
  // Large offsets are beyond every list.
  const end = Math.min(begin + size, total);
  const part = [];
  for (let at = begin; at < end; at++) part.push(numbered(row, at));
  const more = end < total;
  const page = { ...members, [rows]: part };
  if (members.hasMore !== undefined) page.hasMore = more;
  if (by === "cursor") page.nextCursor = more ? cursors.replace("#", encodeAt(end)) : null;
  return page;
}

/** ULIDs know no `L`, `O`, `I` and `U`, so a place is written with digits only. */
function encodeAt(at) {
  return String(at).padStart(6, "0");
}

function cursorAt(cursor, cursors) {
  if (cursor === null) return 0;
  const at = cursors.indexOf("#");
  return Number(cursor.slice(at, at + 6)) || 0;
}

function numbered(row, at) {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      typeof value === "string" && name !== "source" ? `${value} ${at}` : value,
    ]),
  );
}
