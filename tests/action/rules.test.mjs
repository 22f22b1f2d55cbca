/** Runs the documented workflows against a gateway. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { startGate, trustedIssuer } from "../gateway/recorded_gateway.mjs";
import { startIssuer } from "../harness/issuer.mjs";
import { ALL_EXAMPLES, commits, EXAMPLES, INTRUDERS, OTHER_EXAMPLES } from "./examples.mjs";
import { PULL_REQUEST } from "./fixtures.mjs";
import { startGithub } from "./github.mjs";
import { DOCS, readExample, startWorkflowJob, WITHOUT_JQ } from "./workflow.mjs";

/** Longer than any test: a job changes only when a test changes it. */
const JOB_DURATION_MS = 24 * 3600 * 1000;
const CONCURRENCY = 4;

/** Each example has its own issuer and project, so that only its own rule can match. */
const issuers = {};
const projects = Object.fromEntries(ALL_EXAMPLES.map(({ heading }, at) => [heading, `docs-${at}`]));
let gate;

before(async () => {
  for (const { heading } of ALL_EXAMPLES) issuers[heading] = await startIssuer();
  const trusted = ALL_EXAMPLES.map(({ heading }) => {
    const rule = { ...readExample(heading).rule, projects: [projects[heading]] };
    return trustedIssuer(issuers[heading], [rule]);
  });
  gate = await startGate("action-rules", {
    upstream: { projects: Object.values(projects), jobDurationMs: JOB_DURATION_MS },
    gateway: {
      vars: {
        TRUSTED_ISSUERS: JSON.stringify(trusted),
        JOB_POLL_SECONDS: "1",
        JOB_POLLS_PER_HOUR: "100000",
      },
    },
  });
});

after(async () => {
  await gate?.stop();
  await Promise.all(Object.values(issuers).map((issuer) => issuer.stop()));
});

async function findJob(heading) {
  const jobs = await gate.upstream.jobs();
  return jobs.find(({ projectId }) => projectId === projects[heading]);
}

describe("workflows", { concurrency: CONCURRENCY }, () => {
  for (const example of EXAMPLES) {
    const { heading, claims, event, checkOut, prompt, documentedJob, comments = 0 } = example;
    const skip = example.usesJq && WITHOUT_JQ;
    test(`the workflow of ${heading} starts a job, waits for it and links its pull request`, {
      skip,
    }, async (t) => {
      const { job: definition, permissions } = readExample(heading);
      const github = await startGithub(issuers[heading]);
      t.after(() => github.stop());
      github.claims = claims;
      github.refusesComments = permissions["pull-requests"] !== "write";
      const env = {
        ...github.identityVariables(),
        GITHUB_API_URL: github.url,
        GITHUB_EVENT_NAME: claims.event_name,
      };
      const running = startWorkflowJob(definition, {
        github: {
          event,
          ref_name: "main",
          get sha() {
            return commits.last;
          },
        },
        checkOut,
        toStep: (inputs) => ({
          with: { ...inputs, gateway: gate.gateway.url, project: projects[heading] },
          ...{ env, event, githubToken: github.githubToken },
        }),
      });
      await running.waitForOutput(/The job \S+ is active/);
      const job = await findJob(heading);
      assert.match(job.prompt, prompt);
      await gate.upstream.setJob(job.id, { status: "completed", prLink: PULL_REQUEST });
      const result = await running.ended;
      assert.equal(result.code, 0, result.raw);
      assert.equal(result.outputs["pull-request"], PULL_REQUEST);
      assert.equal(github.comments.length, comments);
      if (documentedJob === undefined) return;
      const [summary] = result.summary.split("<details>");
      for (const text of [result.log, summary.replace(projects[heading], "acme")]) {
        const documented = text.trim().replaceAll(job.id, documentedJob);
        assert.ok(DOCS.includes(`\n${documented}\n`), documented);
      }
    });
  }
});

describe("rules", () => {
  const createJob = (project) => ({ target: `/v2/agent/${project}/job`, json: { prompt: "x" } });
  const send = (heading, claims, request) => {
    const issuer = issuers[heading];
    const token = gate.known(issuer.mint(issuer.githubClaims({ aud: "quillgate", ...claims })));
    const { method = "POST", target, json } = request(projects[heading]);
    const headers = method === "POST" && json === undefined ? [["Content-Length", "0"]] : [];
    return gate.send({ method, target, json, headers, authorization: `Bearer ${token}` });
  };

  for (const { heading, claims, intruders = [], request = createJob } of ALL_EXAMPLES) {
    test(`the rule of ${heading} accepts its workflow`, async () => {
      const response = await send(heading, claims, request);
      assert.ok([200, 201, 202].includes(response.status), response.text);
    });

    test(`the rule of ${heading} rejects every other workflow`, async () => {
      const otherBranch = { ref: "refs/heads/mallory", environment: undefined };
      const otherFile = { workflow: "mallory", environment: undefined };
      const others = INTRUDERS.filter(({ event_name }) => event_name !== claims.event_name);
      for (const changes of [...others, ...intruders, otherBranch, otherFile]) {
        const response = await send(heading, { ...claims, ...changes }, request);
        assert.equal(response.status, 403, JSON.stringify(changes));
        assert.equal(response.json.type, "/problems/identity-not-mapped");
      }
    });
  }

  for (const { heading, claims } of OTHER_EXAMPLES) {
    test(`the rule of ${heading} allows no job`, async () => {
      const response = await send(heading, claims, createJob);
      assert.equal(response.status, 403, response.text);
      assert.equal(response.json.type, "/problems/insufficient-scope");
    });
  }
});
