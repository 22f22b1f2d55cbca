/** Foreign tokens: the signature, by WebCrypto. Everything else of a token is Rust's. */
import type { Answer, Verify } from "./core.js";
import { jwk, refuse } from "./core.js";
import { type Env, orgGate } from "./env.js";

/** How each algorithm verifies (RFC 7518, sections 3.3 and 3.4). */
const ALGORITHMS = {
  RS256: { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" },
  ES256: { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" },
};

/** Verifies a token's signature; gives the answer that refuses it when it is not good. */
export async function verified(env: Env, id: string, token: Verify): Promise<Answer | undefined> {
  const found = await keyOf(env, token);
  if ("unavailable" in found) return refuse("issuer-unavailable", id);
  if ("error" in found) return refuse("invalid-token", id, found.error);
  const algorithm = ALGORITHMS[token.algorithm];
  const good = await verify(algorithm, found.key, token).catch(() => false);
  return good ? undefined : refuse("invalid-token", id, "the access token's signature is wrong");
}

type Found = { key: JsonWebKey } | { unavailable: true } | { error: string };

/** Sets that this isolate has seen, by address. */
const seen = new Map<string, { set: string; until: number; without: Map<string, number> }>();
/** How long a set is used without a look, and a key is believed not to be in it. */
const SEEN_FOR = 60_000;

async function keyOf(env: Env, { jwks, kid, algorithm }: Verify): Promise<Found> {
  const now = Date.now();
  const known = seen.get(jwks);
  if (known && now < known.until) {
    const found = keyIn(known.set, kid, algorithm);
    const missing = "error" in found && (known.without.get(kid) ?? 0) > now;
    if ("key" in found || missing) return found;
  }
  const got = await orgGate(env)
    .keySet(jwks, kid)
    .catch(() => ({ unavailable: true as const }));
  if ("unavailable" in got) return got;
  const found = keyIn(got.set, kid, algorithm);
  const without = new Map(known?.without);
  if ("error" in found && without.size < 1000) without.set(kid, now + SEEN_FOR);
  seen.set(jwks, { set: got.set, until: now + SEEN_FOR, without });
  return found;
}

function keyIn(set: string, kid: string, algorithm: string): Exclude<Found, { unavailable: true }> {
  const found = jwk(set, kid, algorithm);
  if ("error" in found) return found;
  if (found.key === null)
    return { error: "the access token's kid is not one of its issuer's keys" };
  return { key: JSON.parse(found.key) as JsonWebKey };
}

async function verify(
  algorithm: (typeof ALGORITHMS)[keyof typeof ALGORITHMS],
  key: JsonWebKey,
  { signed, signature }: Verify,
): Promise<boolean> {
  const imported = await crypto.subtle.importKey("jwk", key, algorithm, false, ["verify"]);
  const bytes = base64Url(signature);
  return await crypto.subtle.verify(algorithm, imported, bytes, new TextEncoder().encode(signed));
}

/** Rust has read the signature before: it is base64url. */
function base64Url(text: string): Uint8Array {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}
