/**
 * The load, a process of its own: keep-alive connections on loopback, each with one request
 * at a time, on bare sockets, so that the load costs little beside what it measures. It is
 * told over IPC what to send, and tells how many answers came and what processor time each
 * process used for them.
 */
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { pathToFileURL } from "node:url";

/** Of `/proc`, which counts in hundredths of a second on every Linux there is. */
const TICK_MICROSECONDS = 10_000;
/** The largest part of an answer that is read at once. */
const BUFFER = 64 * 1024;
/** How long requests run before they are counted, in milliseconds. */
const LEAD = 150;

/** Never the same twice, whichever the variant. */
let fresh = 0;

const VIEWS = "views?dateFrom=2026-01-01&dateTo=2026-02-01&limit=250&offset=";
const BODY = JSON.stringify({ prompt: "Explain the new rate limits on the page about the API." });

/** What is asked for, by path. */
const REQUESTS = {
  "views uncached": (project, more) => {
    fresh += 1;
    return get(`/v1/analytics/${project}/${VIEWS}${fresh * 250}`, more);
  },
  "views cached": (project, more) => get(`/v1/analytics/${project}/${VIEWS}0`, more),
  "job read": (project, more) => get(`/v2/agent/${project}/job/job_00000000`, more),
  create: (project, more) => {
    fresh += 1;
    const fields = `content-type: application/json\r\ncontent-length: ${BODY.length}\r\n`;
    const key = `idempotency-key: key-${process.pid}-${fresh}\r\n`;
    return `POST /v2/agent/${project}/job HTTP/1.1\r\n${more}${fields}${key}\r\n${BODY}`;
  },
};

function get(target, more) {
  return `GET ${target} HTTP/1.1\r\n${more}\r\n`;
}

/**
 * What to send, and whose processor time to read.
 *
 * @typedef {object} Task
 * @property {keyof typeof REQUESTS} path
 * @property {string} project
 * @property {string} token
 * @property {number} port
 * @property {number} connections
 * @property {number} milliseconds
 * @property {Record<string, number>} pids by name
 *
 * @typedef {object} Result
 * @property {number} rate answers a second
 * @property {Record<string, number>} cpu microseconds an answer, by process
 * @property {number} others how many cores other processes used meanwhile
 */

/**
 * Sends requests for a while.
 *
 * @param {Task} task
 * @returns {Promise<Result>}
 */
async function run({ path, project, token, port, connections, milliseconds, pids }) {
  const more = `host: 127.0.0.1:${port}\r\nauthorization: Bearer ${token}\r\n`;
  const load = { port, answers: 0, over: false, next: () => REQUESTS[path](project, more) };
  const running = Array.from({ length: connections }, () => converse(load));
  await pause(LEAD);
  const before = cpuOf(pids);
  const started = performance.now();
  load.answers = 0;
  await Promise.race([pause(milliseconds), Promise.all(running)]);
  const { answers } = load;
  const seconds = (performance.now() - started) / 1000;
  const after = cpuOf(pids);
  load.over = true;
  await Promise.all(running);
  if (answers === 0) throw new Error(`${path}: no answer within ${milliseconds} ms`);
  const used = Object.keys(pids).map((name) => [name, after[name] - before[name]]);
  const cpu = used.map(([name, microseconds]) => [name, microseconds / answers]);
  const own = used.reduce((sum, [, microseconds]) => sum + microseconds, 0);
  const others = Math.max(0, after.all - before.all - own) / 1e6 / seconds;
  return { rate: answers / seconds, cpu: Object.fromEntries(cpu), others };
}

/** One connection: request, answer, request, until it is over. */
function converse(load) {
  return new Promise((resolve, reject) => {
    const answer = new Answer();
    const onread = {
      buffer: Buffer.allocUnsafe(BUFFER),
      callback(length, buffer) {
        if (!answer.read(buffer.subarray(0, length))) return;
        if (answer.status >= 300) {
          socket.destroy(
            new Error(`answered ${answer.status}: ${buffer.toString("utf8", 0, length)}`),
          );
          return;
        }
        load.answers += 1;
        if (load.over) socket.end();
        else socket.write(load.next(), "latin1");
      },
    };
    const socket = connect({ port: load.port, host: "127.0.0.1", noDelay: true, onread });
    socket.on("connect", () => socket.write(load.next(), "latin1"));
    socket.on("error", reject);
    socket.on("close", () => {
      if (load.over) resolve();
      else reject(new Error("the connection was closed"));
    });
  });
}

/** Where an answer's end is; what is in it nobody asks. */
class Answer {
  status = 0;
  #head = "";
  #left = 0;
  #isChunked = false;
  #tail = "";

  /** Reads on; whether the answer is complete. */
  read(chunk) {
    if (this.#left > 0) return this.#body(chunk);
    if (this.#isChunked) return this.#chunks(chunk);
    const at = chunk.indexOf("\r\n\r\n");
    if (at < 0) {
      this.#head += chunk.latin1Slice();
      return false;
    }
    const head = this.#head + chunk.latin1Slice(0, at);
    this.#head = "";
    this.status = Number(head.slice(9, 12));
    const rest = chunk.subarray(at + 4);
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    if (length === undefined) {
      this.#isChunked = true;
      this.#tail = "";
      return this.#chunks(rest);
    }
    this.#left = Number(length);
    return this.#body(rest);
  }

  #body({ length }) {
    this.#left -= length;
    return this.#left <= 0;
  }

  /** JSON in one line cannot hold the last chunk's mark. */
  #chunks(chunk) {
    this.#tail = (this.#tail + chunk.latin1Slice(-7)).slice(-7);
    this.#isChunked = this.#tail !== "\r\n0\r\n\r\n";
    return !this.#isChunked;
  }
}

/** Processor time so far, in microseconds: by process, and `all` of the machine's together. */
function cpuOf(pids) {
  const entries = Object.entries(pids).map(([name, pid]) => {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The program's name, in parentheses, may hold anything.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return [name, microseconds(fields.slice(11, 13))];
  });
  const [, user, nice, system, , , irq, softirq, steal] = readFileSync("/proc/stat", "utf8")
    .split("\n", 1)[0]
    .split(/ +/);
  const all = microseconds([user, nice, system, irq, softirq, steal]);
  return { ...Object.fromEntries(entries), all };
}

function microseconds(ticks) {
  return ticks.reduce((sum, count) => sum + Number(count), 0) * TICK_MICROSECONDS;
}

function pause(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  process.on("message", async (task) => {
    try {
      process.send({ result: await run({ ...task, pids: { ...task.pids, load: process.pid } }) });
    } catch (error) {
      process.send({ error: error.message });
    }
  });
  process.on("disconnect", () => process.exit());
}
