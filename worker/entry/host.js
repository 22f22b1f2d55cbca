/**
 * What the runtime can do and neither the `worker` crate nor web-sys has a wrapper for, or only one
 * of many calls: one function for each act of I/O. Nothing is decided here.
 */

const encoder = new TextEncoder();
const strictDecoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
/** What counts of the head of an answer: to ask for each is quicker than to list them all. */
const FIELDS = ["content-language", "content-type", "retry-after", "x-request-id"];

/** The header fields of a response as lines, or those of these names. */
export function headersOf({ headers }, names = headers.keys()) {
  let lines = "";
  for (const name of names) {
    const value = headers.get(name);
    if (value !== null) lines += `${name}: ${value}\n`;
  }
  return lines;
}

/** Header fields of lines `name: value`, set one by one: the runtime would copy what it is given. */
export function respond(status, lines, body) {
  const response = new Response(body, { status });
  for (const line of lines.split("\n")) {
    const at = line.indexOf(": ");
    if (at > 0) response.headers.set(line.slice(0, at), line.slice(at + 2));
  }
  return response;
}

/** Sends a request. Waits for the head of the response, and for the body of a 2xx. */
export async function send(method, url, headers, body, milliseconds, longest) {
  const controller = new AbortController();
  const abort = () => controller.abort(new DOMException("no answer in time", "TimeoutError"));
  const timer = setTimeout(abort, milliseconds);
  const stop = () => clearTimeout(timer);
  const { signal } = controller;
  // No cache between the gateway and the platform stores a response, whatever its path is.
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

/** The body of a request, which has to be UTF-8. */
export const readBody = (request, longest) => textOf(request, longest, strictDecoder);

/** Reads a body of at most `longest` bytes. Resolves to nothing when it is longer. */
async function textOf(source, longest, whole) {
  const { headers } = source;
  // The length of an encoded or chunked body is not that of its content.
  const isPlain = !headers.has("content-encoding") && !headers.has("transfer-encoding");
  if (isPlain && Number(headers.get("content-length") ?? Number.NaN) <= longest) {
    return whole ? whole.decode(await source.arrayBuffer()) : source.text();
  }
  // One of its own, since it keeps the beginning of a character for the next part.
  const decoder = new TextDecoder("utf-8", whole);
  let text = "";
  for await (const chunk of source.body ?? []) {
    longest -= chunk.byteLength;
    if (longest < 0) return undefined;
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** Listens to a socket until it closes, the client leaves or time is up; gives what ends that. */
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

/** Streams a socket's messages with a heartbeat for its lifetime, while no `onCharge` throws. */
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

/** Hands messages over until one is enough, the socket closes, the client leaves or time is up. */
export function hear(socket, signal, milliseconds, isEnough) {
  return new Promise((resolve) => {
    const end = listen(socket, signal, milliseconds, (text) => isEnough(text) && end(), resolve);
  });
}

/** Chunks of an object of the module as a stream, each with what ends it if the next one traps. */
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
