/** The event streams of the fake gateway. */

import type { FakeRecords } from "./fake_records.js";

/** Interval of the comments that keep a stream open, in milliseconds. */
const HEARTBEAT = 15_000;
const OPENING = "retry: 3000\n\n";
/** Maximum number of changes that a stream of a list starts with. */
const MAX_FIRST = 25;

/** The parts of jobs and deployments that streams use. */
type Records = Pick<
  FakeRecords<{ status: string }>,
  | "name"
  | "deleted"
  | "onChange"
  | "nextEnd"
  | "settle"
  | "get"
  | "countChanges"
  | "isFinished"
  | "changedAfter"
>;
type Controller = ReadableStreamDefaultController<Uint8Array>;

/** A stream: of one job or deployment, or of the list if `id` is `undefined`. */
interface OpenStream {
  records: Records;
  id: string | undefined;
  controller: Controller;
  /** The number of the last event sent; `null` before the first. */
  position: number | null;
}

/** Opens event streams and sends the changes of jobs and deployments to them. */
export class FakeStreams {
  readonly #stores: readonly Records[];
  readonly #now: () => number;
  readonly #open = new Set<OpenStream>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(stores: readonly Records[], now: () => number) {
    this.#stores = stores;
    this.#now = now;
    for (const records of stores) records.onChange = () => this.#sendAll();
  }

  /** Opens a stream. It ends with the job or the deployment, or when the request is aborted. */
  open(records: Records, id: string | undefined, request: Request, requestId: string): Response {
    const last = request.headers.get("last-event-id");
    const position = last === null ? null : Number(last);
    let stream: OpenStream;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        stream = { records, id, controller, position };
        this.#open.add(stream);
        request.signal.addEventListener("abort", () => {
          if (this.#open.delete(stream)) controller.error(request.signal.reason);
          this.#schedule();
        });
        this.#write(stream, OPENING);
        this.#send(stream);
        this.#schedule();
      },
      cancel: () => {
        this.#open.delete(stream);
        this.#schedule();
      },
    });
    const type = "text/event-stream; charset=utf-8";
    const headers = {
      "content-type": type,
      "cache-control": "no-store",
      "x-request-id": requestId,
    };
    return new Response(body, { headers });
  }

  #sendAll(): void {
    for (const stream of [...this.#open]) this.#send(stream);
    this.#schedule();
  }

  /** Sends what changed since the last event. */
  #send(stream: OpenStream): void {
    if (stream.id === undefined) this.#sendList(stream);
    else this.#sendOne(stream, stream.id);
  }

  #sendOne(stream: OpenStream, id: string): void {
    const { records } = stream;
    const position = records.countChanges(id);
    if (position > (stream.position ?? 0)) {
      this.#sendEvent(stream, position, records.name, records.get(id));
    }
    if (records.isFinished(id)) {
      this.#open.delete(stream);
      stream.controller.close();
    }
  }

  #sendList(stream: OpenStream): void {
    const { records } = stream;
    const isNew = stream.position === null;
    const position = stream.position ?? 0;
    const changed = records.changedAfter(position);
    const deleted = [...records.deleted].filter(([revision]) => revision > position);
    const toDeletion = ([revision, id]: [number, string]) => {
      return { revision, name: "deleted", data: { id } as object };
    };
    const events = [
      ...changed.map(({ row, revision }) => ({ revision, name: records.name, data: row })),
      // Deletions matter only to a client that resumes.
      ...(isNew ? [] : deleted.map(toDeletion)),
    ].sort((one, other) => one.revision - other.revision);
    stream.position = position;
    for (const { revision, name, data } of events.slice(isNew ? -MAX_FIRST : 0)) {
      this.#sendEvent(stream, revision, name, data);
    }
  }

  #sendEvent(stream: OpenStream, id: number, name: string, data: unknown): void {
    stream.position = id;
    this.#write(stream, `id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  #write({ controller }: OpenStream, text: string): void {
    controller.enqueue(new TextEncoder().encode(text));
  }

  /** Sets the timer for the next end of a job or a deployment, or for the next heartbeat. */
  #schedule(): void {
    clearTimeout(this.#timer);
    if (this.#open.size === 0) return;
    const nextEnd = Math.min(...this.#stores.map((records) => records.nextEnd));
    const delay = Math.min(HEARTBEAT, Math.max(0, nextEnd - this.#now()));
    this.#timer = setTimeout(() => {
      for (const records of this.#stores) records.settle();
      for (const stream of this.#open) this.#write(stream, ": hb\n\n");
      this.#schedule();
    }, delay);
  }
}
