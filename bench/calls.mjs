/** Whole calls in Node, from method to checked result, with the network left out. */

import ky from "ky";
import OpenAI from "openai";
import createClient from "openapi-fetch";
import Stripe from "stripe";
import { Client } from "../pkg/dist/node.js";
import { alternate, parsePage } from "./cases.mjs";

const BASE = "https://bench.invalid";
const PATH = "/v1/analytics/bench/views?limit=250";

/** Times a call of each client for the same page of 250 rows. */
export async function timeCalls(text) {
  const fetch = async () =>
    new Response(text, { status: 200, headers: { "content-type": "application/json" } });
  const own = new Client({ baseUrl: BASE, projectId: "bench", token: "t", fetch, logLevel: "off" });
  const openapi = createClient({ baseUrl: BASE, fetch });
  const openai = new OpenAI({ apiKey: "k", baseURL: BASE, fetch, maxRetries: 0 });
  const stripe = new Stripe("sk_test_bench", {
    httpClient: Stripe.createFetchHttpClient(fetch),
    telemetry: false,
  });
  const kyClient = ky.create({ fetch, retry: 0 });
  return alternate(
    {
      "fetch + json(), nothing checked": async () => (await fetch(BASE + PATH)).json(),
      quillgate: () => own.pageViews.list({ limit: 250 }),
      "ky + zod": async () => parsePage(await kyClient.get(BASE + PATH).json()),
      "openapi-fetch, nothing checked": () => openapi.GET(PATH),
      "openai's runtime, nothing checked": () => openai.get(PATH),
      "stripe's runtime, nothing checked": () => stripe.rawRequest("GET", PATH),
    },
    { rounds: 40, runs: 20 },
  );
}
