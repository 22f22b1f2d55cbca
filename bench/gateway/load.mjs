/**
 * Sends requests from a separate process, controlled over IPC. Each keep-alive connection has one
 * pending request. Bare sockets keep the cost of the load low.
 */
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { readProcessorTime } from "./process_usage.mjs";
import { serveTasks } from "./tasks.mjs";

/** A tick of `/proc`: a hundredth of a second on every Linux. */
const TICK_MICROSECONDS = 10_000;
/** Size of the read buffer, in bytes. */
const BUFFER = 64 * 1024;
/** Time before responses count, in milliseconds. */
const LEAD = 50;
/** Maximum duration of a sample without a response, as a multiple of its planned duration. */
const MAX_EXTENSIONS = 25;

/** Makes each uncached view and each creation differ from all earlier ones, across variants. */
let serial = 0;

const VIEWS = "views?dateFrom=2026-01-01&dateTo=2026-02-01&limit=250&offset=";
const BODY = JSON.stringify({ prompt: "Explain the new rate limits on the page about the API." });

/** Builds the next request, by path. */
const REQUESTS = {
  "views-cached": (project, fields) => formatGet(`/v1/analytics/${project}/${VIEWS}0`, fields),
  "views-uncached": (project, fields) => {
    serial += 1;
    return formatGet(`/v1/analytics/${project}/${VIEWS}${serial * 250}`, fields);
  },
  "job-read": (project, fields) => formatGet(`/v2/agent/${project}/job/job_00000000`, fields),
  create: (project, fields) => {
    serial += 1;
    const content = `content-type: application/json\r\ncontent-length: ${BODY.length}\r\n`;
    const key = `idempotency-key: key-${process.pid}-${serial}\r\n`;
    return `POST /v2/agent/${project}/job HTTP/1.1\r\n${fields}${content}${key}\r\n${BODY}`;
  },
};

function formatGet(target, fields) {
  return `GET ${target} HTTP/1.1\r\n${fields}\r\n`;
}

/** Measures the responses for `milliseconds`, or longer if none has arrived by then. */
async function sendRequests({ path, project, token, port, connections, milliseconds, pids }) {
  const fields = `host: 127.0.0.1:${port}\r\nauthorization: Bearer ${token}\r\n`;
  const load = { port, responses: 0, hasEnded: false, next: () => REQUESTS[path](project, fields) };
  const running = Array.from({ length: connections }, () => runConnection(load));
  await pause(LEAD);
  const before = readProcessorTimes(pids);
  const started = performance.now();
  load.responses = 0;
  // The first response may take longer while other processes keep the machine busy.
  for (let count = 0; count < MAX_EXTENSIONS && load.responses === 0; count++) {
    await Promise.race([pause(milliseconds), Promise.all(running)]);
  }
  const { responses } = load;
  const seconds = (performance.now() - started) / 1000;
  const after = readProcessorTimes(pids);
  load.hasEnded = true;
  await Promise.all(running);
  if (responses === 0) throw new Error(`${path}: no response within ${seconds} s`);
  const used = Object.keys(pids).map((name) => [name, after[name] - before[name]]);
  const cpu = used.map(([name, microseconds]) => [name, microseconds / responses]);
  const own = used.reduce((sum, [, microseconds]) => sum + microseconds, 0);
  const others = Math.max(0, after.all - before.all - own) / 1e6 / seconds;
  return { rate: responses / seconds, cpu: Object.fromEntries(cpu), others };
}

function runConnection(load) {
  return new Promise((resolve, reject) => {
    const reader = new ResponseReader();
    const onread = {
      buffer: Buffer.allocUnsafe(BUFFER),
      callback(length, buffer) {
        if (!reader.read(buffer.subarray(0, length))) return;
        if (reader.status >= 300) {
          const text = buffer.toString("utf8", 0, length);
          socket.destroy(new Error(`the gateway responded ${reader.status}: ${text}`));
          return;
        }
        load.responses += 1;
        if (load.hasEnded) socket.end();
        else socket.write(load.next(), "latin1");
      },
    };
    const socket = connect({ port: load.port, host: "127.0.0.1", noDelay: true, onread });
    socket.on("connect", () => socket.write(load.next(), "latin1"));
    socket.on("error", reject);
    socket.on("close", () => {
      if (load.hasEnded) resolve();
      else reject(new Error("the connection was closed"));
    });
  });
}

/** Finds the status and the end of a response, and ignores its content. */
class ResponseReader {
  status = 0;
  #head = "";
  #left = 0;
  #isChunked = false;
  #tail = "";

  /** Reads a chunk, and returns whether the response is complete. */
  read(chunk) {
    if (this.#left > 0) return this.#readBody(chunk);
    if (this.#isChunked) return this.#readChunks(chunk);
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
      return this.#readChunks(rest);
    }
    this.#left = Number(length);
    return this.#readBody(rest);
  }

  #readBody({ length }) {
    this.#left -= length;
    return this.#left <= 0;
  }

  /** Looks for the last chunk, which cannot occur within single-line JSON. */
  #readChunks(chunk) {
    this.#tail = (this.#tail + chunk.latin1Slice(-7)).slice(-7);
    this.#isChunked = this.#tail !== "\r\n0\r\n\r\n";
    return !this.#isChunked;
  }
}

/** Reads processor times in microseconds, of each process and of `all` processes together. */
function readProcessorTimes(pids) {
  const entries = Object.entries(pids).map(([name, pid]) => [name, readProcessorTime(pid)]);
  const [, user, nice, system, , , irq, softirq, steal] = readFileSync("/proc/stat", "utf8")
    .split("\n", 1)[0]
    .split(/ +/);
  const ticks = [user, nice, system, irq, softirq, steal];
  const all = ticks.reduce((sum, count) => sum + Number(count), 0) * TICK_MICROSECONDS;
  return { ...Object.fromEntries(entries), all };
}

if (process.argv[1] === import.meta.filename) {
  serveTasks(async (task) => {
    const pids = { ...task.pids, load: process.pid };
    return { sample: await sendRequests({ ...task, pids }) };
  });
}
