/** A parser for server-sent events (WHATWG HTML, section 9.2). */

/** An event of a stream. */
export interface StreamEvent {
  /** The event type. Defaults to "message". */
  event: string;
  /** The `data` fields, joined with line feeds. */
  data: string;
  /** The last event id of the stream. */
  id: string;
}

/** Maximum length of an unfinished event, in UTF-16 code units. Gateways send shorter events. */
const MAX_UNFINISHED = 1 << 20;

/** Parses the chunks of a stream. A chunk may end anywhere. */
export class EventParser {
  #rest = "";
  #isAfterReturn = false;
  #data: string[] = [];
  /** The length of `#data`, in UTF-16 code units. */
  #length = 0;
  #event = "";
  #id = "";
  /** The id of the last complete event, for `Last-Event-ID`. */
  id = "";
  /** The reconnection delay that the server requested, in milliseconds. */
  retry: number | undefined;

  /** Starts another stream, and discards an unfinished event of the previous one. */
  restart(): void {
    this.#rest = "";
    this.#isAfterReturn = false;
    this.#data = [];
    this.#length = 0;
    this.#event = "";
    this.#id = this.id;
  }

  /**
   * Returns the events that a chunk completes.
   *
   * @throws {TypeError} if the unfinished event is too long, after the events before it
   */
  push(chunk: string): StreamEvent[] {
    if (this.#length + this.#rest.length > MAX_UNFINISHED)
      throw new TypeError("an event of the stream is too long");
    if (chunk === "") return [];
    // A line feed after a carriage return belongs to the line end of the previous chunk.
    const next = this.#isAfterReturn ? chunk.replace(/^\n/, "") : chunk;
    this.#isAfterReturn = chunk.endsWith("\r");
    const lines = (this.#rest + next).split(/\r\n?|\n/);
    this.#rest = lines.pop() as string;
    return lines.flatMap((line) => this.#line(line) ?? []);
  }

  #line(line: string): StreamEvent | undefined {
    if (line === "") return this.#dispatch();
    const colon = line.indexOf(":");
    if (colon === 0) return undefined; // A comment, used as a heartbeat.
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "data") {
      this.#data.push(value);
      this.#length += value.length + 1;
    } else if (field === "event") this.#event = value;
    else if (field === "id" && !value.includes("\0")) this.#id = value;
    else if (field === "retry" && /^\d{1,7}$/.test(value)) this.retry = Number(value);
    return undefined;
  }

  #dispatch(): StreamEvent | undefined {
    const data = this.#data.join("\n");
    const event = this.#event || "message";
    this.id = this.#id;
    this.#data = [];
    this.#length = 0;
    this.#event = "";
    return data === "" ? undefined : { event, data, id: this.id };
  }
}
