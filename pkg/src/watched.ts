/** The resources that the package can watch. */

import type { Given, Stream } from "./transport.js";
import type { Operations } from "./types.js";

/** The names of resources in changes and of the events of their streams. */
export type Name = "job" | "deployment";

/** A state of a resource, as the property of its name. */
export type NamedChange<Get extends keyof Operations, Own extends Name> = {
  [Property in Own]: Operations[Get]["result"];
} & { done: boolean };

/** A kind of resource that the package can watch. */
export interface Watched<Get extends keyof Operations = keyof Operations, Own extends Name = Name> {
  /** The operation that reads the resource. */
  readonly get: Get;
  readonly name: Own;
  /** Returns the parameters of `get`. */
  params(id: string | null): Given<Operations[Get]["params"]>;
  /** Returns the stream of one resource. */
  events(id: string | null): Stream;
  /** The stream of the list. */
  readonly allEvents: Stream;
}
