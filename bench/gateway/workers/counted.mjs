/**
 * The gateway with its crossings counted: every call from JavaScript into the wasm and back,
 * by name and by where it happens. For requests one after another.
 */
import "./counter.mjs";
import worker, { OrgGate as Org, ProjectGate as Project } from "../../../worker/entry/index.ts";

const { crossings } = globalThis;

export default {
  async fetch(request, env, context) {
    if (new URL(request.url).pathname === "/crossings") {
      return Response.json(crossings.told());
    }
    return await worker.fetch(request, env, context);
  },
};

export class OrgGate extends Org {
  views(call) {
    return crossings.inObject(() => super.views(call));
  }
}

export class ProjectGate extends Project {
  write(call, write) {
    return crossings.inObject(() => super.write(call, write));
  }
}
