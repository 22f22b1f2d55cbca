/** Requests upstream of the hand-written Workers: the key, a deadline, and what is passed on. */
import { env } from "cloudflare:workers";
import { problem } from "./rules.mjs";

const KEY = `Bearer ${env.ADMIN_API_KEY}`;
const TIMEOUT = Number(env.UPSTREAM_TIMEOUT_SECONDS) * 1000;
const PASSED_ON = ["content-type", "content-language"];

/** Sends a request; gives the head of the answer, or why there is none. */
export async function send(method, target, body) {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), TIMEOUT);
  const headers = { accept: "application/json", authorization: KEY };
  if (body !== undefined) headers["content-type"] = "application/json";
  const init = { method, headers, body, redirect: "manual", signal: controller.signal };
  try {
    return await fetch(env.UPSTREAM_BASE_URL + target, init);
  } catch {
    return controller.signal.aborted ? 504 : 502;
  } finally {
    clearTimeout(timer);
  }
}

/** Sends a request and streams the answer to the caller. */
export async function forward({ id, headers, method, target, body }) {
  const answer = await send(method, target, body);
  if (typeof answer === "number") return problem(answer, "upstream-unreachable", id, headers);
  if (!answer.ok) return await refusal(answer, id, headers);
  for (const name of PASSED_ON) {
    const value = answer.headers.get(name);
    if (value !== null) headers[name] = value;
  }
  return new Response(answer.body, { status: answer.status, headers });
}

/** The problem of an answer that is no success. */
export async function refusal(answer, id, headers) {
  const { error } = await answer.json().catch(() => ({}));
  const { status } = answer;
  if (status < 400 || status === 401 || status === 403) {
    return problem(502, "upstream-credential", id, headers);
  }
  return problem(status, "upstream-error", id, headers, { upstream: { status, error } });
}
