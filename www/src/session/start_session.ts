/** How a session begins, which only the sign-in form needs. */
import type { Claims } from "./claims.ts";
import { claimsOf, readSession, recordOf, request } from "./gateway_session.ts";
import { takeUp } from "./session.ts";

/** An issuer that people can sign in with, and where that begins. */
export interface Issuer {
  name: string;
  href: string;
}

export interface SignInMethods {
  /** Whether Cloudflare Access has let the browser in, so that nothing has to be typed. */
  access: boolean;
  issuers: readonly Issuer[];
}

/** The gateway has opened a session, and the browser has not kept its cookie. */
export class CookieRefused extends Error {
  override readonly name = "CookieRefused";

  constructor() {
    super("the gateway accepted the token, but the browser kept no cookie");
  }
}

/** Signs in with a token, or with what Cloudflare Access says of the browser. Throws what went wrong. */
export function signIn(token: string | null): Promise<void> {
  return takeUp(async () => {
    const claims = await startSession(token);
    if (!(await keepsSession())) throw new CookieRefused();
    return claims;
  });
}

/**
 * Has the gateway verify a token and set the cookie. Without a token, what Cloudflare Access says
 * of the browser is verified.
 */
async function startSession(token: string | null): Promise<Claims> {
  return claimsOf(await request("POST", "/session", token === null ? {} : { token }));
}

/** Whether the browser keeps the session's cookie, which it does not everywhere without `https:`. */
async function keepsSession(): Promise<boolean> {
  if (location.protocol === "https:" && navigator.cookieEnabled) return true;
  return (await readSession()) !== null;
}

let known: Promise<SignInMethods> | null = null;

/** How people sign in here, which is asked for once. */
export function readSignInMethods(): Promise<SignInMethods> {
  known ??= requestSignInMethods();
  known.catch(() => {
    known = null;
  });
  return known;
}

async function requestSignInMethods(): Promise<SignInMethods> {
  const { access, issuers } = recordOf(await (await request("GET", "/session/methods")).json());
  return {
    access: access === true,
    issuers: Array.isArray(issuers) ? issuers.flatMap(issuerOf) : [],
  };
}

/** An issuer of the gateway's configuration; only addresses of the gateway itself are followed. */
function issuerOf(given: unknown): Issuer[] {
  const { name, href } = recordOf(given);
  if (typeof name !== "string" || typeof href !== "string") return [];
  return href.startsWith("/session/start?") ? [{ name, href }] : [];
}
