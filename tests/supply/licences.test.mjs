/** The licences of third-party code in the shipped files. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { listLicences } from "../../scripts/licences.mjs";

/** Components whose authors publish no licence file. */
const WITHOUT_FILE = ["lol_alloc"];

const list = await listLicences();

test("every third-party component has a known licence and a licence text", () => {
  const rows = [...list.matchAll(/^\| (?!name|---)(.+?) \| (.+?) \| (.*) \|$/gm)];
  assert.ok(rows.length > 50, `${rows.length} components`);
  const [, texts] = list.split("\n## Licence texts\n");
  const withText = [...texts.matchAll(/^(.+):\n\n````text$/gm)].flatMap(([, names]) =>
    names.split(", "),
  );
  for (const [row, linked, version, licence] of rows) {
    assert.match(licence, /MIT|Apache-2\.0|Unicode-3\.0|OFL-1\.1/, row);
    const name = /^\[(.+?)\]/.exec(linked)?.[1] ?? linked;
    const hasText = withText.includes(`${name} ${version}`) || WITHOUT_FILE.includes(name);
    assert.ok(hasText, `${name} ${version} has no licence text`);
  }
});
