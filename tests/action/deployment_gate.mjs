/** A gateway in workerd whose rules allow each event only what its workflow needs. */
import { after, before, test } from "node:test";
import { startGate, trust } from "../gateway/recorded_gateway.mjs";
import { startIssuer } from "../harness/issuer.mjs";
import { REPOSITORY_ID, WorkflowRun } from "./fixtures.mjs";
import { startGithub } from "./github.mjs";

/** Longer than any test: jobs and deployments change only when a test changes them. */
const NEVER_MS = 24 * 3600 * 1000;
/** A project for each test, so that tests can run concurrently on one gateway. */
const PROJECTS = Array.from({ length: 40 }, (_, at) => `docs-${at}`);

/** A branch whose name has a slash and is not ASCII. */
export const BRANCH = "docs/größe-文書";
/** The events of tests, whose rules have different scopes. */
const EVENTS = {
  deployments: { event_name: "push", scope: "deployments:create deployments:read" },
  automations: { event_name: "workflow_dispatch", scope: "automations:run" },
  jobs: { event_name: "release", scope: "jobs:create jobs:read" },
  all: {
    event_name: "schedule",
    scope: "jobs:create jobs:read deployments:create deployments:read",
  },
};

/** Starts the gateway of a test file, whose workflow runs have an event. */
export function useDeploymentGate(name, event) {
  const site = new DeploymentGate(event);
  before(() => site.start(name));
  after(() => site.stop());
  return site;
}

class DeploymentGate {
  #event;
  #issuer;
  githubs = [];
  #unusedProjects = [...PROJECTS];

  constructor(event) {
    this.#event = EVENTS[event];
  }

  async start(name) {
    this.#issuer = await startIssuer();
    const issuer = this.#issuer;
    const rules = Object.values(EVENTS).map(({ event_name, scope }) => ({
      claims: { repository_id: REPOSITORY_ID, repository_owner_id: "3003", event_name },
      caller: ["repository_id"],
      projects: PROJECTS,
      scope,
    }));
    this.gate = await startGate(name, {
      upstream: {
        projects: PROJECTS,
        ...{ jobDurationMs: NEVER_MS, deploymentDurationMs: NEVER_MS },
        ...{ createLimit: 1e6, deploymentLimit: 1e6, previewLimit: 1e6 },
      },
      gateway: {
        vars: {
          ...trust(issuer, rules),
          JOB_POLL_SECONDS: "1",
          JOB_POLLS_PER_HOUR: "100000",
          CREATE_LIMIT_PER_HOUR: "100000",
          DEPLOYMENT_LIMIT_PER_10_SECONDS: "100000",
          PREVIEW_LIMIT_PER_MINUTE: "100000",
        },
      },
    });
  }

  /** Defines a test of a workflow run. */
  test = (name, ...rest) => {
    const body = rest.pop();
    test(name, ...rest, async (t) => body(await this.#startRun(t), t));
  };

  async #startRun(t) {
    const github = await startGithub(this.#issuer);
    t.after(() => github.stop());
    this.githubs.push(github);
    github.claims = { event_name: this.#event.event_name };
    const { gate } = this;
    const { upstream } = gate;
    const project = this.#unusedProjects.pop();
    const accessToken = gate.token({ projects: [project], scope: this.#event.scope });
    const creation = { operation: "agentJobs.create", target: `/${project}/` };
    const inProject = (list) => list.filter(({ projectId }) => projectId === project);
    const gateway = {
      ...{ url: gate.gateway.url, project, accessToken },
      jobs: async () => inProject(await upstream.jobs()),
      setJob: (id, changes) => upstream.setJob(id, changes),
      loseCreation: () => upstream.fault({ ...creation, times: 1, fault: { kind: "reset" } }),
      async holdCreation() {
        await upstream.hold({ ...creation, process: true });
        return { arrived: upstream.untilHeld(1), release: () => upstream.release() };
      },
    };
    const run = new WorkflowRun({ github, gateway });
    return Object.assign(run, {
      upstream,
      deployments: async () => inProject(await upstream.deployments()),
      automations: async () => inProject(await upstream.automationRuns()),
    });
  }

  async stop() {
    await this.gate?.stop();
    await this.#issuer?.stop();
  }
}
