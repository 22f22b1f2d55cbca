/** The encodings of text that people write: prompts, settings, profiles and variables. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeText } from "../../pkg/dist/text_input.js";
import { assertFailed } from "./command_line.mjs";
import { quillgateJob, server, useStandIn, write } from "./session.mjs";

const BOM = "\ufeff";

useStandIn();

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

test("job create sends no prompt that is not text", async () => {
  write("p.md", Buffer.from("an \xdcbersicht", "latin1"));
  const editor = { PATH: process.env.PATH, EDITOR: 'printf "a\\\\334" >' };
  for (const [args, options] of [
    [["--prompt-file", "p.md"], {}],
    [["-"], { input: Buffer.of(0x61, 0, 0x62) }],
    [["a \ufffd"], {}],
    [[], { isInputTerminal: true, columns: 80, env: editor }],
  ]) {
    assertFailed(await quillgateJob(["create", ...args], options), 2, /offset \d|U\+FFFD/);
  }
  assert.equal(server.requests.length, 0);
});
