/** A webhook receiver on a loopback port that records deliveries and sends configured responses. */
import { createHmac, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

const DEFAULT_RESPONSE = { status: 204 };
const DEFAULT_TOLERANCE_SECONDS = 5 * 60;
const SECRET_PREFIX = "whsec_";

/**
 * @typedef {object} PlannedResponse
 * @property {number} [status] defaults to 204
 * @property {Record<string, string>} [headers]
 * @property {string | Buffer} [body]
 * @property {number} [delayMs] time before the response
 * @property {boolean} [hang] never respond
 * @property {boolean} [reset] close the connection without a response
 *
 * @typedef {object} Delivery
 * @property {number} number counts from 0, in the order in which requests were completed
 * @property {number} at Unix time in milliseconds
 * @property {string} method
 * @property {string} path with the query, verbatim
 * @property {import("node:http").IncomingHttpHeaders} headers
 * @property {[string, string][]} rawHeaders with the original names
 * @property {Buffer} raw the body
 * @property {string} text
 * @property {unknown} json throws if the body is not JSON
 */

/** Starts a receiver on a free loopback port. */
export async function startReceiver() {
  const receiver = new Receiver();
  await receiver.start();
  return receiver;
}

export class Receiver {
  #server = createServer((request, response) => this.#receive(request, response));
  #responses = [];
  #default = DEFAULT_RESPONSE;
  #waiting = new Set();
  /** Deliveries that `next` has returned. */
  #returned = new Set();
  /** @type {Delivery[]} */
  deliveries = [];
  /** Number of opened connections, including those without a request. */
  connections = 0;
  url;

  async start() {
    this.#server.on("connection", () => {
      this.connections += 1;
    });
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    /** Host and port, as in a list of allowed hosts. */
    this.host = `127.0.0.1:${this.#server.address().port}`;
    this.url = `http://${this.host}`;
  }

  /**
   * Queues the responses to the next deliveries. Later ones receive the default.
   *
   * @param {...(number | PlannedResponse)} answers a number is a status
   */
  answer(...answers) {
    this.#responses.push(...answers.map(toResponse));
  }

  /** Sets the default response. @param {number | PlannedResponse} answer */
  answerAlways(answer) {
    this.#default = toResponse(answer);
  }

  /**
   * Waits for the first matching delivery that no earlier call has returned.
   *
   * @param {(delivery: Delivery) => unknown} [predicate] defaults to any delivery
   * @param {number} [timeoutMs]
   * @returns {Promise<Delivery>}
   */
  next(predicate = () => true, timeoutMs = 60_000) {
    return new Promise((resolve, reject) => {
      const finish = (settle, value) => {
        clearTimeout(deadline);
        this.#waiting.delete(check);
        settle(value);
      };
      const check = () => {
        const found = this.deliveries.find((one) => !this.#returned.has(one) && predicate(one));
        if (!found) return;
        this.#returned.add(found);
        finish(resolve, found);
      };
      const deadline = setTimeout(() => {
        const count = this.deliveries.length;
        const message = `no matching delivery within ${timeoutMs} ms; received ${count} in total`;
        finish(reject, new Error(message));
      }, timeoutMs);
      this.#waiting.add(check);
      check();
    });
  }

  /** Removes all deliveries and configured responses. */
  reset() {
    this.deliveries = [];
    this.connections = 0;
    this.#returned.clear();
    this.#responses = [];
    this.#default = DEFAULT_RESPONSE;
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
      return; // The request is incomplete.
    }
    this.deliveries.push(deliveryOf(request, Buffer.concat(chunks), this.deliveries.length));
    const planned = this.#responses.shift() ?? this.#default;
    for (const check of this.#waiting) check();
    await respond(response, planned);
  }
}

async function respond(response, { status = 204, headers = {}, body, delayMs, hang, reset }) {
  if (hang) return;
  if (delayMs) await sleep(delayMs);
  if (reset) return void response.destroy();
  response.writeHead(status, headers).end(body);
}

function toResponse(answer) {
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
 * Returns whether a delivery has a valid Standard Webhooks signature: HMAC-SHA256 over id,
 * timestamp and body. One valid signature in the list is enough.
 *
 * @param {Pick<Delivery, "headers" | "raw">} delivery
 * @param {string} secret `whsec_` and base64
 * @param {VerifyOptions} [options]
 *
 * @typedef {object} VerifyOptions
 * @property {number} [toleranceSeconds] maximum difference between the timestamp and `now`;
 *   defaults to 300
 * @property {number} [now] Unix time in seconds; defaults to the current time
 */
export function verify(delivery, secret, options) {
  return signatureProblem(delivery, secret, options) === undefined;
}

/**
 * Returns the reason to reject a delivery, or `undefined`.
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
  if (!/^\d+$/.test(timestamp)) return "the timestamp is not a number";
  if (Math.abs(now - Number(timestamp)) > toleranceSeconds)
    return "the timestamp is outside the tolerance";
  const expected = signatureOf(secret, { id, timestamp, raw: delivery.raw });
  const isValid = signatures.split(" ").some((signature) => isEqual(signature, expected));
  return isValid ? undefined : "no signature is valid";
}

/**
 * Returns the signature of a delivery, in the form `v1,<base64>`.
 *
 * @param {string} secret
 * @param {{ id: string, timestamp: string | number, raw: string | Buffer }} delivery
 */
export function signatureOf(secret, { id, timestamp, raw }) {
  if (!secret.startsWith(SECRET_PREFIX)) throw new Error(`a secret starts with ${SECRET_PREFIX}`);
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), "base64");
  const hmac = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(raw);
  return `v1,${hmac.digest("base64")}`;
}

function isEqual(one, other) {
  const [a, b] = [one, other].map((text) => Buffer.from(text));
  return a.length === b.length && timingSafeEqual(a, b);
}
