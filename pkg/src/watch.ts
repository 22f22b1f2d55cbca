/** Watches a job or a deployment by its event stream, or by polls. */

import { captureCallSite, locate } from "./errors.js";
import { abortOnReturn } from "./exchange.js";
import { MODE_WATCH } from "./generated/protocol.js";
import type { WaitOptions, WatchOptions } from "./job_types.js";
import { ownProperties, refuseUnknown } from "./known.js";
import { streamResource } from "./streams.js";
import { Task } from "./task.js";
import type { Transport } from "./transport.js";
import type { Operations } from "./types.js";
import type { Name, NamedChange, Watched } from "./watched.js";

/**
 * Yields the current state of a resource as the property `resource.name`, then every change until it
 * finishes.
 */
export function watchResource<Get extends keyof Operations, Own extends Name>(
  transport: Transport,
  resource: Watched<Get, Own>,
  id: string | null,
  options: WatchOptions | undefined,
  site = captureCallSite(),
): AsyncGenerator<NamedChange<Get, Own>, void, void> {
  return abortOnReturn(options, async function* ({ timeout, ...call }) {
    const { get, name } = resource;
    let watch: Task | undefined;
    try {
      refuseUnknown(call, ["signal", "headers", "fetchOptions"]);
      const sender = await transport.sender(call.signal);
      watch = new Task(sender, get, MODE_WATCH, resource.params(id), { timeout });
      const deadline = Date.now() + watch.timeout;
      let { nextStreamAt } = transport;
      for (;;) {
        if (Date.now() >= nextStreamAt) {
          const stream = { transport, watch, resource, id, call, deadline };
          const next = yield* streamResource<NamedChange<Get, Own>>(stream);
          if (next === undefined) return;
          nextStreamAt = next;
        }
        const change = await watch.next(transport.callOptions(get, call), nextStreamAt);
        if (change === undefined) continue; // It is time to try a stream again.
        const { data, done } = change;
        yield { [name]: data, done } as NamedChange<Get, Own>;
        if (done) return;
      }
    } catch (error) {
      throw locate(error, site, call.signal);
    } finally {
      watch?.free();
    }
  });
}

/** Watches a resource until it finishes, and resolves to its last state. */
export async function waitForResource<Get extends keyof Operations>(
  transport: Transport,
  resource: Watched<Get>,
  id: string | null,
  options: WaitOptions<Operations[Get]["result"]> | undefined,
  site = captureCallSite(),
): Promise<Operations[Get]["result"]> {
  type Result = Operations[Get]["result"];
  const { onUpdate, ...watching } = ownProperties(options);
  // A watch that succeeds yields at least one state, and the last one is final.
  let last!: Result;
  const changes = watchResource(transport, resource, id, watching, site);
  for await ({ [resource.name]: last } of changes) await onUpdate?.(last);
  return last;
}
