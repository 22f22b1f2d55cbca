import assert from "node:assert/strict";
import { test } from "node:test";
import { findGaps } from "../../gateway/dist/tools/requirements.js";

function makeConfiguration() {
  return {
    vars: {},
    compatibility_date: "2026-04-01",
    compatibility_flags: ["enable_request_signal"],
    durable_objects: {
      bindings: [
        { name: "PROJECT_GATE", class_name: "ProjectGate" },
        { name: "ORG_GATE", class_name: "OrgGate" },
      ],
    },
    migrations: [{ tag: "v1", new_sqlite_classes: ["ProjectGate", "OrgGate"] }],
    assets: { binding: "ASSETS", run_worker_first: ["/v1/*", "/healthz"] },
    d1_databases: [],
    triggers: { crons: undefined },
  };
}

const ARCHIVE = {
  d1_databases: [{ binding: "ARCHIVE", database_id: "0b1f7f4e-3f0a-4c55-9d3b-6f0f3f1f7a11" }],
  triggers: { crons: ["*/10 * * * *"] },
};

test("the check finds no gap in a configuration that has more than needed", () => {
  const needed = makeConfiguration();
  const config = {
    ...makeConfiguration(),
    ...ARCHIVE,
    vars: { ARCHIVE_PROJECTS: "acme" },
    compatibility_date: "2026-06-01",
    compatibility_flags: ["another", "enable_request_signal"],
  };
  assert.deepEqual(findGaps(config, needed), []);
});

const bindings = [
  { name: "PROJECT_GATE", class_name: "ProjectGate" },
  { name: "ORG_GATE", class_name: "Other" },
];
const everything = ["/v1/*", "/healthz"];
const assets = { binding: "ASSETS", run_worker_first: ["/v1/*"] };
const database = { binding: "ARCHIVE", database_id: "what it prints" };
const archived = { ...ARCHIVE, vars: { ARCHIVE_PROJECTS: "acme" } };

for (const [gap, change, words] of [
  [
    "an earlier compatibility date",
    { compatibility_date: "2026-03-31" },
    /^compatibility_date .*2026-04-01/,
  ],
  [
    "a missing flag",
    { compatibility_flags: [] },
    /^compatibility_flags lacks enable_request_signal/,
  ],
  [
    "a Durable Object with another class",
    { durable_objects: { bindings } },
    /^durable_objects lacks the binding ORG_GATE of the class OrgGate/,
  ],
  ["a missing migration", { migrations: [] }, /^migrations lacks the tag v1/],
  ["a missing page", { assets: undefined }, /^assets must have the binding ASSETS/],
  ["a route that the page would serve", { assets }, /^assets.run_worker_first lacks \/healthz/],
  ...[true, [...everything, "/*"]].map((routes) => [
    `a Worker in place of the page (${routes})`,
    { assets: { ...assets, run_worker_first: routes } },
    /^assets.run_worker_first must not have every path/,
  ]),
  [
    "an archive without a database",
    { ...archived, d1_databases: [] },
    /^d1_databases lacks the binding ARCHIVE/,
  ],
  [
    "a database without its id",
    { d1_databases: [database] },
    /^d1_databases must have the database_id/,
  ],
  [
    "an archive without a cron trigger",
    { ...archived, triggers: { crons: [] } },
    /^triggers lacks crons/,
  ],
]) {
  test(`the check finds ${gap}`, () => {
    const gaps = findGaps({ ...makeConfiguration(), ...change }, makeConfiguration());
    assert.equal(gaps.length, 1);
    assert.match(`${gaps[0].name} ${gaps[0].message}`, words);
  });
}
