/** The action against a quick stand-in for the gateway, and what only a stand-in can be made to say. */
import assert from "node:assert/strict";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { startStandIn } from "./gateway_stand_in.mjs";
import { runStep, startStep } from "./runner.mjs";
import { describeAction } from "./scenarios.mjs";

const { github, place, step, startJob, runJob, only, errors, completed } = describeAction(
  "against a stand-in",
  startStandIn,
);

describe("an identity token", () => {
  const seconds = (lifetime) => {
    const now = Math.floor(Date.now() / 1000);
    return { iat: now, nbf: now, exp: now + lifetime };
  };

  test("is asked for again before it expires, and every one is masked", async () => {
    github().claims = seconds(2);
    const { running, job } = await startJob();
    github().claims = seconds(300);
    // The gateway ends a stream with its token; the step connects again with another.
    await place().endStreamsUntil(() => place().seen.size > 1);
    await place().setJob(job.id, completed);
    const result = await running.ended;
    assert.equal(result.code, 0, result.raw);
    assert.ok(github().tokens.length >= 2);
    for (const token of github().tokens) assert.ok(result.masks.includes(token));
  });

  test("is asked for once while it is good", async () => {
    await runJob(completed);
    assert.equal(github().tokens.length, 1);
  });

  test("is asked for again when GitHub fails for a moment", async () => {
    github().tokenFaults = [503];
    const result = await runStep(step({ with: { wait: false } }));
    assert.equal(result.code, 0, result.raw);
    assert.match(result.log, /no identity token \(status 503\); asking again/);
  });

  test("that GitHub no longer gives ends the wait, and the reason is said", async () => {
    github().claims = seconds(2);
    const { running, job } = await startJob();
    github().tokenFaults = Array(100).fill(403);
    await place().endStreamsUntil(() => github().tokenFaults.length < 100);
    const result = await running.ended;
    assert.equal(result.code, 1);
    assert.equal(result.outputs["job-id"], job.id);
    assert.match(only(errors(result)).message, /no identity token: status 403/);
  });

  test("that GitHub refuses ends the step", async () => {
    github().tokenFaults = [403, 403];
    const result = await runStep(step());
    assert.equal(result.code, 1);
    assert.match(only(errors(result)).message, /no identity token: status 403/);
    assert.deepEqual(github().tokenFaults, [403], "and is not asked for again");
  });
});

describe("a gateway", () => {
  test("that fails for a moment is asked again, and starts one job", async () => {
    await place().failCreation(503);
    const { result } = await runJob(completed);
    assert.equal(result.code, 0, result.raw);
    assert.match(result.log, /trying again in \d+ s/);
    assert.equal((await place().jobs()).length, 1);
  });

  test("that refuses is quoted, with the request's id", async () => {
    await place().failCreation(422);
    const result = await runStep(step());
    assert.equal(result.code, 1);
    const { title, message } = only(errors(result));
    assert.equal(title, "The job was not started");
    assert.match(message, /the gateway refused: .*it was refused.*request-1/);
  });

  test("that cannot be reached is named as such", async () => {
    const result = await runStep(step({ with: { gateway: "http://127.0.0.1:1" } }));
    assert.equal(result.code, 1);
    const { title, message } = only(errors(result));
    assert.equal(title, "It is not known whether the job was started");
    assert.match(message, /the gateway cannot be reached/);
  });
});

describe("what others have written", () => {
  test("commands nothing", async () => {
    const evil = "done\n::add-mask::the\n##[error]x ##[add-path]/tmp ::error::y";
    const { running, job } = await startJob();
    await place().setJob(job.id, { status: evil });
    await running.says(/The job \S+ is done/);
    await place().setJob(job.id, { status: "completed", prLink: `${evil}\nstatus<<x` });
    const result = await running.ended;
    assert.equal(result.code, 0, result.raw);
    assert.ok(!result.masks.includes("the"));
    assert.deepEqual(errors(result), []);
    assert.deepEqual(Object.keys(result.outputs).sort(), ["job-id", "pull-request", "status"]);
    assert.equal(result.outputs.status, "completed");
    assert.doesNotMatch(result.summary, /\]\(/, "what is not an address of the web is not a link");
  });

  test("stays in its block of the summary", async () => {
    const prompt = "Document this:\n```\n### Not a heading\n```\n</details>\n````";
    const { result } = await runJob(completed, { with: { prompt } });
    assert.ok(result.summary.includes(`\`\`\`\`\`text\n${prompt}\n\`\`\`\`\``), result.summary);
  });
});

