/** Runs schemathesis against the gateway and its OpenAPI description. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { before, JOBS, PROJECT, useGate } from "../gateway/recorded_gateway.mjs";
import { LOGS, startProgram } from "../harness/process.mjs";

const HERE = fileURLToPath(new URL("./", import.meta.url));
const REPORT = join(LOGS, "schemathesis.json");
/** Routes for the gateway's own page, which need a browser's cookies; tests/gateway covers them. */
const SESSION_ROUTES = "^/session(/|$)";
const UNLIMITED = 1_000_000;
const SCOPE = "jobs:create jobs:read analytics:read analytics:conversations gateway:operate";
/** A stream of the job list stays open for an hour, so schemathesis stops after some events. */
const JOB_COUNT = 10;

/** Limits out of reach, and jobs that finish immediately. */
const OPTIONS = {
  upstream: {
    projects: [PROJECT, "other-docs"],
    jobDurationMs: 1,
    createLimit: UNLIMITED,
    messageLimit: UNLIMITED,
    analyticsLimit: UNLIMITED,
    // Hundreds of exports request all rows since the first day of the simulated site.
    conversations: 60,
  },
  gateway: {
    archive: true,
    vars: {
      ARCHIVE_PROJECTS: `${PROJECT},other-docs`,
      CREATE_LIMIT_PER_HOUR: String(UNLIMITED),
      MESSAGE_LIMIT_PER_HOUR: String(UNLIMITED),
      ANALYTICS_LIMIT_PER_HOUR: String(UNLIMITED),
      READ_LIMIT_PER_HOUR: String(UNLIMITED),
      JOB_POLL_SECONDS: "1",
      WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, "x").toString("base64")}`,
      // A reserved name (RFC 2606), so that no webhook is ever delivered.
      WEBHOOK_HOSTS: "hooks.example",
    },
  },
};

export function testWithSchemathesis({ maxExamples }) {
  const gate = useGate("openapi", OPTIONS);
  let description;
  let tokens;
  let run;
  let report;

  before(async () => {
    for (let count = 0; count < JOB_COUNT; count += 1) await gate.post(JOBS, { prompt: "x" });
    const response = await gate.get("/openapi.json", { authorization: null });
    assert.equal(response.status, 200);
    description = response.json;
    tokens = {
      alice: gate.token({ sub: "alice", scope: SCOPE }),
      bob: gate.token({ sub: "bob", scope: SCOPE, projects: ["other-docs"] }),
    };
    run = await runSchemathesis({ gate, description, tokens, maxExamples });
    report = JSON.parse(readFileSync(REPORT, "utf8"));
  });

  test("schemathesis finds no failure", () => {
    assert.deepEqual(report.failures, [], run.output);
    assert.deepEqual(report.errors, [], run.output);
    assert.equal(run.end, "exited with code 0", run.output);
  });

  test("schemathesis completes all its phases", () => {
    assert.equal(report.complete, true);
    const statuses = Object.entries(report.phases).map(([name, { status }]) => [name, status]);
    assert.deepEqual(Object.fromEntries(statuses), {
      examples: "success",
      coverage: "success",
      fuzzing: "success",
      stateful: "success",
    });
  });

  test("schemathesis sees every operation succeed", () => {
    const { total, tested } = report.operations;
    const described = Object.values(description.paths).flatMap((item) => Object.keys(item));
    const expected = listOperations(description);
    assert.deepEqual([total, tested], [described.length, expected.length]);
    const isAccepted = (phases) => Object.values(phases).some(({ accepted }) => accepted > 0);
    const accepted = Object.entries(report.valid_rates).filter(([, phases]) => isAccepted(phases));
    assert.deepEqual(accepted.map(([operation]) => operation).sort(), expected);
  });

  test("schemathesis writes no part of a token to its output or report", () => {
    for (const text of [run.output, readFileSync(REPORT, "utf8")]) {
      for (const token of Object.values(tokens)) {
        assert.ok(!text.includes(token.split(".").at(-1)));
      }
    }
  });
}

/** Lists the operations that schemathesis tests, by its names for them. */
function listOperations({ paths }) {
  return Object.entries(paths)
    .filter(([path]) => !RegExp(SESSION_ROUTES).test(path))
    .flatMap(([path, item]) => Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`))
    .sort();
}

async function runSchemathesis({ gate, description, tokens, maxExamples }) {
  const { SCHEMATHESIS } = process.env;
  assert.ok(
    SCHEMATHESIS,
    "SCHEMATHESIS is not set; npm run test:matrix -- gateway installs schemathesis",
  );
  const folder = mkdtempSync(join(tmpdir(), "quillgate-openapi-"));
  // Tokens go into files because every user of the machine can read command lines.
  const writeJson = (name, content) => {
    const path = join(folder, name);
    writeFileSync(path, JSON.stringify(content), { mode: 0o600 });
    return path;
  };
  const auth = Object.entries(tokens).map(([name, token]) => ({
    name,
    fixedHeaders: [{ name: "Authorization", value: `Bearer ${token}` }],
  }));
  const args = [
    ...["--config-file", join(HERE, "schemathesis.toml")],
    ...["run", writeJson("openapi.json", description)],
    ...["--exclude-path-regex", SESSION_ROUTES, "--url", gate.gateway.url],
    ...["--checks", "all", "--max-examples", String(maxExamples)],
    ...["--no-color", "--report", "json", "--report-json-path", REPORT],
  ];
  const env = {
    ...process.env,
    PYTHONDONTWRITEBYTECODE: "1",
    PYTHONPATH: HERE,
    QUILLGATE_CALLERS: writeJson("callers.json", { auth }),
    QUILLGATE_THREAD: await findThread(gate.upstream),
    SCHEMATHESIS_HOOKS: "hooks",
  };
  try {
    const running = startProgram("schemathesis", SCHEMATHESIS, args, { cwd: folder, env });
    const end = await running.ended;
    console.log(running.output());
    return { end, output: running.output() };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function findThread(upstream) {
  const { conversations } = await upstream.report({ report: "assistant", projectId: PROJECT });
  return conversations[0].id;
}
