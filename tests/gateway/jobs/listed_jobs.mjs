import assert from "node:assert/strict";
import { beforeEach } from "node:test";
import { useJobs } from "../jobs_gateway.mjs";
import { PROJECT } from "../recorded_gateway.mjs";

export const LIST = `/v2/agent/${PROJECT}/jobs`;

export const jobs = useJobs(`listed-jobs-${process.pid}`, {
  vars: { KEEP_PROMPTS: "first-line" },
});
// `reset()` would also delete the simulator's jobs, which the gateway still lists.
beforeEach(() => jobs.upstream.clearFaults());

/** Returns one page of the list, by default the first page. */
export async function page(query = {}, { target = LIST, authorization } = {}) {
  const search = new URLSearchParams(query);
  const answer = await jobs.gate.get(search.size > 0 ? `${target}?${search}` : target, {
    authorization: authorization ?? jobs.authorization,
  });
  assert.equal(answer.status, 200, answer.text);
  return answer.json;
}

export const idsOf = (listed) => listed.map(({ id }) => id);

export async function createOneByOne(count, options) {
  const ids = [];
  for (let number = 0; number < count; number += 1) {
    ids.unshift((await jobs.create(`number ${number}`, options)).id);
  }
  return ids;
}
