/** The encodings of text that people write: prompts, settings, profiles and variables. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { decodeText } from "../../pkg/dist/text_input.js";
import { runCommand } from "./command_line.mjs";
import { startStandIn } from "./stand_in.mjs";

const BOM = "\ufeff";
let server;
let folder;

before(async () => {
  server = await startStandIn();
});
after(() => server.stop());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "quillgate-text-"));
  server.requests.length = 0;
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const settings = (more) => ({
  QUILLGATE_BASE_URL: server.url,
  QUILLGATE_PROJECT_ID: "demo-docs",
  QUILLGATE_TOKEN: "a.b.c",
  ...more,
});

function write(name, content) {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

function toUtf16(text, order) {
  const bytes = Buffer.from(BOM + text, "utf16le");
  return order === "le" ? bytes : bytes.swap16();
}

for (const [name, bytes, text] of [
  ["UTF-8", Buffer.from("Übersicht 文書 😀"), "Übersicht 文書 😀"],
  ["UTF-8 with a byte order mark", Buffer.from(`${BOM}${BOM}x`), `${BOM}x`],
  ["UTF-16 LE with a byte order mark", toUtf16("文書 😀", "le"), "文書 😀"],
  ["UTF-16 BE with a byte order mark", toUtf16("文書 😀", "be"), "文書 😀"],
  ["U+FFFD in UTF-8", Buffer.from("a\ufffd"), "a\ufffd"],
  ["no bytes", Buffer.of(), ""],
]) {
  test(`decodes ${name}`, () => assert.deepEqual(decodeText(bytes), { text }));
}

for (const [name, bytes, offset] of [
  ["Latin-1", Buffer.from("an \xdcbersicht", "latin1"), 3],
  ["a character that is cut off", Buffer.from("ab文").subarray(0, 4), 2],
  ["a byte that only starts like U+FFFD", Buffer.of(0x61, 0xef, 0xbf, 0x41), 1],
  ["an encoded surrogate", Buffer.of(0x61, 0xed, 0xa0, 0x80), 1],
  ["UTF-16 without a byte order mark", Buffer.from("ab", "utf16le"), 1],
  ["UTF-32", Buffer.of(0xff, 0xfe, 0, 0, 0x61, 0, 0, 0), 2],
  ["half of a surrogate pair", toUtf16("a\ud83d!", "le"), 4],
  ["an odd number of bytes in UTF-16", Buffer.concat([toUtf16("a", "be"), Buffer.of(1)]), 4],
  ["a NUL character before an invalid byte", Buffer.of(0x61, 0, 0xff), 1],
]) {
  test(`rejects ${name} with the offset of the byte`, () => {
    assert.match(decodeText(bytes).fault, new RegExp(`\\bat offset ${offset}\\b`));
  });
}

const create = (...args) => runCommand(["job", "create", ...args], { env: settings(), folder });

test("job create sends no prompt that is not text", async () => {
  write("p.md", Buffer.from("an \xdcbersicht", "latin1"));
  const editor = 'printf "a\\\\334" >';
  for (const [args, options] of [
    [["--prompt-file", "p.md"], {}],
    [["-"], { input: Buffer.of(0x61, 0, 0x62) }],
    [["a \ufffd"], {}],
    [
      [],
      {
        isInputTerminal: true,
        columns: 80,
        env: settings({ EDITOR: editor, PATH: process.env.PATH }),
      },
    ],
  ]) {
    const run = { env: settings(), folder, ...options };
    const { code, stderr } = await runCommand(["job", "create", ...args], run);
    assert.equal(code, 2, stderr);
    assert.match(stderr, /offset \d|U\+FFFD/);
  }
  assert.equal(server.requests.length, 0);
});

test("job create decodes a prompt and removes its byte order mark", async () => {
  for (const bytes of [Buffer.from(`${BOM}Document it`), toUtf16("Document it", "le")]) {
    write("p.md", bytes);
    const { code, stderr } = await create("--prompt-file", "p.md");
    assert.equal(code, 0, stderr);
    assert.equal(JSON.parse(server.requests.at(-1).body).prompt, "Document it");
  }
});

test("reads settings, profiles and credential files with a byte order mark", async () => {
  const { QUILLGATE_PROJECT_ID: _, ...rest } = settings();
  write("quillgate.json", `${BOM}{"projectId":"demo-docs"}`);
  write("token", toUtf16("a.b.c\r\n", "le"));
  const profile = { baseUrl: server.url, projectId: "demo-docs", token: "a.b.c" };
  write(".config/quillgate/profiles/default.json", toUtf16(JSON.stringify(profile), "be"));
  for (const options of [
    { env: rest, folder },
    { env: { ...settings({ QUILLGATE_TOKEN: "" }), QUILLGATE_TOKEN_FILE: "token" }, folder },
    { home: folder },
  ]) {
    const { code, stderr } = await runCommand(["job", "list"], options);
    assert.equal(code, 0, stderr);
  }
});

test("trims variables and flags, and names a variable with a control character", async () => {
  for (const change of [
    { QUILLGATE_PROJECT_ID: "demo-docs\r" },
    { QUILLGATE_BASE_URL: `${server.url} \r\n` },
    { QUILLGATE_LOG: "off\r" },
  ]) {
    const { code, stderr } = await runCommand(["job", "list"], { env: settings(change) });
    assert.deepEqual([code, stderr], [0, ""]);
  }
  const flags = ["--project", "demo-docs\r"];
  const { code } = await runCommand(["job", "list", ...flags], { env: settings() });
  assert.equal(code, 0);
  const inside = settings({ QUILLGATE_PROJECT_ID: "demo\rdocs" });
  const refused = await runCommand(["job", "list"], { env: inside });
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /QUILLGATE_PROJECT_ID must not contain control characters/);
});
