/** Soak test: clients do mixed work while a share of the requests to Mintlify fails. */
import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startServer } from "../../bench/gateway/servers.mjs";
import { MODULES, PRESENT } from "../../bench/gateway/variants.mjs";
import { canaryKey, noteCanary } from "../harness/canary.mjs";
import { registerGateway } from "../harness/openapi.mjs";
import { accessClaims, mintToken, newSecret } from "../harness/token.mjs";
import { startUpstream } from "../harness/upstream.mjs";
import { checkWrites, Ledger, SoakClient } from "./clients.mjs";
import { growthAfterWarmUp, recordMemory, windowsAfterWarmUp } from "./memory.mjs";

const CLIENT_COUNT = 24;
/** A busy machine may take this long for the minimum number of requests. */
const MAX_SECONDS = 120;
/** Share of the requests to the simulated API that fail. */
const FAULTS_PER_THOUSAND = 50;
const PROJECTS = ["soak-a", "soak-b", "soak-c"];
const JOB_DURATION_MS = 1500;
const SCOPE = "jobs:create jobs:read analytics:read";
const UNLIMITED = "1000000";
/** Largest allowed growth of memory after the first minute, as a factor. */
const MAX_MEMORY_GROWTH = 1.2;
/** Share of each kind of work that must succeed. A gateway that rejects everything must fail. */
const MIN_SUCCESS_RATE = 0.8;

export async function runSoak({ seconds, minRequests = 0, seed = 1, env = process.env }) {
  const folder = mkdtempSync(join(tmpdir(), "quillgate-soak-"));
  // The folder contains secrets, so it is removed however this process ends.
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  process.once("exit", remove);
  const adminKey = canaryKey();
  const secret = newSecret();
  const options = { pages: 300, projects: PROJECTS, jobDurationMs: JOB_DURATION_MS };
  const upstream = await startUpstream({ key: adminKey, ...options, env });
  try {
    await upstream.setLimits({ create: null, message: null, analytics: null });
    const server = await startGatewayIn(folder, { adminKey, secret, upstreamUrl: upstream.url });
    try {
      return await work({ server, upstream, adminKey, secret, seconds, minRequests, seed });
    } finally {
      await server.stop();
    }
  } finally {
    await upstream.stop();
    remove();
    process.off("exit", remove);
  }
}

async function startGatewayIn(folder, { adminKey, secret, upstreamUrl }) {
  mkdirSync(join(folder, "quillgate"));
  for (const file of MODULES) {
    copyFileSync(join(PRESENT, file), join(folder, "quillgate", file));
  }
  const vars = {
    ADMIN_API_KEY: adminKey,
    ACCESS_TOKEN_SECRET: secret,
    UPSTREAM_BASE_URL: upstreamUrl,
    UPSTREAM_TIMEOUT_SECONDS: "3",
    CREATE_LIMIT_PER_HOUR: UNLIMITED,
    MESSAGE_LIMIT_PER_HOUR: UNLIMITED,
    ANALYTICS_LIMIT_PER_HOUR: UNLIMITED,
    READ_LIMIT_PER_HOUR: UNLIMITED,
    LIMIT_WINDOW_SECONDS: "10",
    JOB_POLL_SECONDS: "1",
  };
  noteCanary("gateway", adminKey);
  return await startServer({ folder, vars }, ["quillgate"]);
}

