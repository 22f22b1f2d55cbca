/** Reads the workflows in the documentation and runs their steps as GitHub's runner does. */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { lineOf, readVersions } from "../../scripts/release.mjs";
import { ROOT } from "../../scripts/versions.mjs";
import { makeFolders, readOutputs, startStep } from "./runner.mjs";

const FOLDER = join(ROOT, "docs");
/** The pages with workflows, by their paths in docs/. */
const PAGES = [
  "start/github.md",
  "guides/workflows.md",
  "guides/workflow-examples.md",
  ...readdirSync(join(FOLDER, "recipes")).map((name) => `recipes/${name}`),
].map((path) => readFileSync(join(FOLDER, path), "utf8"));
/** The value of `skip` of tests whose workflow runs jq. */
export const WITHOUT_JQ = spawnSync("jq", ["--version"]).status !== 0 && "jq is not installed";
export const DOCS = PAGES.join("\n");
export const REFERENCE = readFileSync(join(FOLDER, "reference", "action.md"), "utf8");
/** `uses` of the action, and of the copy in the tutorial. */
const ACTIONS = [
  `quillgate/quillgate/action@${lineOf(readVersions()["Cargo.toml"])}`,
  "./.github/actions/quillgate",
];

/** Reads the workflow and the gateway rule of a section, or of a whole page. */
export function readExample(heading) {
  const sections = PAGES.flatMap((page) => [page.slice("# ".length), ...page.split(/^##+ /m)]);
  const section = sections.find((text) => text.startsWith(`${heading}\n`));
  assert.ok(section, `the heading ${heading} is missing`);
  const block = (language) => {
    const found = new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, "s").exec(section);
    assert.ok(found, `${heading} lacks a block of ${language}`);
    return found[1];
  };
  const text = block("yaml");
  const json = JSON.parse(block("json"));
  const rule = Array.isArray(json) ? json[0].rules[0] : json;
  const workflow = parse(text);
  // YAML 1.1 parses the key `on` as true. GitHub and this parser do not.
  assert.ok(workflow.on, `${heading} has no trigger`);
  const jobs = Object.values(workflow.jobs);
  assert.equal(jobs.length, 1);
  const permissions = { ...workflow.permissions, ...jobs[0].permissions };
  assert.equal(permissions["id-token"], "write");
  const [, file] = /^# (\.github\/workflows\/[\w-]+\.yml)\n/.exec(text) ?? [];
  assert.ok(file, `the workflow of ${heading} does not start with its file name`);
  return { text, file, rule, job: jobs[0], permissions };
}

export function runFirstSteps(job, { github, checkOut, cache, variables }) {
  const home = mkdtempSync(join(tmpdir(), "quillgate-workflow-"));
  const folders = makeFolders(home);
  const clean = () => rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  const context = { github, runner: { temp: folders.temp }, steps: {}, variables };
  let save = () => {};
  try {
    for (const step of job.steps.slice(0, -1)) {
      if (step.run) {
        const outputs = runScript(step, context, folders);
        if (step.id) context.steps[step.id] = { outputs };
      } else if (/^actions\/cache@[0-9a-f]{40}$/.test(step.uses)) {
        save = cache.restore(expandAll(step.with, context), folders.workspace);
      } else {
        assert.match(step.uses, /^actions\/checkout@[0-9a-f]{40}$/);
        checkOut(folders.workspace);
      }
    }
    const last = job.steps.at(-1);
    assert.ok(ACTIONS.includes(last.uses), last.uses);
    const isRun = last.if === undefined || evaluate(last.if, context);
    const inputs = isRun ? expandAll(last.with, context) : undefined;
    return { inputs, folders, clean, save };
  } catch (error) {
    clean();
    throw error;
  }
}

export function startWorkflowJob(job, { toStep, ...options }) {
  const { inputs, folders, clean, save } = runFirstSteps(job, options);
  assert.ok(inputs, "the condition of the action's step is false");
  const running = startStep({ ...toStep(inputs), folders });
  const ended = running.ended.then((result) => {
    // GitHub saves caches after a successful job only.
    if (result.code === 0) save();
    return result;
  });
  return { ...running, ended: ended.finally(clean) };
}

export class Cache {
  #folder = mkdtempSync(join(tmpdir(), "quillgate-cache-"));
  keys = [];

  /** Restores the key, or the newest with the prefix. Returns a function that saves the path. */
  restore({ path, key, "restore-keys": prefix }, workspace) {
    const found = this.keys.includes(key)
      ? key
      : this.keys.findLast((other) => other.startsWith(prefix));
    if (found) cpSync(join(this.#folder, found), join(workspace, path), { recursive: true });
    return () => {
      if (this.keys.includes(key)) return;
      cpSync(join(workspace, path), join(this.#folder, key), { recursive: true });
      this.keys.push(key);
    };
  }

  clean() {
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Runs a script as GitHub's runner does by default, and returns its outputs. */
function runScript({ run, env = {} }, context, { workspace, temp }) {
  assert.doesNotMatch(run, /\$\{\{/, "a script contains an expression, which allows injection");
  const { PATH, HOME } = process.env;
  const output = join(temp, "..", "GITHUB_OUTPUT");
  writeFileSync(output, "");
  const folders = { RUNNER_TEMP: temp, GITHUB_OUTPUT: output };
  const variables = { PATH, HOME, ...folders, ...expandAll(env, context), ...context.variables };
  execFileSync("bash", ["--norc", "-e", "-c", run], { cwd: workspace, env: variables });
  return readOutputs(readFileSync(output, "utf8"));
}

/** Evaluates the only form of condition in the documentation. */
function evaluate(condition, { steps }) {
  const [, id, name, value] = /^steps\.(\w+)\.outputs\.(\w+) == '([^']*)'$/.exec(condition) ?? [];
  assert.ok(id && steps[id], condition);
  return (steps[id].outputs[name] ?? "") === value;
}

export function expandAll(values, context) {
  const entries = Object.entries(values);
  return Object.fromEntries(entries.map(([name, value]) => [name, expand(value, context)]));
}

/** Replaces expressions, which name properties of contexts. */
function expand(value, context) {
  if (typeof value !== "string") return value;
  return value.replace(/\$\{\{ ([\w.]+) \}\}/g, (_, path) => {
    const found = path.split(".").reduce((part, name) => part?.[name], context);
    assert.equal(typeof found, "string", path);
    return found;
  });
}
