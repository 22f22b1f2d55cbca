/** Server-sent events, as far as a stream of a job's changes needs them (WHATWG HTML, section 9.2). */

/** One event of a stream. */
export interface StreamEvent {
  /** `event`; "message" where the stream does not say. */
  event: string;
  /** `data`, its lines joined. */
  data: string;
  /** `id` as last seen, to resume after. */
  id: string;
}

/** A line longer than this is no stream of ours. */
const MAX_LINE = 1 << 20;

/** Makes events of a stream's text, however it is cut into chunks. */
export class EventParser {
  #rest = "";
  #data: string[] = [];
  #event = "";
  /** `id` as last seen, to resume after. */
  id = "";
  /** How long the server asks to wait before connecting again, in milliseconds. */
  retry: number | undefined;

  /** Begins another stream: an event that the one before left unfinished is none. */
  restart(): void {
    this.#rest = "";
    this.#data = [];
    this.#event = "";
  }

  /** Takes in a chunk; gives the events that it completes. */
  push(chunk: string): StreamEvent[] {
    const lines = (this.#rest + chunk).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() as string;
    if (this.#rest.length > MAX_LINE) throw new TypeError("a line of the event stream is too long");
    return lines.flatMap((line) => this.#line(line) ?? []);
  }

  #line(line: string): StreamEvent | undefined {
    if (line === "") return this.#dispatch();
    const colon = line.indexOf(":");
    if (colon === 0) return undefined; // A comment: a heartbeat.
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "data") this.#data.push(value);
    else if (field === "event") this.#event = value;
    else if (field === "id" && !value.includes("\0")) this.id = value;
    else if (field === "retry" && /^\d{1,7}$/.test(value)) this.retry = Number(value);
    return undefined;
  }

  #dispatch(): StreamEvent | undefined {
    const data = this.#data.join("\n");
    const event = this.#event || "message";
    this.#data = [];
    this.#event = "";
    return data === "" ? undefined : { event, data, id: this.id };
  }
}
