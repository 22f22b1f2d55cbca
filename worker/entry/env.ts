import type { OrgGate } from "./org_gate.js";
import type { ProjectGate } from "./project_gate.js";

/** The bindings of `wrangler.toml`; variables and secrets are read by Rust, see `config.rs`. */
export interface Env {
  PROJECT_GATE: DurableObjectNamespace<ProjectGate>;
  ORG_GATE: DurableObjectNamespace<OrgGate>;
  /** Where each request leaves a data point, when it is bound. */
  ANALYTICS?: AnalyticsEngineDataset;
}

/** The gate of a project's budgets, jobs and watchers. */
export function projectGate(env: Env, project: string): DurableObjectStub<ProjectGate> {
  return env.PROJECT_GATE.getByName(project);
}

/** The gate of the organisation's analytics: one, since one admin key is of one organisation. */
export function orgGate(env: Env): DurableObjectStub<OrgGate> {
  return env.ORG_GATE.getByName("organisation");
}