async function work({ server, upstream, adminKey, secret, seconds, minRequests, seed }) {
  const ledger = new Ledger({ upstream, secrets: [adminKey, secret] });
  const gatewayUrl = `http://127.0.0.1:${server.ports.quillgate}`;
  // Every response is compared with the OpenAPI document that the gateway serves.
  assert.ok(await registerGateway(gatewayUrl), "the gateway serves no description");
  const clients = Array.from({ length: CLIENT_COUNT }, (_, index) => {
    const name = `client-${index}`;
    const token = mintToken(accessClaims({ sub: name, projects: PROJECTS, scope: SCOPE }), secret);
    const options = { name, seed: seed + index, ledger, gatewayUrl, token, projects: PROJECTS };
    return new SoakClient(options);
  });
  await upstream.setFaultRate({ perThousand: FAULTS_PER_THOUSAND, seed });
  const memory = recordMemory(server.pid);
  const started = performance.now();
  const isOver = () => {
    const elapsed = (performance.now() - started) / 1000;
    return elapsed > (ledger.requests < minRequests ? MAX_SECONDS : seconds);
  };
  await Promise.all(clients.map((client) => client.run(isOver)));
  const samples = memory.stop();
  const { injected } = await upstream.faultRate();
  await upstream.clearFaultRate();
  const { requests, jobsCreated, messagesSent } = await upstream.counters();
  checkWrites(ledger, await upstream.jobs());
  return {
    seconds,
    requests: ledger.requests,
    answers: ledger.answers,
    upstream: { requests, injected },
    written: { jobs: jobsCreated, messages: messagesSent },
    wrong: { faults: ledger.faults, faultCount: ledger.faultCount },
    memory: {
      first: samples[0]?.bytes,
      last: samples.at(-1)?.bytes,
      windows: windowsAfterWarmUp(samples),
      growth: growthAfterWarmUp(samples),
    },
  };
}

export function describeSoak({ seconds, requests, answers, upstream, written, wrong, memory }) {
  const lines = Object.entries(answers)
    .sort()
    .map(([name, outcomes]) => `| ${name} | ${sum(outcomes)} | ${listCounts(outcomes)} |`);
  const injected = sum(upstream.injected);
  const share = ((injected / upstream.requests) * 100).toFixed(1);
  const parts = [
    `${CLIENT_COUNT} clients for ${seconds} s: ${requests} requests to the gateway, ${upstream.requests} ` +
      `to the simulated API. ${injected} of these (${share} %) failed: ${listCounts(upstream.injected)}.`,
    `The clients created ${written.jobs} jobs and sent ${written.messages} follow-ups.`,
    ["| work | total | count by outcome |", "| --- | --: | --- |", ...lines].join("\n"),
    `Faults found: ${wrong.faultCount}.${wrong.faults.map((fault) => `\n- ${fault}`).join("")}`,
  ];
  if (memory.first !== undefined) parts.push(describeMemory(memory));
  return parts.join("\n\n");
}

function describeMemory({ first, last, windows, growth }) {
  const ends = `workerd's memory: ${inMegabytes(first)} at the start, ${inMegabytes(last)} at the end`;
  if (growth === undefined) return `${ends}.`;
  const medians = windows.map(inMegabytes).join(", ");
  return `${ends}. Medians of 30 s after the first minute: ${medians}. The largest is ${growth.toFixed(2)} times the first.`;
}

export function assertSoak({ answers, upstream, wrong, memory }) {
  assert.equal(wrong.faultCount, 0, wrong.faults.join("\n"));
  const share = (sum(upstream.injected) / upstream.requests) * 1000;
  const isShare = share > FAULTS_PER_THOUSAND / 2 && share < FAULTS_PER_THOUSAND * 2;
  assert.ok(isShare, `${share.toFixed(0)} of 1,000 requests to the simulated API failed`);
  for (const [name, outcomes] of Object.entries(answers)) {
    const successes = name === "refused" ? sum(outcomes) : outcomes.done;
    const tried = sum(outcomes) - (outcomes["none yet"] ?? 0);
    assert.ok(successes >= tried * MIN_SUCCESS_RATE, `${name}: ${listCounts(outcomes)}`);
  }
  const { growth = 1 } = memory;
  assert.ok(growth <= MAX_MEMORY_GROWTH, `memory grew by a factor of ${growth}`);
}

function sum(counts) {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}

function listCounts(counts) {
  const entries = Object.entries(counts).sort(([a], [b]) => a.localeCompare(b));
  return entries.map(([name, count]) => `${name} ${count}`).join(", ");
}

function inMegabytes(bytes) {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}
