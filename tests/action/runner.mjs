/**
 * The runner of GitHub Actions, as far as a JavaScript action sees it: `action.yml` read, the bundle
 * started in Node.js with the runner's variables and files, its commands obeyed.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { spawnGroup } from "../../scripts/child.mjs";
import { ROOT } from "../../scripts/versions.mjs";

const ACTION = join(ROOT, "action");
/** What nobody has to wait for in vain on a busy machine. */
const PATIENCE_MS = 60_000;
/** What the runner calls the files of a step's commands. */
const FILES = ["GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_STATE", "GITHUB_ENV", "GITHUB_PATH"];

/** `action.yml`, read. */
export const metadata = parse(readFileSync(join(ACTION, "action.yml"), "utf8"));

/**
 * @typedef {object} StepOptions
 * @property {Record<string, string | boolean>} with the step's inputs
 * @property {Record<string, string>} [env] variables over those of an ordinary run
 * @property {object} [event] the event's payload
 * @property {string} [githubToken] what `github.token` is
 * @property {(folder: string) => void} [prepare] gets the workspace before the step starts
 * @property {{ workspace: string, temp: string }} [folders] those of a job with several steps
 *
 * @typedef {object} StepResult
 * @property {number | null} code
 * @property {string} log what the log shows, secrets masked
 * @property {string} raw what the step wrote
 * @property {{ level: string, title?: string, message: string }[]} annotations
 * @property {string[]} masks
 * @property {string[]} groups
 * @property {Record<string, string>} outputs
 * @property {string} summary
 */

/**
 * Starts the action as a step.
 *
 * @param {StepOptions} options
 */
export function startStep(options) {
  const { with: inputs, env = {}, event = {}, githubToken = "", prepare } = options;
  const home = mkdtempSync(join(tmpdir(), "quillgate-action-"));
  const place = (name) => join(home, name);
  const { workspace, temp } = options.folders ?? makeFolders(home);
  for (const name of FILES) writeFileSync(place(name), "");
  writeFileSync(place("event.json"), JSON.stringify(event));
  prepare?.(workspace);

  const variables = {
    // The runner's own environment, of which an action needs nothing.
    PATH: "",
    HOME: home,
    CI: "true",
    GITHUB_ACTIONS: "true",
    GITHUB_ACTION: "__quillgate",
    GITHUB_ACTOR: "alice",
    GITHUB_EVENT_NAME: "push",
    GITHUB_EVENT_PATH: place("event.json"),
    GITHUB_JOB: "document",
    GITHUB_REF: "refs/heads/main",
    GITHUB_REPOSITORY: "acme/docs",
    GITHUB_REPOSITORY_ID: "2002",
    GITHUB_RUN_ATTEMPT: "1",
    GITHUB_RUN_ID: "12345678901",
    GITHUB_SERVER_URL: "https://github.com",
    GITHUB_WORKFLOW: "docs",
    GITHUB_WORKFLOW_REF: "acme/docs/.github/workflows/docs.yml@refs/heads/main",
    GITHUB_WORKSPACE: workspace,
    RUNNER_TEMP: temp,
    ...Object.fromEntries(FILES.map((name) => [name, place(name)])),
    ...inputVariables(inputs, githubToken),
    ...env,
  };
  const main = join(ACTION, metadata.runs.main);
  const child = spawnGroup(process.execPath, [main], {
    cwd: workspace,
    env: variables,
    stdio: ["ignore", "pipe", "pipe"],
  });

  const watchers = new Set();
  let raw = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => {
      raw += text;
      for (const look of watchers) look();
    });
  }
  const clean = () => rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  process.once("exit", clean);
  // A step that does not end fails its own test.
  const guard = setTimeout(() => child.kill("SIGKILL"), PATIENCE_MS);
  const ended = once(child, "close").then(([code, signal]) => {
    const result = { code, signal, raw, ...obey(raw), ...readFiles(place) };
    clearTimeout(guard);
    process.off("exit", clean);
    clean();
    for (const look of watchers) look();
    return result;
  });

  return {
    /** @type {Promise<StepResult>} what became of it, once it has ended */
    ended,
    /** Waits until the step has written something like this. @param {RegExp} pattern */
    says(pattern) {
      return new Promise((resolve, reject) => {
        const settle = (finish, value) => {
          clearTimeout(timer);
          watchers.delete(look);
          finish(value);
        };
        const fail = (why) => settle(reject, new Error(`${why} before ${pattern}:\n${raw}`));
        const look = () => {
          const found = pattern.exec(raw);
          if (found) settle(resolve, found);
          else if (child.exitCode !== null) fail(`the step ended (${child.exitCode})`);
        };
        const timer = setTimeout(() => fail("the time was up"), PATIENCE_MS);
        watchers.add(look);
        look();
      });
    },
    /** As the runner cancels a step. @param {NodeJS.Signals} [signal] */
    cancel: (signal = "SIGINT") => child.kill(signal),
    /** What it has written to one of its files so far. */
    written: (name) => readFileSync(place(name), "utf8"),
  };
}

