/** A webhook receiver on a loopback port that keeps what it gets and answers as it is told. */
import { createHmac, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

const DEFAULT_ANSWER = { status: 204 };
const DEFAULT_TOLERANCE_SECONDS = 5 * 60;
const SECRET_PREFIX = "whsec_";

/**
 * @typedef {object} Answer
 * @property {number} [status] 204 unless told
 * @property {Record<string, string>} [headers]
 * @property {string | Buffer} [body]
 * @property {number} [delayMs] waits first
 * @property {boolean} [hang] never answers
 * @property {boolean} [reset] ends the connection instead of answering
 *
 * @typedef {object} Delivery
 * @property {number} number from 0, in the order in which the requests came to their end
 * @property {number} at when, in milliseconds since the epoch
 * @property {string} method
 * @property {string} path with the query, as sent
 * @property {import("node:http").IncomingHttpHeaders} headers
 * @property {[string, string][]} rawHeaders as sent
 * @property {Buffer} raw the body
 * @property {string} text
 * @property {unknown} json throws when the body is none
 */

/** Starts a receiver on a free loopback port. */
export async function startReceiver() {
  const receiver = new Receiver();
  await receiver.start();
  return receiver;
}

class Receiver {
  #server = createServer((request, response) => this.#receive(request, response));
  #answers = [];
  #default = DEFAULT_ANSWER;
  #waiting = new Set();
  #taken = new Set();
  /** @type {Delivery[]} */
  deliveries = [];
  /** Connections that were opened, also those on which no request came. */
  connections = 0;
  url;

  async start() {
    this.#server.on("connection", () => {
      this.connections += 1;
    });
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    /** Without the scheme, as a list of allowed hosts has it. */
    this.host = `127.0.0.1:${this.#server.address().port}`;
    this.url = `http://${this.host}`;
  }

  /**
   * Answers the coming deliveries, one after another; later ones get the default.
   *
   * @param {...(number | Answer)} answers a number is a status
   */
  answer(...answers) {
    this.#answers.push(...answers.map(answerOf));
  }

  /** Answers every delivery for which nothing else is told. @param {number | Answer} answer */
  answerAlways(answer) {
    this.#default = answerOf(answer);
  }

  /**
   * The first delivery that matches and that no earlier `next` has given, now or later.
   *
   * @param {(delivery: Delivery) => unknown} [predicate] any unless told
   * @param {number} [timeoutMs]
   * @returns {Promise<Delivery>}
   */
  next(predicate = () => true, timeoutMs = 60_000) {
    return new Promise((resolve, reject) => {
      const finish = (settle, value) => {
        clearTimeout(deadline);
        this.#waiting.delete(look);
        settle(value);
      };
      const look = () => {
        const found = this.deliveries.find((one) => !this.#taken.has(one) && predicate(one));
        if (!found) return;
        this.#taken.add(found);
        finish(resolve, found);
      };
      const deadline = setTimeout(() => {
        const count = this.deliveries.length;
        const words = `no such delivery within ${timeoutMs} ms; ${count} came in all`;
        finish(reject, new Error(words));
      }, timeoutMs);
      this.#waiting.add(look);
      look();
    });
  }

  /** Forgets deliveries and answers. */
  reset() {
    this.deliveries = [];
    this.connections = 0;
    this.#taken.clear();
    this.#answers = [];
    this.#default = DEFAULT_ANSWER;
  }

  async stop() {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  async #receive(request, response) {
    response.on("error", () => {});
    const chunks = [];
    try {
      for await (const chunk of request) chunks.push(chunk);
    } catch {
      return; // It has not come to its end.
    }
    this.deliveries.push(deliveryOf(request, Buffer.concat(chunks), this.deliveries.length));
    const answer = this.#answers.shift() ?? this.#default;
    for (const look of this.#waiting) look();
    await give(response, answer);
  }
}

async function give(response, { status = 204, headers = {}, body, delayMs, hang, reset }) {
  if (hang) return;
  if (delayMs) await sleep(delayMs);
  if (reset) return void response.destroy();
  response.writeHead(status, headers).end(body);
}

function answerOf(answer) {
  return typeof answer === "number" ? { status: answer } : answer;
}

function deliveryOf(request, raw, number) {
  const { method, url, headers, rawHeaders } = request;
  const pairs = rawHeaders.flatMap((name, at) => (at % 2 ? [] : [[name, rawHeaders[at + 1]]]));
  return {
    ...{ number, at: Date.now(), method, path: url, headers, rawHeaders: pairs, raw },
    text: raw.toString("utf8"),
    get json() {
      return JSON.parse(this.text);
    },
  };
}

/**
 * Whether a delivery is signed with this secret, after Standard Webhooks: HMAC-SHA256 over id,
 * timestamp and body, in a list of which one signature is enough.
 *
 * @param {Pick<Delivery, "headers" | "raw">} delivery
 * @param {string} secret `whsec_` and base64
 * @param {VerifyOptions} [options]
 *
 * @typedef {object} VerifyOptions
 * @property {number} [toleranceSeconds] how far its timestamp may be from now, 300 unless told
 * @property {number} [now] in seconds since 1970
 */
export function verify(delivery, secret, options) {
  return signatureProblem(delivery, secret, options) === undefined;
}

/**
 * Why a delivery is not to be trusted; `undefined` when it is.
 *
 * @param {Pick<Delivery, "headers" | "raw">} delivery
 * @param {string} secret
 * @param {VerifyOptions} [options]
 * @returns {string | undefined}
 */
export function signatureProblem(delivery, secret, options = {}) {
  const { toleranceSeconds = DEFAULT_TOLERANCE_SECONDS, now = Date.now() / 1000 } = options;
  const { "webhook-id": id, "webhook-timestamp": timestamp } = delivery.headers;
  const signatures = delivery.headers["webhook-signature"];
  if (!id || !timestamp || !signatures) return "a header is missing";
  if (!/^\d+$/.test(timestamp)) return "the timestamp is no number";
  if (Math.abs(now - Number(timestamp)) > toleranceSeconds) return "the timestamp is too far away";
  const expected = signatureOf(secret, { id, timestamp, raw: delivery.raw });
  const good = signatures.split(" ").some((signature) => isEqual(signature, expected));
  return good ? undefined : "no signature fits";
}

/**
 * The signature of a delivery, in the form `v1,<base64>`.
 *
 * @param {string} secret
 * @param {{ id: string, timestamp: string | number, raw: string | Buffer }} delivery
 */
export function signatureOf(secret, { id, timestamp, raw }) {
  if (!secret.startsWith(SECRET_PREFIX)) throw new Error(`a secret begins with ${SECRET_PREFIX}`);
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), "base64");
  const hmac = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(raw);
  return `v1,${hmac.digest("base64")}`;
}

function isEqual(one, other) {
  const [a, b] = [one, other].map((text) => Buffer.from(text));
  return a.length === b.length && timingSafeEqual(a, b);
}
