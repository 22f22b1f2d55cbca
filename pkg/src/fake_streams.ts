/** The event streams of the fake gateway. */

import type { FakeJobs } from "./fake_jobs.js";

/** Interval of the comments that keep a stream open, in milliseconds. */
const HEARTBEAT = 15_000;
const OPENING = "retry: 3000\n\n";
/** Maximum number of jobs that a stream of the list starts with. */
const MAX_FIRST = 25;

type Controller = ReadableStreamDefaultController<Uint8Array>;

/** A stream: of one job, or of the list if `jobId` is `undefined`. */
interface OpenStream {
  jobId: string | undefined;
  controller: Controller;
  /** The number of the last event sent; `null` before the first. */
  position: number | null;
}

/** Opens event streams and sends the changes of jobs to them. */
export class FakeStreams {
  readonly #jobs: FakeJobs;
  readonly #now: () => number;
  readonly #open = new Set<OpenStream>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(jobs: FakeJobs, now: () => number) {
    this.#jobs = jobs;
    this.#now = now;
    jobs.onChange = () => this.#sendAll();
  }

  /** Opens a stream. It ends with the job, or when the request is aborted. */
  open(jobId: string | undefined, request: Request, requestId: string): Response {
    const last = request.headers.get("last-event-id");
    const position = last === null ? null : Number(last);
    let stream: OpenStream;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        stream = { jobId, controller, position };
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
    if (stream.jobId === undefined) this.#sendList(stream);
    else this.#sendJob(stream, stream.jobId);
  }

  #sendJob(stream: OpenStream, jobId: string): void {
    const position = this.#jobs.countChanges(jobId);
    if (position > (stream.position ?? 0)) {
      this.#sendEvent(stream, position, "job", this.#jobs.get(jobId));
    }
    if (this.#jobs.isFinished(jobId)) {
      this.#open.delete(stream);
      stream.controller.close();
    }
  }

  #sendList(stream: OpenStream): void {
    const isNew = stream.position === null;
    const position = stream.position ?? 0;
    const changed = this.#jobs.changedAfter(position);
    const deleted = [...this.#jobs.deleted].filter(([revision]) => revision > position);
    const events = [
      ...changed.map(({ job, revision }) => ({ revision, name: "job", data: job as object })),
      // Deletions matter only to a client that resumes.
      ...(isNew ? [] : deleted.map(([revision, id]) => toDeletion(revision, id))),
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

  /** Sets the timer for the next end of a job or the next heartbeat. */
  #schedule(): void {
    clearTimeout(this.#timer);
    if (this.#open.size === 0) return;
    const delay = Math.min(HEARTBEAT, Math.max(0, this.#jobs.nextEnd - this.#now()));
    this.#timer = setTimeout(() => {
      this.#jobs.settle();
      for (const stream of this.#open) this.#write(stream, ": hb\n\n");
      this.#schedule();
    }, delay);
  }
}

function toDeletion(revision: number, id: string) {
  return { revision, name: "deleted", data: { id } as object };
}
