/** A simulated GitHub Actions runner, which starts the bundle and interprets its output. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { spawnGroup } from "../../scripts/child.mjs";
import { ROOT } from "../../scripts/versions.mjs";

const ACTION = join(ROOT, "action");
const MAX_WAIT_MS = 60_000;
/** The variables that name the files for a step's commands. */
const FILES = ["GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_STATE", "GITHUB_ENV", "GITHUB_PATH"];

/** The parsed `action.yml`. */
export const metadata = parse(readFileSync(join(ACTION, "action.yml"), "utf8"));

export function startStep(options) {
  const { with: inputs, env = {}, event = {}, githubToken = "", matrix = null, prepare } = options;
  const home = mkdtempSync(join(tmpdir(), "quillgate-action-"));
  const inHome = (name) => join(home, name);
  const { workspace, temp } = options.folders ?? makeFolders(home);
  for (const name of FILES) writeFileSync(inHome(name), "");
  writeFileSync(inHome("event.json"), JSON.stringify(event));
  prepare?.(workspace);

  const variables = {
    // The action needs no program.
    PATH: "",
    HOME: home,
    CI: "true",
    GITHUB_ACTIONS: "true",
    GITHUB_ACTION: "__quillgate",
    GITHUB_ACTOR: "alice",
    GITHUB_EVENT_NAME: "push",
    GITHUB_EVENT_PATH: inHome("event.json"),
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
    ...Object.fromEntries(FILES.map((name) => [name, inHome(name)])),
    ...inputVariables(inputs, {
      "github.token": githubToken,
      "toJSON(matrix)": JSON.stringify(matrix),
    }),
    ...env,
  };
  const main = join(ACTION, metadata.runs.main);
  const child = spawnGroup(process.execPath, [main], {
    cwd: workspace,
    env: variables,
    stdio: ["ignore", "pipe", "pipe"],
  });

  const watchers = new Set();
  const notifyWatchers = () => {
    for (const check of watchers) check();
  };
  let raw = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => {
      raw += text;
      notifyWatchers();
    });
  }
  const clean = () => rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  process.once("exit", clean);
  // A step that never ends fails its test.
  const guard = setTimeout(() => child.kill("SIGKILL"), MAX_WAIT_MS);
  const ended = once(child, "close").then(([code, signal]) => {
    const result = { code, signal, raw, ...parseCommands(raw), ...readFiles(inHome) };
    clearTimeout(guard);
    process.off("exit", clean);
    clean();
    notifyWatchers();
    return result;
  });

  return {
    ended,
    waitForOutput(pattern) {
      return new Promise((resolve, reject) => {
        const settle = (finish, value) => {
          clearTimeout(timer);
          watchers.delete(check);
          finish(value);
        };
        const fail = (why) => settle(reject, new Error(`${why} before ${pattern}:\n${raw}`));
        const check = () => {
          const found = pattern.exec(raw);
          if (found) settle(resolve, found);
          else if (child.exitCode !== null) fail(`the step ended (${child.exitCode})`);
        };
        const timer = setTimeout(() => fail("the time was up"), MAX_WAIT_MS);
        watchers.add(check);
        check();
      });
    },
    /** Cancels the step as the runner does. */
    cancel: (signal = "SIGINT") => child.kill(signal),
    readFile: (name) => readFileSync(inHome(name), "utf8"),
  };
}

export function makeFolders(home) {
  const folders = { workspace: join(home, "workspace"), temp: join(home, "temp") };
  for (const folder of Object.values(folders)) mkdirSync(folder);
  return folders;
}

/** Returns the variable of every input: the given value, or the default of `action.yml`. */
function inputVariables(given, expressions) {
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(metadata.inputs, name));
  assert.deepEqual(unknown, [], "action.yml declares every given input");
  const variables = Object.entries(metadata.inputs).map(([name, { default: fallback = "" }]) => {
    const text = String(given[name] ?? fallback).replace(
      /\$\{\{\s*(.*?)\s*\}\}/g,
      (_, expression) => {
        assert.ok(Object.hasOwn(expressions, expression), `${name} has an unknown expression`);
        return expressions[expression];
      },
    );
    return [`INPUT_${name.toUpperCase()}`, text];
  });
  return Object.fromEntries(variables);
}

export function parseCommands(raw) {
  const annotations = [];
  const masks = [];
  const groups = [];
  const shown = [];
  for (const line of raw.split("\n")) {
    const [, name, list, data] = /^[\s\u0085]*::([\w-]+)(?: ([^:]*))?::(.*)$/.exec(line) ?? [];
    assert.ok(name !== undefined || !line.includes("##["), `an old form of command: ${line}`);
    if (name === undefined) shown.push(line);
    else if (name === "add-mask") masks.push(unescapeData(data));
    else if (name === "group") groups.push(unescapeData(data));
    else if (["error", "warning", "notice"].includes(name)) {
      const { title } = properties(list);
      annotations.push({ level: name, title, message: unescapeData(data) });
      shown.push(unescapeData(data));
    } else assert.ok(["endgroup", "debug"].includes(name), `an unknown command: ${line}`);
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

function readFiles(inHome) {
  const read = (name) => readFileSync(inHome(name), "utf8");
  for (const name of ["GITHUB_ENV", "GITHUB_PATH", "GITHUB_STATE"]) {
    assert.equal(read(name), "", `${name} stays empty`);
  }
  const outputs = readOutputs(read("GITHUB_OUTPUT"));
  for (const name of Object.keys(outputs)) {
    assert.ok(Object.hasOwn(metadata.outputs, name), `action.yml declares the output ${name}`);
  }
  return { outputs, summary: read("GITHUB_STEP_SUMMARY") };
}

/** Parses outputs, `name=value` or `name<<delimiter` with lines up to the delimiter. */
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
    assert.ok(name && delimiter, `not the start of an output: ${name}`);
    const end = lines.indexOf(delimiter);
    assert.ok(end >= 0, `the output ${name} has no end`);
    outputs[name] = lines
      .splice(0, end + 1)
      .slice(0, -1)
      .join("\n");
  }
  return outputs;
}
