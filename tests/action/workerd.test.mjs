/** The action against the gateway in workerd, in front of the simulated platform. */
import assert from "node:assert/strict";
import { startGate } from "../gateway/gate.mjs";
import { describeAction, PROJECT, REPOSITORY_ID } from "./scenarios.mjs";

/** As long as no test takes: a job changes when it is told to, and not before. */
const NEVER_MS = 24 * 3600 * 1000;

describeAction("against the gateway in workerd", async (github) => {
  const { issuer } = github;
  const rule = {
    claims: { repository_id: REPOSITORY_ID, repository_owner_id: "3003" },
    caller: ["repository_id"],
    projects: [PROJECT],
    scope: "jobs:create jobs:read",
  };
  const trusted = [
    { issuer: issuer.url, audience: "quillgate", jwks: issuer.jwksUrl, rules: [rule] },
  ];
  const vars = {
    TRUSTED_ISSUERS: JSON.stringify(trusted),
    JOB_POLL_SECONDS: "1",
    CREATE_LIMIT_PER_HOUR: "1000",
  };
  const gate = await startGate("action", {
    upstream: { projects: [PROJECT], jobDurationMs: NEVER_MS, createLimit: 1000 },
    gateway: { vars },
  });
  const { upstream } = gate;
  return {
    url: gate.gateway.url,
    accessToken: gate.token({ scope: "jobs:create jobs:read" }),
    reset: () => upstream.reset(),
    async jobs() {
      const jobs = await upstream.jobs();
      return jobs.map(({ id, prompt, status }) => ({ id, prompt, status }));
    },
    setJob: (id, changes) => upstream.setJob(id, changes),
    loseCreation: () =>
      upstream.fault({ operation: "agentJobs.create", times: 1, fault: { kind: "reset" } }),
    async holdCreation() {
      await upstream.hold({ operation: "agentJobs.create", process: true });
      return { arrived: upstream.untilHeld(1), release: () => upstream.release() };
    },
    async stop() {
      await gate.stop();
      const log = gate.gateway.log();
      assert.ok(github.issued.length > 0, "the gateway got tokens");
      for (const token of github.issued) assert.ok(!log.includes(token), "none is in its log");
    },
  };
});
