import assert from "node:assert/strict";
import { useJobs } from "../jobs_gateway.mjs";

export const ACME = "acme-docs";
export const OTHER = "other-docs";
const SCOPES = "deployments:create deployments:read automations:run gateway:operate";

export const updateOf = (project) => `/v1/project/update/${project}`;
const previewOf = (project) => `/v1/project/preview/${project}`;
export const triggerOf = (project, id) => `/v1/workflow/${project}/${id}/trigger`;
export const statusOf = (id) => `/v1/project/update-status/${encodeURIComponent(id)}`;
export const listOf = (project) => `/v1/project/${project}/deployments`;

/** Starts a gateway whose deployments change only when a test changes them, unless set. */
export function useSite(name, options) {
  const jobs = useJobs(name, async () => {
    const { upstream, ...rest } = typeof options === "function" ? await options() : options;
    return { upstream: { deploymentDurationMs: 24 * 3600 * 1000, ...upstream }, ...rest };
  });
  return new Site(jobs);
}

class Site {
  constructor(jobs) {
    Object.assign(this, { jobs, gate: jobs.gate });
  }

  get upstream() {
    return this.gate.upstream;
  }

  /** Returns the `Authorization` value of a token for all projects, with `changes` applied. */
  as(changes = {}) {
    const claims = { projects: this.jobs.projects, scope: SCOPES, ...changes };
    return `Bearer ${this.gate.token(claims)}`;
  }

  get(target, { as, headers } = {}) {
    return this.gate.get(target, { authorization: this.as(as), headers });
  }

  /** Sends a `POST` without a body, or with `json`. */
  post(target, { headers = [], json } = {}) {
    const all = json === undefined ? [["Content-Length", "0"], ...headers] : headers;
    return this.gate.post(target, json, { authorization: this.as(), headers: all });
  }

  deploy(project = ACME, options = {}) {
    return this.post(updateOf(project), options);
  }

  preview(branch, { project = ACME, ...options } = {}) {
    return this.post(previewOf(project), { json: { branch }, ...options });
  }

  async deployed(project = ACME, options = {}) {
    const answer = await this.deploy(project, options);
    assert.equal(answer.status, 202, answer.text);
    return answer.json.statusId;
  }

  remove(project, id) {
    const target = `${listOf(project)}/${id}`;
    return this.gate.send({ method: "DELETE", target, authorization: this.as() });
  }

  /** Opens an event stream: of one deployment, or of all of the project. */
  watch(project, id) {
    const path = `${listOf(project)}${id === undefined ? "" : `/${id}`}/events`;
    return this.jobs.openStream(path, { authorization: this.as() });
  }
}
