/** The part of new prompts that the gateway stores. */
export type KeptPrompts = "whole" | "first-line";

/** The gateway's description of a session. */
export interface Claims {
  /** The issuer of the subject; null for the gateway's own tokens. */
  issuer: string | null;
  subject: string | null;
  projects: readonly string[];
  /** The projects that the gateway archives daily. */
  archivedProjects: readonly string[];
  scopes: readonly string[];
  keepsPrompts: KeptPrompts;
  /** When the session ends, in milliseconds since the epoch by the gateway's clock. */
  expiresAt: number;
}

export type Scope =
  | "jobs:create"
  | "jobs:read"
  | "deployments:create"
  | "deployments:read"
  | "analytics:read"
  | "analytics:conversations"
  | "gateway:operate";

/** The claims that identify a person. */
export type Person = Pick<Claims, "issuer" | "subject">;

/**
 * Returns a person's identity. It includes the issuer, because a subject is unique only within one.
 */
export function personOf({ issuer, subject }: Person): string {
  return JSON.stringify([issuer, subject]);
}

/** Returns whether two sessions have equal claims except for their expiry. */
export function differOnlyInExpiry(a: Claims, b: Claims): boolean {
  return JSON.stringify({ ...a, expiresAt: 0 }) === JSON.stringify({ ...b, expiresAt: 0 });
}

export function allows(claims: Claims, scope: Scope): boolean {
  return claims.scopes.includes(scope);
}
