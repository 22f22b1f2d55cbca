/** docs/github-actions.md: its tables are those of action.yml, its examples run. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { describeExamples, EXAMPLES, readWorkflowFile } from "./examples.mjs";
import { startStandIn } from "./gateway_stand_in.mjs";
import { metadata } from "./runner.mjs";
import { DOCS, readExample, runFirstSteps } from "./workflow.mjs";

/** The cells of the table that begins with this one. */
function tableOf(first) {
  const lines = DOCS.split("\n");
  const begin = lines.findIndex((line) => line.startsWith(`| ${first} |`));
  assert.ok(begin >= 0, `there is a table of ${first}`);
  const length = lines.slice(begin).findIndex((line) => !line.startsWith("|"));
  const rows = lines.slice(begin + 2, begin + length);
  return rows.map((row) =>
    row
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

test("every input is in the table, with its default", () => {
  const expected = Object.entries(metadata.inputs).map(([name, input]) => [
    `\`${name}\``,
    input.default ?? (input.required ? "required" : "none"),
  ]);
  const documented = tableOf("input").map(([name, usual]) => [name, usual.replaceAll("`", "")]);
  const made = ["`idempotency-key`", "made by the action"];
  assert.deepEqual(
    documented,
    expected.map((row) => (row[0] === made[0] ? made : row)),
  );
});

test("every output is in the table", () => {
  const names = Object.keys(metadata.outputs).map((name) => `\`${name}\``);
  assert.deepEqual(
    tableOf("output").map(([name]) => name),
    names,
  );
});

test("every whole workflow of the page is run below", () => {
  const workflows = Array.from(DOCS.matchAll(/^```yaml\n# \.github/gm));
  assert.equal(workflows.length, EXAMPLES.length);
});

test("the example of a push is the file of examples/workflow", () => {
  assert.equal(readExample("On a push that touches given paths").text, readWorkflowFile());
});

test("every rule names who may by what never changes", () => {
  for (const { heading } of EXAMPLES) {
    const { file, rule } = readExample(heading);
    const { claims } = rule;
    const { job_workflow_ref: ref } = claims;
    if (ref) assert.equal(ref, `acme/docs/${file}@refs/heads/main`);
    assert.ok(claims.repository_id && claims.repository_owner_id && claims.event_name, heading);
    assert.ok(claims.job_workflow_ref || claims.environment, heading);
    assert.ok(!claims.repository && !claims.sub && !claims.actor, heading);
  }
});

describe("the list of the example of a push", () => {
  const NOTHING = "0".repeat(40);
  const NOTE = /the list may be incomplete/;
  /** A repository on this machine, with what it takes to write its history. */
  const startRepository = (t) => {
    const folder = mkdtempSync(join(tmpdir(), "quillgate-origin-"));
    t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
    const git = (...args) => {
      const who = ["-c", "user.name=alice", "-c", "user.email=alice@acme.example"];
      const options = { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] };
      return execFileSync("git", [...who, ...args], options).trim();
    };
    git("init", "--quiet", "--initial-branch", "main");
    const commit = (...paths) => {
      for (const path of paths) {
        mkdirSync(dirname(join(folder, path)), { recursive: true });
        writeFileSync(join(folder, path), `${path} ${Math.random()}\n`);
      }
      git("add", ".");
      git("commit", "--quiet", "--message", "a change", "--allow-empty");
      return git("rev-parse", "HEAD");
    };
    /** What the example makes of a push: the prompt, or `undefined` where no job is started. */
    const push = ({ before, after, branch = "main" }) => {
      const { job } = readExample("On a push that touches given paths");
      const event = { before, repository: { default_branch: "main" } };
      const checkOut = (workspace) => {
        // As actions/checkout does with fetch-depth 0: every branch, and no commit beyond them.
        const run = (...args) => execFileSync("git", args, { cwd: workspace, stdio: "ignore" });
        run("init", "--quiet");
        run("fetch", "--quiet", `file://${folder}`, "+refs/heads/*:refs/remotes/origin/*");
        run("checkout", "--quiet", "--force", after);
      };
      const github = { event, sha: after, ref_name: branch };
      const { inputs, clean } = runFirstSteps(job, { github, checkOut });
      try {
        return inputs && readFileSync(inputs["prompt-file"], "utf8");
      } finally {
        clean();
      }
    };
    return { git, commit, push };
  };

  test("has every file between the two commits, names as they are", (t) => {
    const { commit, push } = startRepository(t);
    const before = commit("README.md");
    commit("src/api/größe.ts");
    const after = commit("openapi.yaml", "README.md");
    const prompt = push({ before, after });
    assert.match(prompt, /changed:\nA\topenapi\.yaml\nA\tsrc\/api\/größe\.ts\n$/);
    assert.doesNotMatch(prompt, NOTE);
  });

  test("is of every commit of a new branch", (t) => {
    const { git, commit, push } = startRepository(t);
    commit("openapi.yaml");
    git("checkout", "--quiet", "-b", "next");
    commit("src/api/a.ts");
    const after = commit("src/api/b.ts");
    const prompt = push({ before: NOTHING, after, branch: "next" });
    assert.match(prompt, /changed:\nA\tsrc\/api\/a\.ts\nA\tsrc\/api\/b\.ts\n$/);
  });

  test("starts no job for a new branch without commits, nor where nothing has changed", (t) => {
    const { git, commit, push } = startRepository(t);
    const before = commit("openapi.yaml");
    git("branch", "next");
    assert.equal(push({ before: NOTHING, after: before, branch: "next" }), undefined);
    const after = commit("README.md");
    assert.equal(push({ before, after }), undefined);
  });

  test("is of all files when a repository is pushed for the first time", (t) => {
    const { commit, push } = startRepository(t);
    const root = commit("openapi.yaml");
    assert.match(push({ before: NOTHING, after: root }), /changed:\nA\topenapi\.yaml\n$/);
    const after = commit("src/api/a.ts");
    const prompt = push({ before: NOTHING, after });
    assert.match(prompt, /changed:\nA\topenapi\.yaml\nA\tsrc\/api\/a\.ts\n$/);
    assert.doesNotMatch(prompt, NOTE);
  });

  test("says that it may be incomplete after a forced push", (t) => {
    const { git, commit, push } = startRepository(t);
    const base = commit("openapi.yaml");
    const before = commit("src/api/lost.ts");
    git("reset", "--quiet", "--hard", base);
    const after = commit("src/api/a.ts");
    const prompt = push({ before, after });
    assert.match(prompt, /changed:\nA\tsrc\/api\/a\.ts\n$/);
    assert.match(prompt, NOTE);
    // What the last commit leaves alone, one before it may have changed.
    assert.match(push({ before, after: commit("README.md") }), NOTE);
  });

  test("is of every commit of a branch after a forced push of it", (t) => {
    const { git, commit, push } = startRepository(t);
    commit("openapi.yaml");
    git("checkout", "--quiet", "-b", "next");
    const before = commit("src/api/lost.ts");
    git("reset", "--quiet", "--hard", "main");
    commit("src/api/a.ts");
    const after = commit("src/api/b.ts");
    const prompt = push({ before, after, branch: "next" });
    assert.match(prompt, /changed:\nA\tsrc\/api\/a\.ts\nA\tsrc\/api\/b\.ts\n$/);
  });

  test("is of all files of a root commit that was forced onto the branch", (t) => {
    const { git, commit, push } = startRepository(t);
    const before = commit("src/api/lost.ts");
    git("checkout", "--quiet", "--orphan", "other");
    git("rm", "--quiet", "-r", "--force", ".");
    const after = commit("openapi.yaml");
    git("branch", "--quiet", "--force", "main", "other");
    const prompt = push({ before, after });
    assert.match(prompt, /changed:\nA\topenapi\.yaml\n$/);
    assert.match(prompt, NOTE);
  });

  test("ends where the prompt would become too long", (t) => {
    const { commit, push } = startRepository(t);
    const before = commit("README.md");
    const paths = Array.from({ length: 1001 }, (_, at) => `src/api/${at}.ts`);
    const prompt = push({ before, after: commit(...paths) });
    assert.equal(prompt.split("\nA\t").length, 1001);
    assert.match(prompt, /ends after 1000 files/);
  });
});

describeExamples("against a stand-in", startStandIn);
