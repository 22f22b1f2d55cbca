/** The resources that the package can watch. */

import type { Given, Stream } from "./transport.js";
import type { Operations } from "./types.js";

/** A kind of resource that the package can watch. */
export interface Watched<Get extends keyof Operations = keyof Operations> {
  /** The operation that reads the resource. */
  readonly get: Get;
  /** The name of the resource in changes and of the events of its streams. */
  readonly name: "job" | "deployment";
  /** Returns the parameters of `get`. */
  params(id: string | null): Given<Operations[Get]["params"]>;
  /** Returns the stream of one resource. */
  events(id: string | null): Stream;
  /** The stream of the list. */
  readonly allEvents: Stream;
}
