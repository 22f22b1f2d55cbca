/** Cold starts. This module measures the time of the first responses of a new workerd process. */
import { launchServer, PROJECT } from "./servers.mjs";

export const STARTS = 15;
export const COLD_VARIANTS = ["baseline", "quillgate"];

const JOB = `/v2/agent/${PROJECT}/job/job_00000000`;
const VIEWS = `/v1/analytics/${PROJECT}/views`;

/** Starts the Workers in turn, in reversed order in odd rounds. */
export async function measureColdStarts(bench) {
  console.log("bench: cold starts …");
  const starts = Object.fromEntries(COLD_VARIANTS.map((name) => [name, []]));
  for (let round = 0; round < STARTS; round++) {
    const order = round % 2 === 0 ? COLD_VARIANTS : COLD_VARIANTS.toReversed();
    for (const name of order) starts[name].push(await measureStart(bench, name));
  }
  return starts;
}

async function measureStart(bench, name) {
  const init = { headers: { authorization: `Bearer ${bench.signToken()}` } };
  const server = await launchServer(bench, [name]);
  try {
    const port = server.ports[name];
    await readResponse(await server.waitForResponse(port, JOB, init));
    const firstResponse = performance.now() - server.started;
    const requested = performance.now();
    await readResponse(await fetch(`http://127.0.0.1:${port}${VIEWS}`, init));
    return { firstResponse, firstOfObject: performance.now() - requested };
  } finally {
    await server.stop();
  }
}

async function readResponse(response) {
  const text = await response.text();
  if (response.status !== 200) throw new Error(`a first response was ${response.status}: ${text}`);
}
