/**
 * Hand-written Worker: a gateway in JavaScript, written for speed. For three operations, it has the
 * checks and Durable Objects of the real gateway.
 */
import { admit } from "./admission.mjs";
import { createJob, listViews, readJob } from "./operations.mjs";

export { OrgGate } from "./org_gate.mjs";
export { ProjectGate } from "./project_gate.mjs";

const OPERATIONS = { listViews, readJob, createJob };

export default {
  async fetch(request, env) {
    const { rejection, call } = await admit(request);
    return rejection ?? (await OPERATIONS[call.operation](call, request, env));
  },
};
