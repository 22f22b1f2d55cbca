/** The action against a quick stand-in for the gateway, and what only a stand-in can be made to say. */
import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
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

  test("that cannot be reached is named as such: nothing was started", async () => {
    await place().vanish();
    try {
      const result = await runStep(step({ with: { timeout: "1s" } }));
      assert.equal(result.code, 1);
      const { title, message } = only(errors(result));
      assert.equal(title, "The job was not started");
      assert.match(message, /^127\.0\.0\.1:\d+ refuses connections; check the input gateway$/);
    } finally {
      await place().comeBack();
    }
  });

  test("whose name does not exist is named as such", async () => {
    const gateway = "https://gate.invalid";
    const result = await runStep(step({ with: { gateway, timeout: "1s" } }));
    const { title, message } = only(errors(result));
    assert.equal(title, "The job was not started");
    assert.match(message, /^gate\.invalid cannot be resolved; check the input gateway$/);
  });

  test("is tried for longer than the package would", async () => {
    await place().vanish();
    const running = startStep(step());
    // The package would give up with its third attempt.
    await running.says(/(refuses connections; trying again[\s\S]*){3}/);
    await place().comeBack();
    await running.says(/The job \S+ is active/);
    const [job] = await place().jobs();
    await place().setJob(job.id, completed);
    const result = await running.ended;
    assert.equal(result.code, 0, result.raw);
    assert.equal((await place().jobs()).length, 1);
  });

  test("that broke a connection that stood leaves the outcome unknown, though it refuses others", async () => {
    let vanished;
    await place().failCreation((response) => {
      response.destroy();
      vanished = place().vanish();
    });
    try {
      const result = await runStep(step({ with: { timeout: "2s" } }));
      assert.equal(only(errors(result)).title, "It is not known whether the job was started");
      assert.match(result.summary, /npx quillgate job list/);
    } finally {
      await vanished;
      await place().comeBack();
    }
  });

  test("that has not named its job when the step is cancelled is named with what lists jobs", async () => {
    const held = await place().holdCreation();
    const running = startStep(step());
    await held.arrived;
    running.cancel();
    const result = await running.ended;
    await held.release();
    assert.equal(result.code, 130, result.raw);
    for (const text of [result.log, result.summary]) {
      assert.match(text, /QUILLGATE_PROJECT_ID=demo-docs npx quillgate job list/);
    }
  });

  test("that is lost while the step waits is said once, and that it is back", async () => {
    const { running, job } = await startJob();
    await place().vanish();
    await running.says(/The gateway cannot be reached/);
    await place().comeBack();
    await running.says(/The gateway can be reached again/);
    await place().setJob(job.id, completed);
    const result = await running.ended;
    assert.equal(result.code, 0, result.raw);
    assert.equal(result.log.match(/cannot be reached/g).length, 1);
  });

  test("that stays lost is why the job's end was not seen", async () => {
    const { running, job } = await startJob({ with: { timeout: "3s" } });
    await place().vanish();
    try {
      const result = await running.ended;
      assert.equal(result.code, 1);
      const { title, message } = only(errors(result));
      assert.match(title, /end of the job was not seen within 3s/);
      assert.match(message, /^The gateway could not be reached since \d\d:\d\d:\d\d UTC/);
      assert.doesNotMatch(message, /more time/);
      assert.match(result.summary, /could not be reached since/);
      assert.ok(result.summary.includes(`npx quillgate job watch ${job.id}`));
    } finally {
      await place().comeBack();
    }
  });

  for (const [name, status, headers, found] of [
    ["a page", 404, { "content-type": "text/html" }, "status 404, text/html"],
    ["a page with 200", 200, { "content-type": "text/html; charset=utf-8" }, "status 200, text/h"],
    ["a redirect", 302, { location: "https://login.example" }, "status 302, without a type"],
  ]) {
    test(`is told from ${name} of another site`, async () => {
      await place().failCreation((response) => response.writeHead(status, headers).end("<html>"));
      const result = await runStep(step());
      const { title, message } = only(errors(result));
      assert.equal(title, "The job was not started");
      assert.ok(
        message.startsWith(`what answers at ${place().url} is no Quillgate gateway`),
        message,
      );
      assert.ok(message.includes(found) && message.includes("input gateway"), message);
    });
  }

  for (const [problem, message, inputs] of [
    [
      [403, "project-not-allowed", "the access token is not for this project"],
      /Change the input project, or add "demo-docs" to the member projects of the rule/,
    ],
    [
      [403, "project-not-allowed", "the access token is not for this project"],
      /Change the input project, or give a token for "demo-docs"/,
      { token: "an-access-token-of-the-gateway" },
    ],
    [
      [403, "insufficient-scope", "this needs an access token with the scope jobs:create"],
      /scope jobs:create\. Add it to the member scope of the rule/,
    ],
    [
      [422, "idempotency-key-reused", "this idempotency key was used for another request"],
      /within 24 hours, the input idempotency-key .*Give another idempotency-key/,
    ],
    [[413, "content-too-large", "the body must not be larger"], /the prompt is too long: .*131072/],
    [
      [401, "invalid-token", "the access token is for another audience"],
      /The input audience is "quillgate"/,
    ],
  ]) {
    const by = inputs === undefined ? "" : ", to a token";
    test(`is explained by what to change: ${problem[1]}${by}`, async () => {
      await place().failCreation(problem);
      const result = await runStep(step({ with: inputs }));
      const error = only(errors(result));
      assert.equal(error.title, "The job was not started");
      assert.match(error.message, message);
      const [status] = problem;
      assert.equal(result.groups.length, status === 401 ? 1 : 0, "claims are no help otherwise");
    });
  }
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
    assert.match((await result).summary, /^### The step is set up wrongly\n\n> /);
    assert.doesNotMatch((await result).raw, /^ +at /m, "no stack");
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
    await refuses(withFile("long.md", write("long.md", "x".repeat(131_073))), /has 131073 bytes/);
    // In the body, a line break takes two bytes.
    const lines = write("lines.md", "x\n".repeat(50_000));
    await refuses(withFile("lines.md", lines), /as JSON it has 150013 bytes, .* takes 131072/);
    await refuses(withFile("."), /prompt-file: \. is a folder/);
    await refuses(
      withFile("docs", (folder) => mkdirSync(join(folder, "docs"))),
      /docs is a folder/,
    );
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
    [
      { gateway: "https://gate.example/v1" },
      /gateway must be an address without path.*: https:\/\/gate\.example$/,
    ],
    [{ gateway: "https://gate.example/?a=b" }, /gateway must be an address without path/],
    [{ gateway: "https://gate.example/#a" }, /gateway must be an address without path/],
    [
      { gateway: "https://alice:secret@gate.example" },
      /gateway must have no user and no password$/,
    ],
    [{ timeout: "30" }, /timeout must be 1s to 120h.*found "30"/],
    [{ timeout: "" }, /timeout must be 1s to 120h.*it is empty/],
    [{ timeout: "0s" }, /timeout must be 1s to 120h/],
    [{ timeout: "121h" }, /timeout must be 1s to 120h/],
    [{ audience: "" }, /the input audience is missing/],
    [{ "idempotency-key": "schön" }, /the input idempotency-key must be/],
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
