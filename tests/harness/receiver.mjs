/** A webhook receiver on a loopback port that records deliveries and sends configured responses. */
import { createHmac } from "node:crypto";
import { listen } from "./listen.mjs";

const TOLERANCE_SECONDS = 5 * 60;
const SECRET_PREFIX = "whsec_";

export class Receiver {
  #responses = [];
  #default = { status: 204 };
  #waiting = new Set();
  /** Deliveries that `next` has returned. */
  #returned = new Set();
  deliveries = [];
  /** Number of opened connections, including those without a request. */
  connections = 0;

  /** Starts a receiver. Its `host` has the form of a list of allowed hosts. */
  async start() {
    const { server, ...more } = await listen((...args) => this.#receive(...args));
    server.on("connection", () => {
      this.connections += 1;
    });
    return Object.assign(this, more, { host: new URL(more.url).host });
  }

  /** Queues the responses to the next deliveries. Later ones receive the default. */
  answer(...answers) {
    this.#responses.push(...answers.map(toResponse));
  }

  answerAlways(answer) {
    this.#default = toResponse(answer);
  }

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

  async #receive(request, response) {
    response.on("error", () => {});
    const chunks = [];
    try {
      for await (const chunk of request) chunks.push(chunk);
    } catch {
      return; // The request is incomplete.
    }
    this.deliveries.push(deliveryOf(request, Buffer.concat(chunks)));
    const planned = this.#responses.shift() ?? this.#default;
    for (const check of this.#waiting) check();
    if (planned.hang) return;
    if (planned.reset) return void response.destroy();
    response.writeHead(planned.status, planned.headers).end(planned.body);
  }
}

export const startReceiver = () => new Receiver().start();

function toResponse(answer) {
  return typeof answer === "number" ? { status: answer } : answer;
}

/** Returns a delivery, whose `json` throws if the body is not JSON. */
function deliveryOf({ method, url, headers }, raw) {
  return {
    ...{ at: Date.now(), method, path: url, headers, raw },
    text: raw.toString(),
    get json() {
      return JSON.parse(this.text);
    },
  };
}

export function verify(delivery, secret, options) {
  return signatureProblem(delivery, secret, options) === undefined;
}

export function signatureProblem(delivery, secret, { now = Date.now() / 1000 } = {}) {
  const { "webhook-id": id, "webhook-timestamp": timestamp } = delivery.headers;
  const signatures = delivery.headers["webhook-signature"];
  if (!id || !timestamp || !signatures) return "a header is missing";
  if (!/^\d+$/.test(timestamp)) return "the timestamp is not a number";
  if (Math.abs(now - timestamp) > TOLERANCE_SECONDS)
    return "the timestamp is outside the tolerance";
  const expected = signatureOf(secret, { id, timestamp, raw: delivery.raw });
  const isValid = signatures.split(" ").includes(expected);
  return isValid ? undefined : "no signature is valid";
}

/** Returns the signature of a delivery, in the form `v1,<base64>`. */
export function signatureOf(secret, { id, timestamp, raw }) {
  if (!secret.startsWith(SECRET_PREFIX)) throw new Error(`a secret starts with ${SECRET_PREFIX}`);
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), "base64");
  const hmac = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(raw);
  return `v1,${hmac.digest("base64")}`;
}
