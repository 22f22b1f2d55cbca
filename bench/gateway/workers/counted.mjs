/**
 * The gateway with a counter of calls between JavaScript and wasm. The counter separates the Worker
 * from two methods of its Durable Objects, `report` and `write`. Calls of their other methods count
 * as the Worker's. Concurrent requests cannot be counted.
 */
import "./counter.mjs";
// Imports the build's output, so this file does not depend on how it is built.
import worker, { OrgGate as Org, ProjectGate as Project } from "../../../worker/build/index.js";

const { crossings } = globalThis;

export default {
  ...worker,
  async fetch(request, env, context) {
    if (request.url.endsWith("/crossings")) return Response.json(crossings.take());
    return await worker.fetch(request, env, context);
  },
};

export class OrgGate extends Org {
  report(...args) {
    return crossings.countInObject(() => super.report(...args));
  }
}

export class ProjectGate extends Project {
  write(...args) {
    return crossings.countInObject(() => super.write(...args));
  }
}
