/** Prompts that people type in their editor or on the terminal, which no failure may lose. */
import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { assertFailed } from "./command_line.mjs";
import {
  folder,
  interruptAt,
  quillgateJob,
  respondWith,
  server,
  succeed,
  useStandIn,
  waitForFile,
  writeProgram,
} from "./session.mjs";
import { OUTCOME_UNKNOWN, problem } from "./stand_in.mjs";

const TERMINAL = { columns: 80, isInputTerminal: true };
const TEXT = "From the editor";
const TYPE = `printf '${TEXT}' > "$1"`;

useStandIn();

/** Returns variables with an editor that runs a script and writes the path of its file to `opened`. */
function editorEnv(script) {
  const EDITOR = writeProgram("editor", `printf '%s' "$1" > "${folder}/opened"\n${script}`);
  return { EDITOR, PATH: process.env.PATH };
}

/** Reads and deletes the file that the hint names. */
function takeText({ stderr }) {
  const [, path] = /^ {2}your text: --prompt-file (.+)$/m.exec(stderr) ?? assert.fail(stderr);
  const bytes = readFileSync(path);
  rmSync(dirname(path), { recursive: true });
  return bytes.toString("latin1");
}

test("job create opens the editor for a missing prompt on a terminal", async () => {
  const editor = writeProgram("editor", 'printf "From the %s" "$1" > "$2"');
  const env = { EDITOR: `${editor} editor`, PATH: process.env.PATH };
  const options = { ...TERMINAL, env };
  await succeed(["job", "create"], options);
  assert.equal(JSON.parse(server.requests[0].body).prompt, "From the editor");
  server.requests.length = 0;
  const empty = await quillgateJob(["create"], { ...options, env: { ...env, EDITOR: "true" } });
  assert.match(empty.stderr, /the prompt is empty/);
  const failed = await quillgateJob(["create"], { ...options, env: { ...env, EDITOR: "false" } });
  assert.match(failed.stderr, /the editor failed with exit code 1/);
  const none = await quillgateJob(["create"], { ...options, env: { PATH: process.env.PATH } });
  assert.match(none.stderr, /PROMPT is missing/);
  assert.equal(server.requests.length, 0);
});

test("the editor's file is deleted after the request, and if it is empty", async () => {
  for (const [script, respond] of [
    [TYPE, undefined],
    ["", undefined],
    ["exit 1", undefined],
    // The job exists, but the wait for it fails.
    [
      TYPE,
      ({ method }) => (method === "GET" ? problem(401, "unauthorized", "expired") : undefined),
    ],
  ]) {
    respondWith(respond);
    const args = ["create", ...(respond ? ["--wait"] : [])];
    const { stderr } = await quillgateJob(args, { ...TERMINAL, env: editorEnv(script) });
    assert.ok(!existsSync(await waitForFile("opened")), stderr);
    assert.doesNotMatch(stderr, /your text/);
  }
});

for (const [cause, { script = TYPE, text = TEXT, code, args = ["create"], ...rest }] of [
  ["an expired token", { code: 3, response: problem(401, "unauthorized", "the token expired") }],
  ["an unknown outcome", { code: 9, response: OUTCOME_UNKNOWN }],
  ["an invalid webhook", { code: 2, args: ["create", "--webhook-url", "hooks.example"] }],
  ["an unknown job", { code: 4, args: ["message", "job_none"] }],
  ["Ctrl-C", { code: 130, isInterrupted: true }],
  ["text in another encoding", { code: 2, script: "printf 'a\\334' > \"$1\"", text: "a\xdc" }],
  ["an editor that fails", { code: 2, script: `${TYPE}; exit 1` }],
  ["an editor that Ctrl-C ends", { code: 130, script: `${TYPE}; kill -INT $$` }],
  [
    "a typed prompt",
    { code: 3, args: ["create", "-"], input: TEXT, response: problem(401, "x", "") },
  ],
  [
    "a typed prompt with --quiet",
    { code: 3, args: ["create", "-", "--quiet"], input: TEXT, response: problem(401, "x", "") },
  ],
]) {
  test(`keeps what the user typed after ${cause}`, async () => {
    const { response, isInterrupted, input } = rest;
    const signal = isInterrupted ? interruptAt(/./) : undefined;
    if (response) respondWith(() => response);
    const options = { ...TERMINAL, env: editorEnv(script), input, signal };
    const result = await quillgateJob(args, options);
    assert.equal(result.code, code, result.stderr);
    assert.equal(takeText(result), text);
  });
}

test("options and settings are checked before the editor opens", async () => {
  for (const [args, more] of [
    [["create", "--timeout", "30min"]],
    [["create", "--force"]],
    [["create", "--config", "missing.json"]],
    [["message", "job_1"], { QUILLGATE_TOKEN: "" }],
    [["create"], { QUILLGATE_BASE_URL: "ftp://gate.example" }],
  ]) {
    const options = { ...TERMINAL, env: { ...editorEnv(TYPE), ...more } };
    assertFailed(await quillgateJob(args, options), 2, /./);
    assert.ok(!existsSync(join(folder, "opened")), args.join(" "));
  }
  assert.equal(server.requests.length, 0);
});
