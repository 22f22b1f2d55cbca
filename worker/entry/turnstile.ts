/** Turnstile: asking Cloudflare whether a person was there. */
import type { Answer, Human, Settings } from "./core.js";
import { refuse, turnstilePassed } from "./core.js";

const TIMEOUT = 10_000;

/** Checks a response; gives the answer that refuses the request when it is not good. */
export async function checked(
  { turnstile }: Settings,
  human: Human,
  fingerprint: string,
  id: string,
): Promise<Answer | undefined> {
  if (!turnstile) return refuse("internal", id);
  try {
    const response = await fetch(turnstile.verifyUrl, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        secret: turnstile.secret,
        response: human.response,
        // A response can be checked once; the same request repeated is the same check.
        idempotency_key: uuidOf(fingerprint),
      }),
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT),
    });
    const answer = await response.text();
    if (!response.ok) return refuse("turnstile-unavailable", id);
    return turnstilePassed(answer, human.hostname) ? undefined : refuse("turnstile-failed", id);
  } catch {
    return refuse("turnstile-unavailable", id);
  }
}

/** A UUID that is the same for equal requests: 128 bits of the fingerprint (RFC 9562, 5.8). */
function uuidOf(fingerprint: string): string {
  const bytes = atob(fingerprint.replaceAll("-", "+").replaceAll("_", "/"));
  const hex = Array.from(bytes, (byte) => byte.charCodeAt(0).toString(16).padStart(2, "0"));
  const text = hex.join("");
  const parts = [text.slice(0, 8), text.slice(8, 12), `8${text.slice(13, 16)}`];
  return [...parts, `8${text.slice(17, 20)}`, text.slice(20, 32)].join("-");
}
