/** The action against a stand-in for the gateway. */
import assert from "node:assert/strict";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe } from "node:test";
import { assertFailed, COMPLETED, errorsOf, only } from "./fixtures.mjs";
import { useStandIn } from "./gateway_stand_in.mjs";

const CONCURRENCY = 4;

const test = useStandIn();

function lifetime(seconds) {
  const now = Math.floor(Date.now() / 1000);
  return { iat: now, nbf: now, exp: now + seconds };
}

describe("identity tokens", { concurrency: CONCURRENCY }, () => {
  test("requests a new identity token before the old one expires, and masks both", async (run) => {
    const { github, gateway } = run;
    github.claims = lifetime(2);
    const { running, job } = await run.startJob();
    github.claims = lifetime(300);
    // The gateway ends a stream when its token expires. The step reconnects with a new token.
    await gateway.endStreamsUntil(() => gateway.seen.size > 1);
    await gateway.setJob(job.id, COMPLETED);
    const result = await running.ended;
    assert.equal(result.code, 0, result.raw);
    assert.ok(github.tokens.length >= 2);
    for (const token of github.tokens) assert.ok(result.masks.includes(token));
  });

  test("does not retry a creation without a response after GitHub refuses a token", async (run) => {
    const { github, gateway } = run;
    // Each request needs a new token. GitHub refuses only the token of the first retry.
    github.claims = lifetime(0);
    github.tokenFaults = [undefined, undefined, 403];
    await gateway.failCreation((response) => response.destroy());
    const result = await run.run({ with: { wait: false } });
    assert.deepEqual(await gateway.jobs(), []);
    const title = "The Action cannot tell whether the job started";
    assertFailed(result, /no identity token: status 403/, title);
  });
});

describe("gateway failures", { concurrency: CONCURRENCY }, () => {
  test("retries a creation that returns 503, and creates one job", async (run) => {
    await run.gateway.failCreation(503);
    const { result } = await run.runJob(COMPLETED);
    assert.equal(result.code, 0, result.raw);
    assert.match(result.log, /trying again in \d+ s/);
    assert.equal((await run.gateway.jobs()).length, 1);
  });

  test("quotes the gateway's refusal with its request id", async (run) => {
    await run.gateway.failCreation(422);
    const message = /the gateway refused: .*it was refused.*request-1/;
    assertFailed(await run.run(), message, "The job was not started");
  });

  test("says that a refusal is the answer to an earlier attempt", async (run) => {
    const body = JSON.stringify({
      type: "/problems/upstream-error",
      status: 404,
      detail: "no docs",
    });
    const headers = { "content-type": "application/problem+json", "idempotent-replayed": "true" };
    await run.gateway.failCreation((response) => response.writeHead(404, headers).end(body));
    const message = /no docs.*answer to an earlier attempt: start a new run.* idempotency-key/;
    assertFailed(await run.run(), message, "The job was not started");
  });

  test("reports an unknown outcome when an open connection broke and later ones are refused", async (run) => {
    let vanished;
    await run.gateway.failCreation((response) => {
      response.destroy();
      vanished = run.gateway.vanish();
    });
    const result = await run.run({ with: { timeout: "6s" } });
    await vanished;
    assert.equal(only(errorsOf(result)).title, "The Action cannot tell whether the job started");
    assert.match(result.summary, /npx quillgate job list/);
  });

  for (const [name, status, headers, found] of [
    ["a page", 404, { "content-type": "text/html" }, "status 404, text/html"],
    ["a page with 200", 200, { "content-type": "text/html; charset=utf-8" }, "status 200, text/h"],
    ["a redirect", 302, { location: "https://login.example" }, "status 302, without a type"],
  ]) {
    test(`reports that ${name} does not come from a gateway`, async (run) => {
      await run.gateway.failCreation((response) =>
        response.writeHead(status, headers).end("<html>"),
      );
      const { title, message } = only(errorsOf(await run.run()));
      assert.equal(title, "The job was not started");
      const start = `${run.gateway.url} is not a Quillgate gateway`;
      assert.ok(message.startsWith(start), message);
      assert.ok(message.includes(found) && message.includes("input gateway"), message);
    });
  }

  const OTHER_PROJECT = [403, "project-not-allowed", "the access token is not for this project"];
  const ACCESS_TOKEN = { token: "an-access-token-of-the-gateway" };
  for (const [problem, message, inputs] of [
    [OTHER_PROJECT, /Change the input project, or add "demo-docs" to the projects of the rule/],
    [OTHER_PROJECT, /Change the input project, or give a token for "demo-docs"/, ACCESS_TOKEN],
    [
      [403, "insufficient-scope", "this requires an access token with the scope jobs:create"],
      /scope jobs:create\. Add it to the scope of the rule/,
    ],
    [
      [422, "idempotency-key-reused", "this idempotency key was used for another request"],
      /within 24 hours, the input idempotency-key .*Give another idempotency-key/,
    ],
    [[413, "content-too-large", "the body is too large"], /the prompt is too long: .*1048576/],
    [[401, "invalid-token", "another audience"], /The input audience is "quillgate"/],
  ]) {
    const credential = inputs === undefined ? "an identity" : "an access token";
    test(`explains the problem ${problem[1]} for ${credential} by the input to change`, async (run) => {
      await run.gateway.failCreation(problem);
      const result = await run.run({ with: inputs });
      assertFailed(result, message, "The job was not started");
      const [status] = problem;
      assert.equal(result.groups.length, status === 401 ? 1 : 0, "claims help only after a 401");
    });
  }
});

