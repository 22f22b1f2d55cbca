/**
 * The package as it was, beside the package as it is: the same generated calls, answered the same
 * way on the same virtual host. What differs is declared in `differential/differences.mjs`.
 *
 * `DIFFERENTIAL_SEED` makes other cases, `DIFFERENTIAL_CASES` more or fewer of them, and
 * `DIFFERENTIAL_CASE` runs the case of one number.
 */
import assert from "node:assert/strict";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { makeCase } from "./differential/cases.mjs";
import { compare, explain } from "./differential/compare.mjs";
import { EXPECTED } from "./differential/differences.mjs";
import { MUTATIONS } from "./differential/mutations.mjs";
import { runCase } from "./differential/run.mjs";
import { shrink } from "./differential/shrink.mjs";
import { Tally } from "./differential/tally.mjs";
import { HERE, install } from "./installed.mjs";

const BEFORE = join(HERE, "fixtures", "quillgate-before.tgz");
const { DIFFERENTIAL_SEED, DIFFERENTIAL_CASES, DIFFERENTIAL_CASE } = process.env;
const SEED = Number(DIFFERENTIAL_SEED ?? 11);
const CASES = Number(DIFFERENTIAL_CASES ?? 10_000);
/** How many differences are explained in full. */
const MOST_EXPLAINED = 3;

let folderBefore;
let packageBefore;
let packageAfter;

before(async () => {
  folderBefore = await install("before", {}, BEFORE);
  packageBefore = await load(folderBefore);
  packageAfter = await load(await install("after"));
});

function entryOf(folder) {
  return createRequire(join(folder, "x.cjs")).resolve("quillgate");
}

/** Imports an installed package, and has it load its wasm and its later part, which takes real time. */
async function load(folder) {
  const quillgate = await import(pathToFileURL(entryOf(folder)).href);
  const client = new quillgate.Client({ projectId: "acme", adminKey: "mint_x" });
  await client.buildRequest("analytics.views", {});
  await import(pathToFileURL(join(dirname(entryOf(folder)), "job_stream.js")).href);
  return quillgate;
}

function numbers() {
  if (DIFFERENTIAL_CASE !== undefined) return [Number(DIFFERENTIAL_CASE)];
  return Array.from({ length: CASES }, (_, number) => number);
}

/** Runs a case with both. @returns what differs and is not declared, and the entries that were of use */
async function differ(one, other, subject) {
  const recordings = { before: await runCase(one, subject), after: await runCase(other, subject) };
  const used = new Set();
  const differences = compare(recordings.before, recordings.after).filter((difference) => {
    const expected = EXPECTED.find(({ matches }) => matches(difference, subject));
    if (expected !== undefined) used.add(expected.id);
    return expected === undefined;
  });
  return { ...recordings, differences, used };
}

/** What is alike in differences that have one cause. */
function kindOf({ path, before, after, eventBefore, eventAfter }) {
  const { event } = eventBefore ?? eventAfter ?? { event: "in the end" };
  const where = path.replace(/^events\[\d+\]/, "").replace(/\d+/g, "#");
  const what = before === undefined ? "more" : after === undefined ? "less" : "other";
  return `${event}${where}: ${what}`;
}

/** The case made smaller, and both of its recordings in words. */
async function describe(number, kind) {
  const isSameKind = async (smaller) => {
    const { differences } = await differ(packageBefore, packageAfter, smaller);
    return differences.length > 0 && kindOf(differences[0]) === kind;
  };
  const subject = await shrink(makeCase(SEED, number), isSameKind);
  const found = await differ(packageBefore, packageAfter, subject);
  const command = `DIFFERENTIAL_SEED=${SEED} DIFFERENTIAL_CASE=${number} node --test tests/package/differential.test.mjs`;
  return explain(subject, { ...found, command });
}

test("the package does what it did before, except what is declared", async () => {
  const tally = new Tally();
  const used = new Map();
  const kinds = new Map();
  for (const number of numbers()) {
    const subject = makeCase(SEED, number);
    const found = await differ(packageBefore, packageAfter, subject);
    tally.add(subject, found.before);
    for (const id of found.used) used.set(id, (used.get(id) ?? 0) + 1);
    if (found.differences.length === 0) continue;
    const kind = kindOf(found.differences[0]);
    kinds.set(kind, [...(kinds.get(kind) ?? []), number]);
  }
  console.log(`seed ${SEED}: ${tally}`);
  for (const { id, why } of EXPECTED) {
    console.log(`  declared: ${id}, in ${used.get(id) ?? 0} cases: ${why}`);
  }

  const bySize = [...kinds].sort(([, one], [, other]) => other.length - one.length);
  const list = bySize.map(([kind, numbers]) => {
    return `${numbers.length} cases: ${kind} (${numbers.slice(0, 8).join(", ")})`;
  });
  const explained = [];
  for (const [kind, [number]] of bySize.slice(0, MOST_EXPLAINED)) {
    explained.push(await describe(number, kind));
  }
  assert.ok(kinds.size === 0, [`seed ${SEED}: undeclared`, ...list, ...explained].join("\n\n"));
  if (tally.cases < 10_000) return;

  const unused = EXPECTED.filter(({ id }) => !used.has(id)).map(({ id }) => id);
  assert.deepEqual(unused, [], "differences that are declared and do not occur any more");
  assert.deepEqual(tally.findGaps(), [], "what the cases have to reach");
});

for (const [at, { name, file, from, to }] of MUTATIONS.entries()) {
  test(`a package with ${name} is found out`, async () => {
    const folder = join(folderBefore, "..", `mutated-${at}`);
    cpSync(folderBefore, folder, { recursive: true });
    const path = join(dirname(entryOf(folder)), file);
    const text = readFileSync(path, "utf8");
    assert.equal(text.split(from).length, 2, "the place is there once");
    writeFileSync(
      path,
      text.replace(from, () => to),
    );
    const mutated = await load(folder);
    for (let number = 0; number < 2_000; number++) {
      const subject = makeCase(SEED, number);
      const recordings = [await runCase(packageBefore, subject), await runCase(mutated, subject)];
      if (compare(...recordings).length > 0) return;
    }
    assert.fail("2,000 cases found nothing");
  });
}