/** The folders of a job, in another one. @param {string} home */
export function makeFolders(home) {
  const folders = { workspace: join(home, "workspace"), temp: join(home, "temp") };
  for (const folder of Object.values(folders)) mkdirSync(folder);
  return folders;
}

/** Runs the action to its end. @param {StepOptions} options @returns {Promise<StepResult>} */
export function runStep(options) {
  return startStep(options).ended;
}

/** Every input as the runner hands it over: those of the step over the defaults. */
function inputVariables(given, githubToken) {
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(metadata.inputs, name));
  assert.deepEqual(unknown, [], "action.yml has every input that is given");
  const variables = Object.entries(metadata.inputs).map(([name, { default: usual = "" }]) => {
    const value = String(given[name] ?? usual);
    const text = value.replace(/\$\{\{ github\.token \}\}/, githubToken);
    assert.doesNotMatch(text, /\$\{\{/, `the default of ${name} is understood`);
    return [`INPUT_${name.toUpperCase()}`, text];
  });
  return Object.fromEntries(variables);
}

/** What the runner makes of the lines that a step writes. */
function obey(raw) {
  const annotations = [];
  const masks = [];
  const groups = [];
  const shown = [];
  for (const line of raw.split("\n")) {
    const [, name, list, data] = /^\s*::([\w-]+)(?: ([^:]*))?::(.*)$/.exec(line) ?? [];
    assert.ok(name !== undefined || !line.includes("##["), `no command of the old form: ${line}`);
    if (name === undefined) shown.push(line);
    else if (name === "add-mask") masks.push(unescapeData(data));
    else if (name === "group") groups.push(unescapeData(data));
    else if (["error", "warning", "notice"].includes(name)) {
      const { title } = properties(list);
      annotations.push({ level: name, title, message: unescapeData(data) });
      shown.push(unescapeData(data));
    } else assert.ok(["endgroup", "debug"].includes(name), `a command that is meant: ${line}`);
  }
  const log = masks.reduce((text, secret) => text.replaceAll(secret, "***"), shown.join("\n"));
  return { annotations, masks, groups, log };
}

function properties(list = "") {
  const pairs = list.split(",").filter((pair) => pair !== "");
  return Object.fromEntries(
    pairs.map((pair) => {
      const [key, ...value] = pair.split("=");
      return [key, unescapeData(value.join("=")).replaceAll("%3A", ":").replaceAll("%2C", ",")];
    }),
  );
}

function unescapeData(data) {
  return data.replaceAll("%0A", "\n").replaceAll("%0D", "\r").replaceAll("%25", "%");
}

function readFiles(place) {
  const read = (name) => readFileSync(place(name), "utf8");
  for (const name of ["GITHUB_ENV", "GITHUB_PATH", "GITHUB_STATE"]) {
    assert.equal(read(name), "", `${name} is left alone`);
  }
  const outputs = readOutputs(read("GITHUB_OUTPUT"));
  for (const name of Object.keys(outputs)) {
    assert.ok(Object.hasOwn(metadata.outputs, name), `action.yml has the output ${name}`);
  }
  return { outputs, summary: read("GITHUB_STEP_SUMMARY") };
}

/** `name=value`, or `name<<delimiter`, lines, and the delimiter; of what is written twice, the last counts. */
export function readOutputs(text) {
  const outputs = {};
  const lines = text.split("\n");
  while (lines.length > 1) {
    const line = lines.shift();
    const [, plain, value] = /^([\w-]+)=(.*)$/.exec(line) ?? [];
    if (plain) {
      outputs[plain] = value;
      continue;
    }
    const [name, delimiter] = line.split("<<");
    assert.ok(name && delimiter, `an output begins: ${name}`);
    const end = lines.indexOf(delimiter);
    assert.ok(end >= 0, `the output ${name} ends`);
    outputs[name] = lines
      .splice(0, end + 1)
      .slice(0, -1)
      .join("\n");
  }
  return outputs;
}
