/** A gateway in JavaScript, written by hand for speed, with the same checks and objects. */
import { admit } from "./admission.mjs";
import { createJob, listViews, readJob } from "./operations.mjs";

export { OrgGate } from "./org_gate.mjs";
export { ProjectGate } from "./project_gate.mjs";

const OPERATIONS = { listViews, readJob, createJob };

export default {
  async fetch(request, env) {
    const { refusal, call } = await admit(request);
    return refusal ?? (await OPERATIONS[call.operation](call, request, env));
  },
};
