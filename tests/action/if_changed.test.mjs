/** The input `if-changed`: changed paths from Git and from GitHub's API, and commands. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { makeFolder } from "../harness/folder.mjs";
import { assertFailed, errorsOf, only, pullRequestEvent, warningsOf } from "./fixtures.mjs";
import { useStandIn } from "./gateway_stand_in.mjs";
import { startRepository } from "./repository.mjs";

const CONCURRENCY = 4;
const POLL_INTERVAL_MS = 10;
const NO_COMMIT = "0".repeat(40);
const [BASE, HEAD] = ["a", "b"].map((digit) => digit.repeat(40));
const COMPARISON = `/repos/acme/docs/compare/${BASE}...${HEAD}`;
const { PATH } = process.env;

/** A response of GitHub that compares two commits. */
const compared = (status, ...names) => ({ status, files: names.map((filename) => ({ filename })) });

const test = useStandIn();

function runGuard(run, guard, { env, ...options } = {}) {
  const inputs = { "if-changed": guard, wait: false };
  return run.run({ with: inputs, env: { PATH, ...env }, ...options });
}

async function assertRan(run, result) {
  assert.equal(result.code, 0, result.raw);
  assert.equal(result.outputs.skipped, "false");
  assert.equal((await run.gateway.jobs()).length, 1);
}

async function assertChanged(run, result, reason) {
  await assertRan(run, result);
  assert.match(result.log, reason);
  assert.deepEqual(warningsOf(result), []);
}

async function assertUndecided(run, result, reason) {
  await assertRan(run, result);
  const { title, message } = only(warningsOf(result));
  assert.equal(title, "The step runs, because if-changed could not be decided");
  assert.match(message, reason);
}

