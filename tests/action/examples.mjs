/** The examples of docs/github-actions.md, run to their end; the same against either gateway. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { ROOT } from "../../scripts/versions.mjs";
import { startGithub } from "./github.mjs";
import { PROJECT } from "./scenarios.mjs";
import { readExample, startJobOf } from "./workflow.mjs";

/** Commits of the repository that the example of a push checks out. */
const commits = {};
const PULL = "https://github.com/acme/docs/pull/12";

/** Each example: what triggers it, what GitHub then signs, and what the agent is asked. */
export const EXAMPLES = [
  {
    heading: "Quick start",
    claims: { workflow: "document", event_name: "workflow_dispatch" },
    event: {},
    prompt: /^Look for pages/,
  },
  {
    heading: "On a release",
    claims: {
      ...{ workflow: "release", event_name: "release", ref: "refs/tags/v1.2" },
      ...{ environment: "docs", sub: "repo:acme/docs:environment:docs" },
    },
    event: { release: { tag_name: "v1.2", body: 'Adds `$(exports)`.\nMends "dates".' } },
    prompt: /^Release v1\.2 is out\..*Its notes:\n\nAdds `\$\(exports\)`\.\nMends "dates"\.\n$/,
    intruders: [{ environment: "staging" }, { environment: undefined }],
  },
  {
    heading: "On a push that touches given paths",
    claims: { workflow: "document-changes", event_name: "push" },
    event: {
      get before() {
        return commits.first;
      },
      repository: { default_branch: "main" },
    },
    checkOut: makeRepository,
    prompt: /in commit [0-9a-f]{40}\. .*\nM\topenapi\.yaml\nA\tsrc\/api\/\$\(touch evil\)\.ts\n$/,
  },
  {
    heading: "Every night",
    claims: { workflow: "nightly", event_name: "schedule" },
    event: {},
    prompt: /^Compare the reference/,
  },
  {
    heading: "On a comment",
    claims: { workflow: "on-request", event_name: "issue_comment", actor_id: "1002" },
    event: {
      issue: { number: 34, html_url: "https://github.com/acme/docs/pull/34", pull_request: {} },
      comment: { body: "/docs explain the limits" },
    },
    prompt: /^About pull request .*\/34:\n\/docs explain the limits\n$/,
    comments: 1,
    intruders: [{ actor_id: "6666" }],
  },
];

/** Nobody of these is let in by any rule. */
export const INTRUDERS = [
  { event_name: "pull_request_target" },
  { event_name: "pull_request", ref: "refs/pull/3/merge" },
  { event_name: "workflow_run" },
  { repository_id: "6666" },
  { repository_owner_id: "6666" },
];

/**
 * @param {string} name of the suite
 * @param {(github: object) => Promise<import("./scenarios.mjs").Place>} startPlace
 */
export function describeExamples(name, startPlace) {
  let github;
  let place;
  let run = 22345678900;

  before(async () => {
    github = await startGithub();
    place = await startPlace(github);
  });
  after(async () => {
    await place?.stop();
    await github?.stop();
  });
  beforeEach(async () => {
    run += 1;
    github.reset();
    await place.reset();
  });

  describe(`the examples ${name}`, () => {
    for (const { heading, claims, event, checkOut, prompt, comments = 0 } of EXAMPLES) {
      test(`${heading}: a job is started, waited for and linked`, async () => {
        const { job: definition, permissions } = readExample(heading);
        await place.trust?.(heading);
        github.claims = claims;
        github.refusesComments = permissions["pull-requests"] !== "write";
        const env = {
          ...github.identityVariables(),
          GITHUB_API_URL: github.url,
          GITHUB_EVENT_NAME: claims.event_name,
          GITHUB_RUN_ID: String(run),
        };
        const running = startJobOf(definition, {
          github: {
            event,
            ref_name: "main",
            get sha() {
              return commits.last;
            },
          },
          checkOut,
          toStep: (inputs) => ({
            with: { ...inputs, gateway: place.url, project: PROJECT },
            ...{ env, event, githubToken: github.githubToken },
          }),
        });
        await running.says(/The job \S+ is active/);
        const [job] = await place.jobs();
        assert.match(job.prompt, prompt);
        await place.setJob(job.id, { status: "completed", prLink: PULL });
        const result = await running.ended;
        assert.equal(result.code, 0, result.raw);
        assert.equal(result.outputs["pull-request"], PULL);
        assert.equal(github.comments.length, comments);
      });
    }
  });
}

/** A repository with two commits, the second of which touches two given paths and one other. */
function makeRepository(folder) {
  const git = (...args) => {
    const who = ["-c", "user.name=alice", "-c", "user.email=alice@acme.example"];
    return execFileSync("git", [...who, ...args], { cwd: folder, encoding: "utf8" }).trim();
  };
  const write = (path, text) => writeFileSync(join(folder, path), text);
  git("init", "--quiet");
  mkdirSync(join(folder, "src", "api"), { recursive: true });
  write("openapi.yaml", "openapi: 3.1.0\n");
  git("add", ".");
  git("commit", "--quiet", "--message", "one");
  commits.first = git("rev-parse", "HEAD");
  write("openapi.yaml", "openapi: 3.1.1\n");
  write("src/api/$(touch evil).ts", "export {};\n");
  write("README.md", "# acme\n");
  git("add", ".");
  git("commit", "--quiet", "--message", "two");
  commits.last = git("rev-parse", "HEAD");
}

/** The workflow of examples/workflow, as a file. */
export function readWorkflowFile() {
  const file = join(ROOT, "examples", "workflow", "document-changes.yml");
  return readFileSync(file, "utf8");
}
