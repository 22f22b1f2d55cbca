/**
 * The start of a session. This module reads the gateway's sign-in methods and signs in. Only the
 * sign-in form needs it.
 */
import { recordOf } from "../shell/problem.ts";
import type { Claims } from "./claims.ts";
import { claimsOf, readSession, request } from "./gateway_session.ts";
import { takeUp } from "./session.ts";

/** An issuer that people can sign in with, and the address of its sign-in. */
export interface Issuer {
  name: string;
  href: string;
}

export interface SignInMethods {
  /** Whether the gateway accepts Cloudflare Access, which makes a token unnecessary. */
  access: boolean;
  issuers: readonly Issuer[];
}

/** The gateway created a session, but the browser did not store its cookie. */
export class CookieRefused extends Error {
  override readonly name = "CookieRefused";

  constructor() {
    super("the gateway started a session, but the browser blocked its cookie");
  }
}

/** Signs in with a token, or without one through Cloudflare Access. Rejects if that fails. */
export function signIn(token: string | null): Promise<void> {
  return takeUp(async () => {
    const claims = await startSession(token);
    if (!(await keepsSession())) throw new CookieRefused();
    return claims;
  });
}

/**
 * Makes the gateway verify a token and set the cookie. Without a token, the gateway verifies the
 * assertion of Cloudflare Access.
 */
async function startSession(token: string | null): Promise<Claims> {
  return claimsOf(await request("POST", "/session", token === null ? {} : { token }));
}

/**
 * Returns whether the browser stored the cookie. Without `https:`, or with cookies disabled,
 * requests the session to check.
 */
async function keepsSession(): Promise<boolean> {
  if (location.protocol === "https:" && navigator.cookieEnabled) return true;
  return (await readSession()) !== null;
}

let known: Promise<SignInMethods> | null = null;

/** Returns the gateway's sign-in methods. Requests them once, and again after a failure. */
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

/** Reads an issuer. Accepts only addresses of the gateway itself. */
function issuerOf(given: unknown): Issuer[] {
  const { name, href } = recordOf(given);
  if (typeof name !== "string" || typeof href !== "string") return [];
  return href.startsWith("/session/start?") ? [{ name, href }] : [];
}
