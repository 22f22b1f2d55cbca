/** The rules of docs/github-actions.md in the gateway in workerd: whom each lets in, and whom it does not. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startGate } from "../gateway/gate.mjs";
import { startIssuer } from "../harness/issuer.mjs";
import { describeExamples, EXAMPLES, INTRUDERS } from "./examples.mjs";
import { PROJECT } from "./scenarios.mjs";
import { readExample } from "./workflow.mjs";

/** As long as no test takes. */
const NEVER_MS = 24 * 3600 * 1000;

/** An issuer for each rule, so that each is tried alone. */
const issuers = {};
let gate;

async function startTrusting(github) {
  for (const { heading } of EXAMPLES) issuers[heading] = await startIssuer();
  const trusted = EXAMPLES.map(({ heading }) => ({
    issuer: issuers[heading].url,
    audience: "quillgate",
    jwks: issuers[heading].jwksUrl,
    rules: [{ ...readExample(heading).rule, projects: [PROJECT] }],
  }));
  gate = await startGate("action-rules", {
    upstream: { projects: [PROJECT], jobDurationMs: NEVER_MS },
    gateway: { vars: { TRUSTED_ISSUERS: JSON.stringify(trusted), JOB_POLL_SECONDS: "1" } },
  });
  const { upstream } = gate;
  const ofGithub = github.issuer;
  return {
    url: gate.gateway.url,
    trust: async (heading) => {
      github.issuer = issuers[heading];
    },
    reset: () => upstream.reset(),
    jobs: () => upstream.jobs(),
    setJob: (id, changes) => upstream.setJob(id, changes),
    async stop() {
      github.issuer = ofGithub;
      await gate.stop();
      await Promise.all(Object.values(issuers).map((issuer) => issuer.stop()));
    },
  };
}

describeExamples("against the gateway in workerd", startTrusting);

describe("a rule of the documentation", () => {
  const create = async (heading, claims) => {
    const issuer = issuers[heading];
    const token = gate.known(issuer.mint(issuer.githubClaims({ aud: "quillgate", ...claims })));
    const target = `/v2/agent/${PROJECT}/job`;
    return gate.post(target, { prompt: "x" }, { authorization: `Bearer ${token}` });
  };

  for (const { heading, claims, intruders = [] } of EXAMPLES) {
    test(`lets in the workflow that it is for: ${heading}`, async () => {
      const answer = await create(heading, claims);
      assert.equal(answer.status, 201, answer.text);
    });

    test(`lets in nobody else: ${heading}`, async () => {
      const ofBranch = { ref: "refs/heads/mallory", environment: undefined };
      const ofFile = { workflow: "mallory", environment: undefined };
      for (const changes of [...INTRUDERS, ...intruders, ofBranch, ofFile]) {
        const answer = await create(heading, { ...claims, ...changes });
        assert.equal(answer.status, 403, JSON.stringify(changes));
        assert.equal(answer.json.type, "/problems/identity-not-mapped");
      }
    });
  }
});
