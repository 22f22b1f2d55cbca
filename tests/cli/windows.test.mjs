/** How the CLI starts other programs on Windows: never one in the current folder. */
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { makeBrowserCommands } from "../../pkg/dist/cli/browser.js";
import { makeEditorCommand } from "../../pkg/dist/cli/editor.js";
import { makeNpmCommand } from "../../pkg/dist/cli/init.js";
import { makeCommand as makeJqCommand } from "../../pkg/dist/cli/jq.js";
import { trimVariables } from "../../pkg/dist/cli/variables.js";
import { makeFolder } from "../harness/folder.mjs";

const folder = makeFolder({ after }, "windows");

before(() => {
  for (const name of ["first", "second", "third"]) mkdirSync(join(folder, name));
  for (const name of ["second", "third"]) {
    for (const program of ["jq", "firefox"])
      writeFileSync(join(folder, name, `${program}.exe`), "");
  }
});

const makeJq = (PATH) => makeJqCommand(".", { env: { PATH }, stdout: {} }, "win32");

test("jq is the first in an absolute folder of PATH, never one in the current folder", () => {
  const path = `.;;first;${folder}/first;"${folder}/second";${folder}/third`;
  assert.equal(makeJq(path).program, `${folder}/second/jq.exe`);
  for (const missing of [undefined, ".", `${folder}/first`]) {
    assert.throws(() => makeJq(missing), /jq, which is not installed/);
  }
});

test("jq ends lines with LF", () => {
  assert.ok(makeJq(`${folder}/second`).args.includes("--binary"));
  const elsewhere = makeJqCommand(".", { env: {}, stdout: {} }, "linux");
  assert.deepEqual(elsewhere.args, ["--raw-output", "--unbuffered", "--compact-output", " ."]);
});

test("the browser is opened with a program of Windows, at its full path", () => {
  const url = "https://gateway.example/?a=1&b=2";
  assert.deepEqual(makeBrowserCommands(url, { SystemRoot: "D:\\Windows" }, "win32"), [
    ["D:\\Windows\\System32\\rundll32.exe", "url.dll,FileProtocolHandler", url],
  ]);
  assert.deepEqual(makeBrowserCommands(url, {}, "darwin"), [["open", url]]);
});

test("the browser of BROWSER is opened only at its full path", () => {
  const url = "https://gateway.example/";
  const env = { BROWSER: "C:\\firefox.exe", SystemRoot: "C:\\Windows" };
  assert.deepEqual(makeBrowserCommands(url, env, "win32"), [["C:\\firefox.exe", url]]);
  const [[program]] = makeBrowserCommands(url, { ...env, BROWSER: "firefox" }, "win32");
  assert.equal(program, "C:\\Windows\\System32\\rundll32.exe");
});

test("npx is started with the Node.js that runs the CLI", () => {
  const script = `${folder}/node_modules/npm/bin/npx-cli.js`;
  const makeNpx = () => makeNpmCommand("npx", ["-y"], "win32", `${folder}/node.exe`);
  assert.deepEqual(makeNpx(), []);
  mkdirSync(dirname(script), { recursive: true });
  writeFileSync(script, "");
  assert.deepEqual(makeNpx(), [`${folder}/node.exe`, script, "-y"]);
});

test("the editor's shell does not search the current folder", () => {
  const [command, , options] = makeEditorCommand("code --wait", "C:\\a b.md", {}, "win32");
  assert.equal(command, 'code --wait "C:\\a b.md"');
  assert.equal(options.shell, true);
  assert.equal(options.env.NoDefaultCurrentDirectoryInExePath, "1");
});

test("names of variables are case-insensitive", () => {
  const given = { Path: `${folder}/second`, SYSTEMROOT: "D:\\Windows", quillgate_token: "a\r" };
  const env = trimVariables(given, "win32");
  assert.equal(makeJq(env.PATH).program, `${folder}/second/jq.exe`);
  const [[program]] = makeBrowserCommands("https://gateway.example/", env, "win32");
  assert.equal(program, "D:\\Windows\\System32\\rundll32.exe");
  assert.equal(env.QUILLGATE_TOKEN, "a");
  assert.deepEqual({ ...env }, { ...given, quillgate_token: "a" });
  assert.deepEqual(trimVariables(given, "linux"), given);
});
