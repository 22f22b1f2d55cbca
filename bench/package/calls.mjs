/** Times whole calls in Node, from the call of the method to its result, without a network. */

import { setImmediate as turn } from "node:timers/promises";
import ky from "ky";
import OpenAI from "openai";
import createClient from "openapi-fetch";
import Stripe from "stripe";
import { Client } from "../../pkg/dist/node.js";
import { parsePage } from "./cases.mjs";
import { alternate } from "./timing.mjs";

const BASE = "https://bench.invalid";
const PATH = "/v1/analytics/bench/views?limit=250";

/** Names of the clients that goals refer to. */
export const CALLS = {
  bare: "fetch + json(), not validated",
  own: "quillgate",
  ky: "ky + zod",
  openai: "openai's runtime, not validated",
};

export async function timeCalls(text) {
  const respond = async () =>
    new Response(text, { status: 200, headers: { "content-type": "application/json" } });
  const { fetch } = globalThis;
  // Set before the clients are created, because some store the host's `fetch`.
  globalThis.fetch = respond;
  try {
    const ways = { host: callsBy(undefined), custom: callsBy(respond) };
    return await alternateWays(ways, { rounds: 300, runs: 10, turn });
  } finally {
    globalThis.fetch = fetch;
  }
}

/** Times both ways in the same rounds, so that neither benefits from a warmer engine. */
async function alternateWays(ways, options) {
  const cases = Object.entries(ways).flatMap(([way, calls]) =>
    Object.entries(calls).map(([name, call]) => [`${way} ${name}`, call]),
  );
  const { times, turns } = await alternate(Object.fromEntries(cases), options);
  const timesOf = ([way, calls]) => {
    const own = Object.keys(calls).map((name) => [name, times[`${way} ${name}`]]);
    return [way, { times: Object.fromEntries(own), turns }];
  };
  return Object.fromEntries(Object.entries(ways).map(timesOf));
}

function callsBy(custom) {
  const own = custom && { fetch: custom };
  const bare = custom ?? globalThis.fetch;
  const credentials = { baseUrl: BASE, projectId: "bench", auth: { token: "t" } };
  const client = new Client({ ...credentials, ...own, logLevel: "off" });
  const kyClient = ky.create({ ...own, retry: 0 });
  const openapi = createClient({ baseUrl: BASE, ...own });
  const openai = new OpenAI({ apiKey: "k", baseURL: BASE, ...own, maxRetries: 0 });
  const stripe = new Stripe("sk_test_bench", {
    httpClient: Stripe.createFetchHttpClient(custom),
    telemetry: false,
  });
  return {
    [CALLS.bare]: async () => (await bare(BASE + PATH)).json(),
    [CALLS.own]: () => client.analytics.views({ limit: 250 }),
    [CALLS.ky]: async () => parsePage(await kyClient.get(BASE + PATH).json()),
    "openapi-fetch, not validated": () => openapi.GET(PATH),
    [CALLS.openai]: () => openai.get(PATH),
    "stripe's runtime, not validated": () => stripe.rawRequest("GET", PATH),
  };
}
