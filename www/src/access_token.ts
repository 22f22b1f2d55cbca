/** What an access token says about itself. Only the gateway can tell whether it is genuine. */
export interface Claims {
  subject: string | null;
  /** Null when the token does not list its projects. */
  projects: readonly string[] | null;
  /** Null when the token does not list its scopes. */
  scopes: readonly string[] | null;
  /** Milliseconds since 1970; null when the token has no readable end. */
  expiresAt: number | null;
}

export type Scope = "jobs:create" | "jobs:read" | "analytics:read" | "analytics:conversations";

export type TokenReading = { ok: true; claims: Claims } | { ok: false; reason: string };

/** Reads the payload of a JSON web token, to catch slips before a request is spent on them. */
export function readAccessToken(text: string, now: number): TokenReading {
  const token = text.trim();
  if (token === "") return refused("Paste your access token.");
  if (token.startsWith("mint_")) {
    return refused(
      "This is a key of the platform itself, not an access token. It belongs on the server: " +
        "do not paste it into any web page.",
    );
  }
  const payload = payloadOf(token);
  if (payload === null) {
    return refused("This is not an access token: it should be three parts joined by dots.");
  }
  const claims = claimsOf(payload);
  if (claims.expiresAt !== null && claims.expiresAt <= now) {
    return refused(`This access token expired on ${when(claims.expiresAt)}. Ask for a new one.`);
  }
  if (claims.projects?.length === 0) return refused("This access token is for no project.");
  return { ok: true, claims };
}

/** Whether the token allows a scope; a token that lists none is left to the gateway to judge. */
export function allows(claims: Claims, scope: Scope): boolean {
  return claims.scopes === null || claims.scopes.includes(scope);
}

function refused(reason: string): TokenReading {
  return { ok: false, reason };
}

function payloadOf(token: string): Record<string, unknown> | null {
  const parts = token.split(".");
  if (parts.length !== 3 || parts.some((part) => !/^[\w-]+$/.test(part))) return null;
  try {
    const binary = atob((parts[1] ?? "").replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
    const payload: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return isRecord(payload) ? payload : null;
  } catch {
    return null;
  }
}

function claimsOf(payload: Record<string, unknown>): Claims {
  const { sub, projects, scope, exp } = payload;
  return {
    subject: typeof sub === "string" ? sub : null,
    projects: Array.isArray(projects) ? projects.filter((id) => typeof id === "string") : null,
    scopes: typeof scope === "string" ? scope.split(" ").filter(Boolean) : null,
    expiresAt: typeof exp === "number" && Number.isFinite(exp) ? exp * 1000 : null,
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function when(time: number): string {
  const instant = new Date(time);
  if (Number.isNaN(instant.getTime())) return "an unknown day";
  return new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeStyle: "short" }).format(
    instant,
  );
}