describe("a prompt", () => {
  const prompts = async () => (await place().jobs()).map(({ prompt }) => prompt);
  const withFile = (name, prepare, more) => {
    const inputs = { prompt: undefined, "prompt-file": name, wait: false, ...more };
    return runStep(step({ with: inputs, prepare }));
  };
  const write = (name, content) => (folder) => writeFileSync(join(folder, name), content);
  const refuses = async (result, message) => {
    const { title, message: words } = only(errors(await result));
    assert.equal((await result).code, 1);
    assert.equal(title, "The step is set up wrongly");
    assert.match(words, message);
    assert.deepEqual(await prompts(), []);
  };

  test("is read from a file of the workspace as it is", async () => {
    const text = "Two lines,\n  and 文書.\n";
    const result = await withFile("prompt.md", write("prompt.md", text));
    assert.equal(result.code, 0, result.raw);
    assert.deepEqual(await prompts(), [text]);
  });

  test("is not read from elsewhere, also through a link in the checkout", async () => {
    await refuses(withFile("../event.json"), /is outside of the workspace/);
    await refuses(withFile("/proc/self/environ"), /is outside of the workspace/);
    const link = (folder) => symlinkSync("/proc/self/environ", join(folder, "prompt.md"));
    await refuses(withFile("prompt.md", link), /is outside of the workspace/);
  });

  test("is either given or in a file", async () => {
    await refuses(withFile("none.md"), /there is no file none\.md/);
    await refuses(withFile("empty.md", write("empty.md", " \n")), /empty\.md is empty/);
    await refuses(withFile("latin.md", write("latin.md", Buffer.from([0xe9]))), /is not UTF-8/);
    await refuses(withFile("long.md", write("long.md", "x".repeat(131_073))), /at most 131072/);
    await refuses(withFile("a.md", write("a.md", "x"), { prompt: "x" }), /not both/);
    await refuses(runStep(step({ with: { prompt: "  " } })), /prompt or prompt-file is missing/);
  });
});

describe("an input that cannot be used", () => {
  for (const [inputs, message] of [
    [{ gateway: "" }, /the input gateway is missing/],
    [{ gateway: "gate.example" }, /gateway must be an https address/],
    [{ gateway: "http://gate.example" }, /gateway must be an https address/],
    [{ project: " " }, /the input project is missing/],
    [{ wait: "yes" }, /wait must be true or false/],
    [{ comment: "1" }, /comment must be true or false/],
    [{ timeout: "30" }, /timeout must be 1s to 120h/],
    [{ timeout: "0s" }, /timeout must be 1s to 120h/],
    [{ timeout: "121h" }, /timeout must be 1s to 120h/],
    [{ audience: "" }, /the input audience is missing/],
    [{ "idempotency-key": "schön" }, /idempotency/i],
  ]) {
    test(`is refused by its name: ${JSON.stringify(inputs)}`, async () => {
      const result = await runStep(step({ with: inputs }));
      assert.equal(result.code, 1);
      assert.match(only(errors(result)).message, message);
      assert.deepEqual(await place().jobs(), []);
    });
  }

  test("is refused without a word of a secret", async () => {
    const secret = "an-access-token-that-nobody-knows";
    const result = await runStep(step({ with: { token: secret, gateway: "" } }));
    assert.equal(result.code, 1);
    assert.ok(result.masks.includes(secret) && !result.log.includes(secret));
  });
});

test("a step outside of a workflow says so", async () => {
  const result = await startStep(step({ env: { GITHUB_OUTPUT: "" } })).ended;
  assert.equal(result.code, 1);
  assert.match(only(errors(result)).message, /runs as a step of a workflow/);
});

test("the log of a debug run has the requests and no secret", async () => {
  const { result } = await runJob(completed, { env: { RUNNER_DEBUG: "1" } });
  assert.match(result.raw, /^::debug::.*POST/m);
  const lines = result.raw.split("\n").filter((line) => !line.startsWith("::add-mask::"));
  for (const token of github().tokens) assert.ok(!lines.join("\n").includes(token));
});
