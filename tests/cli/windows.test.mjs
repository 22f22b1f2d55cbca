/** How the CLI starts other programs on Windows: never one in the current folder. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { makeBrowserCommand } from "../../pkg/dist/cli/browser.js";
import { makeEditorCommand } from "../../pkg/dist/cli/editor.js";
import { makeNpxCommand } from "../../pkg/dist/cli/init.js";
import { makeCommand as makeJqCommand } from "../../pkg/dist/cli/jq.js";

describe("jq on Windows", () => {
  let folder;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), "quillgate-jq-"));
    for (const name of ["first", "second", "third"]) mkdirSync(join(folder, name));
    for (const name of ["second", "third"]) writeFileSync(join(folder, name, "jq.exe"), "");
  });
  after(() => rmSync(folder, { recursive: true }));

  const makeCommand = (PATH) => makeJqCommand(".", { env: { PATH }, stdout: {} }, "win32");

  test("jq is the first in an absolute folder of PATH, never one in the current folder", () => {
    const path = `.;;first;${folder}/first;"${folder}/second";${folder}/third`;
    assert.equal(makeCommand(path).program, `${folder}/second/jq.exe`);
    for (const missing of [undefined, ".", `${folder}/first`]) {
      assert.throws(() => makeCommand(missing), /jq, which is not installed/);
    }
  });

  test("jq ends lines with LF", () => {
    assert.ok(makeCommand(`${folder}/second`).args.includes("--binary"));
    const elsewhere = makeJqCommand(".", { env: {}, stdout: {} }, "linux");
    assert.deepEqual(elsewhere.args, ["--raw-output", "--unbuffered", "--compact-output", " ."]);
  });
});

test("the browser is opened with a program of Windows, at its full path", () => {
  const url = "https://gateway.example/?a=1&b=2";
  assert.deepEqual(makeBrowserCommand(url, { SystemRoot: "D:\\Windows" }, "win32"), [
    "D:\\Windows\\System32\\rundll32.exe",
    "url.dll,FileProtocolHandler",
    url,
  ]);
  assert.deepEqual(makeBrowserCommand(url, { BROWSER: "C:\\b.exe" }, "win32"), ["C:\\b.exe", url]);
  assert.deepEqual(makeBrowserCommand(url, {}, "darwin"), ["open", url]);
});

test("npx is started with the Node.js that runs the CLI", () => {
  const [program, script, ...args] = makeNpxCommand(["-y"], "win32", "C:\\node\\node.exe");
  assert.equal(program, "C:\\node\\node.exe");
  assert.equal(script, "C:\\node/node_modules/npm/bin/npx-cli.js");
  assert.deepEqual(args, ["-y"]);
});

test("the editor's shell does not search the current folder", () => {
  const [command, , options] = makeEditorCommand("code --wait", "C:\\a b.md", {}, "win32");
  assert.equal(command, 'code --wait "C:\\a b.md"');
  assert.equal(options.shell, true);
  assert.equal(options.env.NoDefaultCurrentDirectoryInExePath, "1");
});