describe("untrusted text", { concurrency: CONCURRENCY }, () => {
  test("executes no workflow command in the status or the link of a job", async (run) => {
    const evil = "done\n::add-mask::the\n##[error]x ##[add-path]/tmp ::error::y";
    const { running, job } = await run.startJob();
    await run.gateway.setJob(job.id, { status: evil });
    await running.waitForOutput(/The job \S+ is done/);
    await run.gateway.setJob(job.id, { status: "completed", prLink: `${evil}\nstatus<<x` });
    const result = await running.ended;
    assert.equal(result.code, 0, result.raw);
    assert.ok(!result.masks.includes("the"));
    assert.deepEqual(errorsOf(result), []);
    assert.deepEqual(Object.keys(result.outputs).sort(), ["job-id", "pull-request", "status"]);
    assert.equal(result.outputs.status, "completed");
    assert.doesNotMatch(result.summary, /\]\(/, "only a web address becomes a link");
  });

  test("keeps a prompt with Markdown inside its code block of the summary", async (run) => {
    const prompt = "Document this:\n```\n### Not a heading\n```\n</details>\n````";
    const { result } = await run.runJob(COMPLETED, { with: { prompt } });
    assert.ok(result.summary.includes(`\`\`\`\`\`text\n${prompt}\n\`\`\`\`\``), result.summary);
  });
});

describe("prompts", { concurrency: CONCURRENCY }, () => {
  const writeFile = (name, content) => (folder) => writeFileSync(join(folder, name), content);

  function runWithFile(run, name, prepare) {
    const inputs = { prompt: undefined, "prompt-file": name, wait: false };
    return run.run({ with: inputs, prepare });
  }

  async function assertMistake(run, result, pattern) {
    assertFailed(result, pattern, "The step is set up wrongly");
    assert.match(result.summary, /^### The step is set up wrongly\n\n> /);
    assert.doesNotMatch(result.raw, /^ +at /m, "the output has a stack trace");
    assert.deepEqual(await run.gateway.jobs(), []);
  }

  test("sends the content of a prompt file unchanged", async (run) => {
    const text = "Two lines,\n  and 文書.\n";
    const result = await runWithFile(run, "prompt.md", writeFile("prompt.md", text));
    assert.equal(result.code, 0, result.raw);
    const [{ prompt }] = await run.gateway.jobs();
    assert.equal(prompt, text);
  });

  const link = (folder) => symlinkSync("/proc/self/environ", join(folder, "prompt.md"));
  for (const [name, path, prepare] of [
    ["with a relative path", "../event.json"],
    ["with an absolute path", "/proc/self/environ"],
    ["behind a symbolic link", "prompt.md", link],
  ]) {
    test(`rejects a prompt file outside of the workspace ${name}`, async (run) => {
      const result = await runWithFile(run, path, prepare);
      await assertMistake(run, result, /is outside of the workspace/);
    });
  }
});

describe("inputs", { concurrency: CONCURRENCY }, () => {
  for (const [inputs, message] of [
    [{ gateway: "" }, /the input gateway is missing/],
    [{ gateway: "gate.example" }, /gateway must be an https address/],
    [{ gateway: "http://gate.example" }, /gateway must be an https address/],
    [{ project: " " }, /the input project is missing/],
    [{ wait: "yes" }, /wait must be true or false/],
    [{ comment: "1" }, /comment must be true or false/],
    [
      { gateway: "https://gate.example/v1" },
      /gateway must be an address without path.*: https:\/\/gate\.example$/,
    ],
    [{ gateway: "https://gate.example/?a=b" }, /gateway must be an address without path/],
    [{ gateway: "https://gate.example/#a" }, /gateway must be an address without path/],
    [{ gateway: "https://al:secret@gate.example" }, /gateway must have no user and no password$/],
    [{ timeout: "30" }, /timeout must be 1s to 120h.*found "30"/],
    [{ timeout: "" }, /timeout must be 1s to 120h.*it is empty/],
    [{ timeout: "0s" }, /timeout must be 1s to 120h/],
    [{ timeout: "121h" }, /timeout must be 1s to 120h/],
    [{ audience: "" }, /the input audience is missing/],
    [{ "idempotency-key": "schön" }, /the input idempotency-key must be/],
    [{ "idempotency-key": "a,b" }, /the input idempotency-key must be .* without commas/],
  ]) {
    test(`rejects the input ${JSON.stringify(inputs)} by its name`, async (run) => {
      assertFailed(await run.run({ with: inputs }), message);
      assert.deepEqual(await run.gateway.jobs(), []);
    });
  }

  test("masks the token even when another input is invalid", async (run) => {
    const token = "an-unknown-access-token";
    const result = await run.run({ with: { token, gateway: "" } });
    assert.equal(result.code, 1);
    assert.ok(result.masks.includes(token) && !result.log.includes(token));
  });

  test("logs requests but no secret in a debug run", async (run) => {
    const { result } = await run.runJob(COMPLETED, { env: { RUNNER_DEBUG: "1" } });
    assert.match(result.raw, /^::debug::.*POST/m);
    run.assertNoSecret(result);
  });
});
