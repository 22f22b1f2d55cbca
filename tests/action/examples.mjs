/** The workflows in docs/: their triggers, identities and prompts. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../scripts/versions.mjs";
import { gitIn } from "./repository.mjs";

export const commits = {};

export const EXAMPLES = [
  {
    heading: "Your first job from GitHub",
    claims: { workflow: "document", event_name: "workflow_dispatch" },
    event: {},
    checkOut: () => {},
    prompt: /^Check the page /,
    documentedJob: "24b7f71a-24f6-428c-9eee-ec02371cb861",
  },
  {
    heading: "Set up a workflow",
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
    prompt:
      /^Commit [0-9a-f]{40} changed the API\. .*\nM\topenapi\.yaml\nA\tsrc\/api\/\$\(touch evil\)\.ts\n$/,
  },
  {
    heading: "Every night",
    claims: { workflow: "nightly", event_name: "schedule" },
    event: {},
    prompt: /^Compare the reference/,
  },
  {
    heading: "Changelog from an OpenAPI diff",
    claims: { workflow: "api-changelog", event_name: "push" },
    event: {
      get before() {
        return commits.first;
      },
    },
    checkOut: makeRepository,
    usesJq: true,
    prompt: /^Commit [0-9a-f]{40} changed openapi\.json\. .*\n> openapi: "3\.1\.0"\n/s,
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

const UPDATE = (project) => ({ target: `/v1/project/update/${project}` });

const PREVIEW = (project) => ({
  target: `/v1/project/preview/${project}`,
  json: { branch: "docs/new" },
});

const SEARCHES = (project) => ({
  method: "GET",
  target: `/v1/analytics/${project}/searches?limit=1`,
});

export const OTHER_EXAMPLES = [
  ["Redeploy when a remote OpenAPI file changes", "redeploy", "schedule", UPDATE],
  ["Deploy on a merge", "deploy", "push", UPDATE],
  ["A preview for each pull request", "preview", "pull_request_target", PREVIEW],
  ["Weekly gap report to Slack", "gap-report", "schedule", SEARCHES],
  ["Feedback to an issue tracker", "feedback", "schedule", SEARCHES],
].map(([heading, workflow, event_name, request]) => ({
  ...{ heading, request },
  claims: { workflow, event_name },
}));
export const ALL_EXAMPLES = [...EXAMPLES, ...OTHER_EXAMPLES];

/** Changes of the claims that every rule rejects. */
export const INTRUDERS = [
  { event_name: "pull_request_target" },
  { event_name: "pull_request", ref: "refs/pull/3/merge" },
  { event_name: "workflow_run" },
  { repository_id: "6666" },
  { repository_owner_id: "6666" },
];

function makeRepository(folder) {
  const git = gitIn(folder);
  const write = (path, text) => writeFileSync(join(folder, path), text);
  git("init", "--quiet");
  mkdirSync(join(folder, "src", "api"), { recursive: true });
  write("openapi.yaml", "openapi: 3.1.0\n");
  git("add", ".");
  git("commit", "--quiet", "--message", "one");
  commits.first = git("rev-parse", "HEAD");
  write("openapi.yaml", "openapi: 3.1.1\n");
  write("openapi.json", '{"openapi":"3.1.0"}');
  write("src/api/$(touch evil).ts", "export {};\n");
  write("README.md", "# acme\n");
  git("add", ".");
  git("commit", "--quiet", "--message", "two");
  commits.last = git("rev-parse", "HEAD");
}

export function readWorkflowFile() {
  const file = join(ROOT, "examples", "workflow", "document-changes.yml");
  return readFileSync(file, "utf8");
}