async function assertSkipped(run, result, reason) {
  assert.equal(result.code, 0, result.raw);
  assert.deepEqual(result.outputs, { skipped: "true" });
  assert.match(result.log, reason);
  assert.match(result.summary, /^### Skipped\n\n/);
  assert.deepEqual(result.annotations, []);
  assert.deepEqual([await run.gateway.jobs(), run.github.tokens], [[], []]);
}

function startOrigin(t) {
  const { folder, git, commit } = startRepository(t);
  /** Checks out a commit as actions/checkout does. `depth` 0 fetches everything. */
  const checkOut = (head, { depth = 0, others = [] } = {}) => {
    return (workspace) => {
      const run = (...args) => execFileSync("git", args, { cwd: workspace, stdio: "ignore" });
      run("init", "--quiet");
      const refs = depth === 0 ? ["+refs/heads/*:refs/remotes/origin/*", head] : [head, ...others];
      const options = depth === 0 ? [] : [`--depth=${depth}`];
      run("fetch", "--quiet", ...options, `file://${folder}`, ...refs);
      run("checkout", "--quiet", "--force", head);
    };
  };
  return { git, commit, checkOut };
}

describe("changed paths in the checkout", { concurrency: CONCURRENCY }, () => {
  for (const [name, guard, paths, isChanged] of [
    ["a path below a folder", "docs/**", ["docs/a/b.mdx"], true],
    ["a path below a folder with a slash", "docs/", ["docs/a/b.mdx"], true],
    ["a path outside", "docs/**", ["src/a.ts", "docs.md"], false],
    ["a file in a folder below", "docs/*.mdx", ["docs/a/b.mdx"], false],
    ["a hidden file at any depth", "**/*.json", ["docs.json", ".a/.b.json"], true],
    ["an excluded path", "docs/**\n!docs/drafts/**", ["docs/drafts/a.mdx"], false],
    ["an excluded path and another", "docs/**\n!docs/drafts/**", ["docs/drafts/a", "docs/b"], true],
    ["a path that is included again", "docs/**\n!docs/a/**\ndocs/a/b", ["docs/a/b"], true],
    ["a name that is not ASCII", "docs/größe 文書.mdx", ["docs/größe 文書.mdx"], true],
    ["a dot, which is not any character", "docs.json", ["docsxjson"], false],
    ["a name with a line break", "docs/**", ["docs/a\nb"], true],
  ]) {
    const verb = isChanged ? "runs" : "skips";
    test(`${verb} for ${name}: ${JSON.stringify(guard)}`, async (run, t) => {
      const { commit, checkOut } = startOrigin(t);
      const base = commit("README.md");
      const head = commit(...paths);
      const event = { before: base, after: head };
      const result = await runGuard(run, guard, { event, prepare: checkOut(head) });
      if (isChanged) await assertChanged(run, result, /if-changed: .* changed/s);
      else await assertSkipped(run, result, /none of the \d changed paths/);
      assert.deepEqual(run.github.reads, [], "Git is enough");
    });
  }

  test("runs when a push removed or renamed a path", async (run, t) => {
    const { git, commit, checkOut } = startOrigin(t);
    const base = commit("docs/a.mdx", "docs/b.mdx");
    git("mv", "docs/a.mdx", "a.mdx");
    const moved = commit();
    const event = { before: base, after: moved };
    const result = await runGuard(run, "docs/a.*", { event, prepare: checkOut(moved) });
    await assertChanged(run, result, /docs\/a\.mdx changed/);
  });

  test("compares a forced push with the commit that it replaced", async (run, t) => {
    const { git, commit, checkOut } = startOrigin(t);
    const base = commit("README.md");
    const lost = commit("docs/a.mdx");
    git("branch", "lost");
    git("reset", "--quiet", "--hard", base);
    const event = { before: lost, after: base, forced: true };
    const result = await runGuard(run, "docs/**", { event, prepare: checkOut(base) });
    await assertChanged(run, result, /docs\/a\.mdx changed/);
  });

  test("compares a pull request with the commit where its branch began", async (run, t) => {
    const { git, commit, checkOut } = startOrigin(t);
    commit("README.md");
    git("checkout", "--quiet", "-b", "next");
    const head = commit("src/a.ts");
    git("checkout", "--quiet", "main");
    const base = commit("docs/a.mdx");
    const event = pullRequestEvent(12, { head: { sha: head }, base: { sha: base } });
    const skipped = await runGuard(run, "docs/**", { event, prepare: checkOut(head) });
    await assertSkipped(run, skipped, /none of the 1 changed paths/);
    const result = await runGuard(run, "src/**", { event, prepare: checkOut(head) });
    await assertChanged(run, result, /src\/a\.ts changed/);
  });
});

describe("changed paths from GitHub's API", { concurrency: CONCURRENCY }, () => {
  const push = { event: { before: BASE, after: HEAD } };

  const renamed = { filename: "a", previous_filename: "docs/a" };
  const many = Array.from({ length: 300 }, (_, at) => String(at));
  const forced = /forced push replaced the previous commit/;
  const truncated = /only the first 300 changed paths/;
  for (const [name, response, outcome, reason] of [
    ["a changed path", compared("ahead", "docs/a"), "changed"],
    ["the former name of a path", { status: "ahead", files: [renamed] }, "changed"],
    ["other paths", compared("ahead", "src/a"), "skipped"],
    ["no path", compared("identical"), "skipped", /none of the 0/],
    ["a forced push", compared("diverged", "src/a"), "undecided", forced],
    ["a shortened branch", compared("behind"), "undecided", forced],
    ["300 paths, GitHub's maximum", compared("ahead", ...many), "undecided", truncated],
    ["a deleted commit", undefined, "undecided", /checkout lacks a commit.*status 404/],
    ["no files", { status: "ahead" }, "undecided", /lists no files/],
  ]) {
    test(`is ${outcome} after ${name}`, async (run) => {
      if (response !== undefined) run.github.resources[COMPARISON] = response;
      const result = await runGuard(run, "docs/**", push);
      assert.deepEqual(run.github.reads, [COMPARISON]);
      if (outcome === "changed") await assertChanged(run, result, /docs\/a changed/);
      if (outcome === "skipped") await assertSkipped(run, result, reason ?? /none of the 1/);
      if (outcome === "undecided") await assertUndecided(run, result, reason);
    });
  }

  const pullRequest = (base, head) =>
    pullRequestEvent(12, { head: { sha: head }, base: { sha: base } });
  for (const [name, eventOf] of [
    ["previous commit", (base, head) => ({ before: base, after: head })],
    ["merge base", pullRequest],
  ]) {
    test(`is read when a shallow clone lacks the ${name}`, async (run, t) => {
      const { git, commit, checkOut } = startOrigin(t);
      const base = commit("README.md");
      git("checkout", "--quiet", "-b", "next");
      const head = commit("src/a.ts");
      const path = `/repos/acme/docs/compare/${base}...${head}`;
      run.github.resources[path] = compared("ahead", "src/a.ts");
      const options = { event: eventOf(base, head), prepare: checkOut(head, { depth: 1 }) };
      const result = await runGuard(run, "docs/**", options);
      await assertSkipped(run, result, /none of the 1 changed paths/);
      assert.deepEqual(run.github.reads, [path]);
    });
  }

  test("is read when the runner has no Git", async (run) => {
    run.github.resources[COMPARISON] = compared("ahead");
    const result = await runGuard(run, "docs/**", { ...push, env: { PATH: "" } });
    await assertSkipped(run, result, /none of the 0/);
  });

  test("accepts a diverged pull request, whose paths GitHub compares with the merge base", async (run) => {
    run.github.resources[COMPARISON] = compared("diverged", "src/a");
    const result = await runGuard(run, "docs/**", { event: pullRequest(BASE, HEAD) });
    await assertSkipped(run, result, /none of the 1/);
  });

  test("cannot be decided without a token", async (run) => {
    const result = await runGuard(run, "docs/**", { ...push, githubToken: "" });
    await assertUndecided(run, result, /input github-token is missing/);
  });

  test("cannot be decided without permission", async (run) => {
    run.github.refusesComments = true;
    await assertUndecided(run, await runGuard(run, "docs/**", push), /status 403/);
  });

  for (const [name, event, eventName, reason] of [
    ["a new branch", { before: NO_COMMIT, after: HEAD }, "push", /created or deleted the branch/],
    ["a deleted branch", { before: BASE, after: NO_COMMIT }, "push", /created or deleted/],
    ["a dispatch", {}, "workflow_dispatch", /event workflow_dispatch has no previous commit/],
    ["a schedule", { schedule: "0 * * * *" }, "schedule", /event schedule has no previous commit/],
    ["a commit that is an option", { before: "--output=x", after: HEAD }, "push", /created/],
  ]) {
    test(`cannot be decided after ${name}`, async (run) => {
      const env = { GITHUB_EVENT_NAME: eventName };
      const result = await runGuard(run, "docs/**", { event, env });
      await assertUndecided(run, result, reason);
      assert.deepEqual(run.github.reads, []);
    });
  }

  test("compares the commits of a merge group", async (run) => {
    run.github.resources[COMPARISON] = compared("ahead", "docs/a");
    const event = { merge_group: { base_sha: BASE, head_sha: HEAD } };
    await assertChanged(run, await runGuard(run, "docs/**", { event }), /docs\/a changed/);
  });
});

describe("commands", { concurrency: CONCURRENCY }, () => {
  test("runs when the command exits with 0, in the workspace", async (run) => {
    const prepare = (folder) => writeFileSync(join(folder, "new"), "x");
    const result = await runGuard(run, "run: ! cmp --silent new old", { prepare });
    await assertChanged(run, result, /the command exited with 0/);
  });

  test("skips when the command exits with 1", async (run) => {
    const prepare = (folder) => {
      for (const name of ["new", "old"]) writeFileSync(join(folder, name), "x");
    };
    const result = await runGuard(run, "run: ! cmp --silent new old\n", { prepare });
    await assertSkipped(run, result, /the command exited with 1/);
  });

  for (const [name, command, reason] of [
    ["exits with another code", "exit 22", /exited with 22/],
    ["does not exist", "no-such-command", /exited with 127/],
    ["is killed", "kill -9 $$", /exited with SIGKILL/],
    ["fails in a pipe", "(exit 6) | cat", /exited with 6/],
  ]) {
    test(`cannot be decided when the command ${name}`, async (run) => {
      await assertUndecided(run, await runGuard(run, `run: ${command}`), reason);
    });
  }

  test("cannot be decided when bash exits with 1 without running the command", async (run, t) => {
    const folder = makeFolder(t, "bash");
    writeFileSync(join(folder, "bash"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
    const result = await runGuard(run, "run: true", { env: { PATH: `${folder}:${PATH}` } });
    await assertUndecided(run, result, /bash does not run commands/);
  });

  test("cannot be decided when the command does not end in time, and ends its processes", async (run) => {
    const inputs = { "if-changed": "run: sleep 600 & echo $! > pid; wait", timeout: "1s" };
    let file;
    const prepare = (folder) => {
      file = join(folder, "pid");
    };
    const running = run.start({ with: { ...inputs, wait: false }, env: { PATH }, prepare });
    while (!existsSync(file) || readFileSync(file, "utf8") === "") await delay(POLL_INTERVAL_MS);
    const pid = Number(readFileSync(file, "utf8"));
    await assertUndecided(run, await running.ended, /did not end in time/);
    await untilGone(pid);
  });

  test("ends with the step when it is cancelled, and starts nothing", async (run) => {
    const guard = "run: sleep 600 & echo child $!; wait";
    const running = run.start({ with: { "if-changed": guard }, env: { PATH } });
    const [, pid] = await running.waitForOutput(/child (\d+)/);
    running.cancel();
    const result = await running.ended;
    assert.equal(result.code, 130, result.raw);
    await untilGone(Number(pid));
    assert.deepEqual([await run.gateway.jobs(), result.outputs], [[], {}]);
  });

  test("gives the command no secret, and executes no workflow command in its output", async (run) => {
    const guard = "run: env; echo '::error::x'; echo '::add-mask::job' >&2; echo $SHOWN";
    const env = { SHOWN: "visible", ACTIONS_RUNTIME_TOKEN: "a-runtime-token" };
    const { accessToken } = run.gateway;
    const inputs = { "if-changed": guard, wait: false, token: accessToken };
    const result = await run.run({ with: inputs, env: { PATH, ...env } });
    await assertChanged(run, result, /^visible$/m);
    assert.deepEqual([errorsOf(result), result.masks.includes("job")], [[], false]);
    assert.doesNotMatch(result.raw, /a-runtime-token|ACTIONS_ID_TOKEN|INPUT_TOKEN/);
    run.assertNoSecret(result);
  });
});

describe("invalid guards", { concurrency: CONCURRENCY }, () => {
  for (const [guard, message] of [
    ["docs/[ab].md", /special characters \*, \*\* and .* found "docs\/\[ab\]\.md"/],
    ["docs/?.md", /special characters/],
    ["!", /special characters/],
    ["!docs/**", /needs a line that does not start with !/],
    ["run: true\ndocs/**", /either globs or one line with run:/],
    ["run:", /no command after run:/],
  ]) {
    test(`rejects ${JSON.stringify(guard)}`, async (run) => {
      assertFailed(await runGuard(run, guard), message);
      assert.deepEqual(await run.gateway.jobs(), []);
    });
  }
});

describe("inputs of other commands", { concurrency: CONCURRENCY }, () => {
  for (const [inputs, message] of [
    [{ command: "publish" }, /command must be job, deploy, preview or automation/],
    [{ command: "deploy", prompt: "x" }, /prompt is not for the command deploy, but for job$/],
    [{ command: "deploy", branch: "x" }, /branch is not for the command deploy, but for preview$/],
    [{ command: "deploy", comment: true }, /comment is not .* deploy, but for job, preview$/],
    [{ command: "preview", preview: true }, /preview is not for the command preview, but for job$/],
    [{ command: "preview", automation: "x" }, /automation is not .*, but for automation$/],
    [{ command: "automation" }, /the input automation is missing/],
    [{ command: "automation", automation: "x", wait: false }, /wait is not for .* automation/],
    [{ prompt: "x", "prompt-file": "", branch: "x" }, /branch is not for the command job/],
    [{ prompt: "x", preview: true, wait: false }, /preview needs wait: true/],
  ]) {
    test(`rejects the inputs ${JSON.stringify(inputs)}`, async (run) => {
      assertFailed(await run.run({ with: { prompt: undefined, ...inputs } }), message);
      assert.deepEqual(run.github.tokens, []);
    });
  }
});

async function untilGone(pid) {
  for (;;) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    await delay(POLL_INTERVAL_MS);
  }
}
