/**
 * Runtime I/O without a wrapper in the `worker` crate or web-sys, or with one that needs many calls.
 * The module makes all decisions.
 */

const encoder = new TextEncoder();
const strictDecoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
/** The relevant fields of an upstream response. Four lookups are faster than listing all fields. */
const FIELDS = ["content-language", "content-type", "retry-after", "x-request-id"];

/** Formats header fields as lines `name: value`. Includes all fields unless `names` is set. */
export function headersOf({ headers }, names = headers.keys()) {
  let lines = "";
  for (const name of names) {
    const value = headers.get(name);
    if (value !== null) lines += `${name}: ${value}\n`;
  }
  return lines;
}

/** Builds a response from lines `name: value`. Setting each field avoids a copy by the runtime. */
export function respond(status, lines, body) {
  const response = new Response(body, { status });
  for (const line of lines.split("\n")) {
    const at = line.indexOf(": ");
    if (at > 0) response.headers.set(line.slice(0, at), line.slice(at + 2));
  }
  return response;
}

/** Sends a request. Resolves after the head of the response, and after the body of a 2xx response. */
export async function send(method, url, headers, body, milliseconds, longest) {
  const controller = new AbortController();
  const abort = () => controller.abort(new DOMException("no answer in time", "TimeoutError"));
  const timer = setTimeout(abort, milliseconds);
  const stop = () => clearTimeout(timer);
  const { signal } = controller;
  // Keeps every cache between the gateway and the upstream from storing responses.
  const options = { method, headers, body, redirect: "manual", cache: "no-store", signal };
  const response = await fetch(url, options).catch((error) => {
    stop();
    throw error;
  });
  const text = response.ok ? await textOf(response, longest).catch(() => undefined) : undefined;
  if (response.ok) stop();
  const readError = (most) => textOf(response, most).finally(stop);
  const cancel = () => stop(response.body?.cancel().catch(() => {}));
  return { status: response.status, headers: headersOf(response, FIELDS), text, readError, cancel };
}

/** Reads the body of a request. Rejects if it is not UTF-8. */
export const readBody = (request, longest) => textOf(request, longest, strictDecoder);

/** Reads a body of at most `longest` bytes. Resolves to `undefined` for a longer body. */
async function textOf(source, longest, whole) {
  const { headers } = source;
  // For an encoded or chunked body, `content-length` is not the length of the content.
  const isPlain = !headers.has("content-encoding") && !headers.has("transfer-encoding");
  if (isPlain && Number(headers.get("content-length") ?? Number.NaN) <= longest) {
    return whole ? whole.decode(await source.arrayBuffer()) : source.text();
  }
  // A streaming decoder has state, so it cannot be shared.
  const decoder = new TextDecoder("utf-8", whole);
  let text = "";
  for await (const chunk of source.body ?? []) {
    longest -= chunk.byteLength;
    if (longest < 0) return undefined;
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** Listens to a socket until it closes, the client disconnects or time runs out. Returns `end`. */
function listen(socket, signal, milliseconds, onMessage, onEnd) {
  let isOver = false;
  const end = (reason) => {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    socket.close(1000, "left");
    onEnd(reason);
  };
  const timer = setTimeout(end, milliseconds);
  socket.addEventListener("message", ({ data }) => {
    try {
      if (!isOver) onMessage(String(data));
    } catch {
      end();
    }
  });
  for (const name of ["close", "error"]) socket.addEventListener(name, end);
  signal.addEventListener("abort", end);
  socket.accept();
  return end;
}

/** Streams messages and heartbeats until the lifetime ends or `onCharge` throws. */
export function openEventStream(socket, signal, settings, onCharge) {
  const { opening, heartbeat, period, lifetime, charge } = settings;
  let leave;
  const start = (controller) => {
    const write = (text) => {
      if (text === charge) onCharge();
      controller.enqueue(encoder.encode(text));
    };
    write(opening);
    const timer = setInterval(write, period, heartbeat);
    leave = listen(socket, signal, lifetime, write, (isCancelled) => {
      clearInterval(timer);
      if (isCancelled !== true) controller.close();
    });
  };
  return new ReadableStream({ start, cancel: () => leave(true) });
}

/** Waits for a message that is enough, the end of the socket, a disconnect or the time limit. */
export function waitForMessage(socket, signal, milliseconds, isEnough) {
  return new Promise((resolve) => {
    const end = listen(socket, signal, milliseconds, (text) => isEnough(text) && end(), resolve);
  });
}

/** Streams the chunks of `source`. If the next call traps, the last `ending` closes the stream. */
export function openByteStream(source, signal, guard) {
  let last;
  const cancel = () => source.cancel();
  signal.addEventListener("abort", cancel);
  const pull = async (controller) => {
    const [chunk, ending] = await (async () => guard(() => source.next()))().catch(() => [last]);
    if (chunk) controller.enqueue(chunk);
    last = ending ?? controller.close();
  };
  return new ReadableStream({ pull, cancel }, { highWaterMark: 0 });
}
