/**
 * The gateway against its own description: schemathesis makes requests of it, such as must be
 * accepted and such as must be refused, and compares every answer with it.
 */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { JOBS, PROJECT, startGate } from "../gateway/gate.mjs";
import { LOGS, startProgram } from "../harness/process.mjs";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const BUILT = new URL("../../worker/build/core/openapi.txt", import.meta.url);
const REPORT = join(LOGS, "schemathesis.json");
const HIGH = 1_000_000;
const SCOPE = "jobs:create jobs:read analytics:read analytics:conversations gateway:operate";

let gate;
/** The description as the gateway serves it. */
let description;
/** The tokens of those who ask. */
let callers;

before(async () => {
  gate = await startGate("openapi", {
    // A job is done as soon as anybody looks again, and no limit is met but those of a value.
    upstream: {
      projects: [PROJECT, "other-docs"],
      jobDurationMs: 1,
      createLimit: HIGH,
      messageLimit: HIGH,
      analyticsLimit: HIGH,
    },
    gateway: {
      archive: true,
      vars: {
        ARCHIVE_PROJECTS: `${PROJECT},other-docs`,
        CREATE_LIMIT_PER_HOUR: String(HIGH),
        MESSAGE_LIMIT_PER_HOUR: String(HIGH),
        ANALYTICS_LIMIT_PER_HOUR: String(HIGH),
        READ_LIMIT_PER_HOUR: String(HIGH),
        JOB_POLL_SECONDS: "1",
        WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, "x").toString("base64")}`,
        // A host that never is (RFC 2606): whatever is registered, nothing is sent anywhere.
        WEBHOOK_HOSTS: "hooks.example",
      },
    },
  });
  // A stream of the list is read up to its second event, and ends by itself only after an hour.
  for (let number = 0; number < 10; number += 1) await gate.post(JOBS, { prompt: "x" });
  const answer = await gate.get("/openapi.json", { authorization: null });
  assert.equal(answer.status, 200);
  description = answer.json;
  callers = {
    alice: gate.token({ sub: "alice", scope: SCOPE }),
    bob: gate.token({ sub: "bob", scope: SCOPE, projects: ["other-docs"] }),
  };
});
after(() => gate?.stop());

/** Sessions are for the gateway's own page: what they take is tried by `gateway/sessions.test.mjs`. */
const FOR_BROWSERS = "^/session(/|$)";

/** Every other operation of the description, as schemathesis calls it. */
function operations() {
  const ofPath = ([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`);
  const paths = Object.entries(description.paths);
  return paths
    .filter(([path]) => !RegExp(FOR_BROWSERS).test(path))
    .flatMap(ofPath)
    .sort();
}

test("the gateway serves the description that it was built with", () => {
  assert.deepEqual(description, JSON.parse(readFileSync(BUILT, "utf8")));
});

describe("the pattern of a date", () => {
  let pattern;
  before(() => {
    const { parameters } = description.paths["/v1/analytics/{projectId}/views"].get;
    pattern = new RegExp(parameters.find(({ name }) => name === "dateFrom").schema.pattern, "u");
  });

  test("takes the days that the calendar has, and no others", () => {
    const two = (number) => String(number).padStart(2, "0");
    // From year to year only February differs, and in 400 years every case of it has come.
    for (let year = 1900; year < 2300; year += 1) {
      for (let month = 0; month <= 13; month += 1) {
        for (let day = 0; day <= 32; day += 1) {
          const text = `${year}-${two(month)}-${two(day)}`;
          const date = new Date(Date.UTC(year, month - 1, day));
          const exists = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
          assert.equal(pattern.test(text), exists, text);
        }
      }
    }
  });

  test("takes the times and offsets that exist, and no others", () => {
    for (const time of ["00:00", "23:59", "12:00:00", "12:00:59.9", "12:00:00.123456789"]) {
      for (const offset of ["", "Z", "+00:00", "-23:59"]) {
        assert.match(`2024-02-29T${time}${offset}`, pattern);
      }
    }
    for (const time of ["24:00", "23:60", "12:00:60", "12", "12:00.5", "12:00:00.", "1:00"]) {
      assert.doesNotMatch(`2024-02-29T${time}`, pattern);
    }
    for (const offset of ["z", "+24:00", "+00:60", "+0000", "+00", " "]) {
      assert.doesNotMatch(`2024-02-29T12:00${offset}`, pattern);
    }
  });
});

describe("schemathesis, with every check on,", () => {
  let outcome;
  let report;

  before(async () => {
    outcome = await runSchemathesis();
    report = JSON.parse(readFileSync(REPORT, "utf8"));
  });

  test("finds no failure", () => {
    assert.deepEqual(report.failures, [], outcome.output);
    assert.deepEqual(report.errors, [], outcome.output);
    assert.equal(outcome.how, "exited with code 0", outcome.output);
  });

  test("has gone through all its phases", () => {
    assert.equal(report.complete, true);
    const statuses = Object.entries(report.phases).map(([name, { status }]) => [name, status]);
    assert.deepEqual(Object.fromEntries(statuses), {
      examples: "success",
      coverage: "success",
      fuzzing: "success",
      stateful: "success",
    });
  });

  test("has seen every operation succeed", () => {
    const { total, tested } = report.operations;
    const described = Object.values(description.paths).flatMap((item) => Object.keys(item));
    assert.deepEqual([total, tested], [described.length, operations().length]);
    const accepted = (phases) => Object.values(phases).some((phase) => phase.accepted > 0);
    const seen = Object.entries(report.valid_rates).filter(([, phases]) => accepted(phases));
    assert.deepEqual(seen.map(([operation]) => operation).sort(), operations());
  });

  test("has left nothing of a token in what it wrote", () => {
    for (const text of [outcome.output, readFileSync(REPORT, "utf8")]) {
      for (const token of Object.values(callers)) {
        assert.ok(!text.includes(token.split(".").at(-1)));
      }
    }
  });
});

test("neither answers nor log hold the admin key, the secret or a token", () =>
  gate.assertDiscreet());

/** A conversation that the platform has. */
async function findThread() {
  const { conversations } = await gate.upstream.report({ report: "assistant", projectId: PROJECT });
  return conversations[0].id;
}

/** Runs it in a folder of its own, which also holds the tokens: on a command line all could read them. */
async function runSchemathesis() {
  const { SCHEMATHESIS } = process.env;
  assert.ok(SCHEMATHESIS, "SCHEMATHESIS names the program: npm test -- openapi installs it");
  const folder = mkdtempSync(join(tmpdir(), "quillgate-openapi-"));
  const file = (name, content) => {
    const path = join(folder, name);
    writeFileSync(path, JSON.stringify(content), { mode: 0o600 });
    return path;
  };
  const header = (token) => [{ name: "Authorization", value: `Bearer ${token}` }];
  const auth = Object.entries(callers).map(([name, token]) => ({
    name,
    fixedHeaders: header(token),
  }));
  const args = [
    ...["--config-file", join(HERE, "schemathesis.toml"), "run", file("openapi.json", description)],
    ...[
      "--exclude-path-regex",
      FOR_BROWSERS,
      "--url",
      gate.gateway.url,
      "--checks",
      "all",
      "--no-color",
    ],
    ...["--report", "json", "--report-json-path", REPORT],
  ];
  const env = {
    ...process.env,
    PYTHONDONTWRITEBYTECODE: "1",
    PYTHONPATH: HERE,
    QUILLGATE_CALLERS: file("callers.json", { auth }),
    QUILLGATE_THREAD: await findThread(),
    SCHEMATHESIS_HOOKS: "hooks",
  };
  try {
    const running = startProgram("schemathesis", SCHEMATHESIS, args, { cwd: folder, env });
    const how = await running.ended;
    console.log(running.output());
    return { how, output: running.output() };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
