/** What is shipped of others' work, and under which licences. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { listLicences, THIRD_PARTY } from "../../scripts/licences.mjs";

const list = await listLicences();

test("THIRD_PARTY.md is what `npm run licences` writes", async () => {
  assert.equal(await readFile(THIRD_PARTY, "utf8"), list, "run `npm run licences`");
});

test("every part has a licence, and the text of one", () => {
  const rows = [...list.matchAll(/^\| (?!what|---)(.+?) \| (.+?) \| (.*) \|$/gm)];
  assert.ok(rows.length > 50, `${rows.length} parts`);
  const texts = list.slice(list.indexOf("\n## Texts\n"));
  for (const [row, linked, version, licence] of rows) {
    assert.match(licence, /MIT|Apache-2\.0|Unicode-3\.0/, row);
    const name = /^\[(.+?)\]/.exec(linked)?.[1] ?? linked;
    assert.ok(texts.includes(`${name} ${version}`), `${name} ${version} comes without a text`);
  }
});
