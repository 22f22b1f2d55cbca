/** The part of new prompts that the gateway stores. */
export type KeptPrompts = "whole" | "first-line";

/** The gateway's description of a session. */
export interface Claims {
  /** Who vouches for the subject; null for the gateway's own tokens. */
  issuer: string | null;
  subject: string | null;
  projects: readonly string[];
  /** Those of them that the gateway's daily archive keeps. */
  archivedProjects: readonly string[];
  scopes: readonly string[];
  keepsPrompts: KeptPrompts;
  /** When the session ends, in milliseconds since 1970 by this browser's clock. */
  expiresAt: number;
}

export type Scope = "jobs:create" | "jobs:read" | "analytics:read" | "analytics:conversations";

/** Whose session it is: two issuers may each have a subject of the same name. */
export function personOf({ issuer, subject }: Pick<Claims, "issuer" | "subject">): string {
  return JSON.stringify([issuer, subject]);
}

/** Whether two sessions are of one person who may do the same in both. */
export function hasSameRights(a: Claims, b: Claims): boolean {
  const rights = ({ projects, scopes, ...person }: Claims) =>
    JSON.stringify([personOf(person), projects, scopes]);
  return rights(a) === rights(b);
}

export function allows(claims: Claims, scope: Scope): boolean {
  return claims.scopes.includes(scope);
}
