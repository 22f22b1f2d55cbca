/**
 * A job's changes as Server-Sent Events, or as the answer to a long poll. Both are a
 * WebSocket to the project's gate, which sleeps behind it: what a client that goes away
 * leaves behind is one closed socket.
 */
import { type Answer, refuse } from "./core.js";
import type { Call, ProjectGate } from "./project_gate.js";

/** How often a line keeps the connection open, as the HTML standard advises. */
const HEARTBEAT = 15_000;
/** How long a client waits before it comes back, in milliseconds. */
const RETRY = 3_000;
/** The longest wait of a long poll, in seconds: proxies give up at 30. */
const LONGEST_WAIT = 25;

type Gate = DurableObjectStub<ProjectGate>;

/** A change as the gate tells it. */
interface Change {
  seq: number;
  data: string;
  finished: boolean;
}

/** Answers with a stream of a job's changes. */
export async function changes(
  request: Request,
  gate: Gate,
  call: Call,
  job: string,
): Promise<Answer | Response> {
  const after = numberOf(request.headers.get("last-event-id"));
  const watching = await watch(gate, call, job, after);
  if (!(watching instanceof WebSocket)) return watching;
  const body = eventStream(watching, request.signal);
  return new Response(body, { headers: { "content-type": "text/event-stream; charset=utf-8" } });
}

/** Opens a socket on which changes come, or gives the answer that says why there is none. */
async function watch(
  gate: Gate,
  call: Call,
  job: string,
  after: number | null,
): Promise<WebSocket | Answer> {
  const url = new URL("https://gate/watch");
  url.searchParams.set("job", job);
  url.searchParams.set("call", JSON.stringify(call));
  if (after !== null) url.searchParams.set("after", String(after));
  const response = await gate
    .fetch(url, { headers: { upgrade: "websocket" } })
    .catch(() => undefined);
  if (!response) return refuse("gate-unavailable", call.id);
  return response.webSocket ?? ((await response.json()) as Answer);
}

function eventStream(socket: WebSocket, signal: AbortSignal): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let heartbeat: ReturnType<typeof setInterval>;
  const leave = () => {
    clearInterval(heartbeat);
    socket.close(1000, "left");
  };
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const write = (text: string) => controller.enqueue(encoder.encode(text));
      write(`retry: ${RETRY}\n\n`);
      heartbeat = setInterval(() => write(": hb\n\n"), HEARTBEAT);
      socket.addEventListener("message", ({ data }) => {
        const { seq, data: job } = JSON.parse(String(data)) as Change;
        write(`id: ${seq}\nevent: job\ndata: ${job}\n\n`);
      });
      const end = () => {
        clearInterval(heartbeat);
        closed(controller);
      };
      socket.addEventListener("close", end);
      socket.addEventListener("error", end);
      signal.addEventListener("abort", leave);
      socket.accept();
    },
    cancel: leave,
  });
}

/** Ends a stream that may have been left already. */
function closed(controller: ReadableStreamDefaultController): void {
  try {
    controller.close();
  } catch {
    // Nobody reads it any more.
  }
}

/** The seconds that `Prefer: wait` asks for (RFC 7240, section 4.3), at most 25. */
export function waitOf(prefer: string | null): number | undefined {
  const asked = /(?:^|[,;])\s*wait\s*=\s*"?(\d{1,6})"?\s*(?:[,;]|$)/i.exec(prefer ?? "")?.[1];
  return asked === undefined ? undefined : Math.min(Number(asked), LONGEST_WAIT);
}

/**
 * Answers with a job once it has changed, has come to its end, or the time is over. What the
 * caller knows already is the state that `If-None-Match` names; without it, the present one.
 */
export async function longPoll(
  request: Request,
  gate: Gate,
  call: Call,
  job: string,
  seconds: number,
): Promise<Answer> {
  const socket = await watch(gate, call, job, null);
  if (!(socket instanceof WebSocket)) return socket;
  const known = knownState(request.headers.get("if-none-match"));
  const change = await changeWithin(socket, seconds * 1000, known, request.signal);
  // The gate went away before it could say anything.
  if (!change) return refuse("gate-unavailable", call.id);
  const headers = {
    "content-type": "application/json",
    etag: `"${change.seq}"`,
    "preference-applied": `wait=${seconds}`,
    vary: "Origin, Prefer",
  };
  return { status: 200, headers, body: change.data };
}

function changeWithin(
  socket: WebSocket,
  milliseconds: number,
  known: number | null,
  signal: AbortSignal,
): Promise<Change | undefined> {
  return new Promise((resolve) => {
    let latest: Change | undefined;
    const done = () => {
      clearTimeout(timer);
      socket.close(1000, "answered");
      resolve(latest);
    };
    const timer = setTimeout(done, milliseconds);
    socket.addEventListener("message", ({ data }) => {
      const isFirst = latest === undefined;
      latest = JSON.parse(String(data)) as Change;
      const news = isFirst ? known !== null && latest.seq !== known : true;
      if (news || latest.finished) done();
    });
    socket.addEventListener("close", done);
    socket.addEventListener("error", done);
    signal.addEventListener("abort", done);
    socket.accept();
  });
}

function knownState(ifNoneMatch: string | null): number | null {
  return numberOf(/^(?:W\/)?"(\d+)"$/.exec(ifNoneMatch?.trim() ?? "")?.[1] ?? null);
}

function numberOf(text: string | null): number | null {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;
}
