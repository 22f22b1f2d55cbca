/**
 * Measures the time of creations and alarms in projects with different numbers of recorded jobs.
 */
import { startServer } from "./servers.mjs";

const VARIANT = "recorded";
/** Numbers of recorded jobs, the smallest first. */
const RECORDED = [1e2, 1e4, 1e6];
export const ROUNDS = 60;
const CREATIONS = 5;
const ALARMS = 50;

/** Polls and deliveries happen after the measurement. */
const VARS = {
  JOB_POLL_SECONDS: "300",
  WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 1).toString("base64")}`,
  WEBHOOK_URL: "https://hooks.example/bench",
  WEBHOOK_HOSTS: "hooks.example",
};

/**
 * Creates jobs and runs the alarm in projects with different numbers of recorded jobs in turn, in
 * reversed order in odd rounds.
 *
 * @typedef {object} JobCost in milliseconds
 * @property {number[]} creation of a job with a webhook, from request to response
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
    const projects = RECORDED.map((count) => new Project(bench, port, count));
    for (const project of projects) {
      await project.call("record", project.count);
      await project.measureRound();
    }
    console.log("bench: creations and alarms …");
    const costs = Object.fromEntries(RECORDED.map((count) => [count, { creation: [], alarm: [] }]));
    for (let round = 0; round < ROUNDS; round++) {
      for (const project of round % 2 === 0 ? projects : projects.toReversed()) {
        const { creation, alarm } = await project.measureRound();
        costs[project.count].creation.push(...creation);
        costs[project.count].alarm.push(alarm);
      }
    }
    return costs;
  } finally {
    await server.stop();
  }
}

/** A project with `count` recorded jobs. */
class Project {
  #origin;
  #id;
  #headers;

  constructor({ signToken }, port, count) {
    this.count = count;
    this.#origin = `http://127.0.0.1:${port}`;
    this.#id = `recorded-${count}`;
    const token = signToken({ projects: [this.#id] });
    this.#headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  }

  /** Calls a method of the project's Durable Object. */
  async call(method, number) {
    const target = `/recorded/${this.#id}/${method}/${number}`;
    await this.#send(target, {}, 200);
  }

  async measureRound() {
    const creation = [];
    for (let number = 0; number < CREATIONS; number++) {
      creation.push(await time(() => this.#create()));
    }
    const alarm = (await time(() => this.call("runAlarm", ALARMS))) / ALARMS;
    return { creation, alarm };
  }

  async #create() {
    const body = JSON.stringify({ prompt: "Measure" });
    const init = { method: "POST", headers: this.#headers, body };
    await this.#send(`/v2/agent/${this.#id}/job`, init, 201);
  }

  async #send(target, init, expected) {
    const response = await fetch(this.#origin + target, init);
    const text = await response.text();
    if (response.status !== expected) throw new Error(`${target}: ${response.status} ${text}`);
  }
}

async function time(act) {
  const started = performance.now();
  await act();
  return performance.now() - started;
}
