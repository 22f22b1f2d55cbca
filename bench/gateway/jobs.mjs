/** What a creation and an alarm cost, by how many jobs the project's ledger has. */
import { startServer } from "./servers.mjs";

const VARIANT = "recorded";
/** How many jobs are recorded, the fewest first. */
const RECORDED = [1e2, 1e4, 1e6];
export const ROUNDS = 60;
const CREATIONS = 5;
const ALARMS = 50;

/** No poll and no delivery falls into the measurement. */
const VARS = {
  JOB_POLL_SECONDS: "300",
  WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 1).toString("base64")}`,
  WEBHOOK_URL: "https://hooks.example/bench",
  WEBHOOK_HOSTS: "hooks.example",
};

/**
 * Creates jobs and runs the alarm on ledgers of different sizes in turn, in reversed order in odd
 * rounds.
 *
 * @typedef {object} JobCost in milliseconds
 * @property {number[]} creation of a job with a webhook, from its request to its answer
 * @property {number[]} alarm with nothing due
 *
 * @param {import("./servers.mjs").Bench} bench
 * @returns {Promise<Record<number, JobCost>>} by the number of recorded jobs
 */
export async function measureJobs(bench) {
  console.log(`bench: recording up to ${Math.max(...RECORDED)} jobs …`);
  const server = await startServer({ ...bench, vars: { ...bench.vars, ...VARS } }, [VARIANT]);
  try {
    const port = server.ports[VARIANT];
    const ledgers = RECORDED.map((count) => new Ledger(bench, port, count));
    for (const ledger of ledgers) {
      await ledger.call("record", ledger.count);
      await ledger.measureRound();
    }
    console.log("bench: creations and alarms …");
    const costs = Object.fromEntries(RECORDED.map((count) => [count, { creation: [], alarm: [] }]));
    for (let round = 0; round < ROUNDS; round++) {
      for (const ledger of round % 2 === 0 ? ledgers : ledgers.toReversed()) {
        const { creation, alarm } = await ledger.measureRound();
        costs[ledger.count].creation.push(...creation);
        costs[ledger.count].alarm.push(alarm);
      }
    }
    return costs;
  } finally {
    await server.stop();
  }
}

/** A project whose ledger has so many jobs. */
class Ledger {
  #origin;
  #project;
  #headers;

  constructor({ signToken }, port, count) {
    this.count = count;
    this.#origin = `http://127.0.0.1:${port}`;
    this.#project = `recorded-${count}`;
    const token = signToken({ projects: [this.#project] });
    this.#headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  }

  /** Calls a method of the project's object. */
  async call(method, number) {
    const target = `/recorded/${this.#project}/${method}/${number}`;
    await this.#send(target, {}, 200);
  }

  async measureRound() {
    const creation = [];
    for (let number = 0; number < CREATIONS; number++) {
      creation.push(await time(() => this.#create()));
    }
    const alarm = (await time(() => this.call("ring", ALARMS))) / ALARMS;
    return { creation, alarm };
  }

  async #create() {
    const body = JSON.stringify({ prompt: "Measure" });
    const init = { method: "POST", headers: this.#headers, body };
    await this.#send(`/v2/agent/${this.#project}/job`, init, 201);
  }

  async #send(target, init, expected) {
    const response = await fetch(this.#origin + target, init);
    const text = await response.text();
    if (response.status !== expected) throw new Error(`${target}: ${response.status} ${text}`);
  }
}

async function time(act) {
  const began = performance.now();
  await act();
  return performance.now() - began;
}
