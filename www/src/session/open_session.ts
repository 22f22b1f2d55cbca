import { Client } from "quillgate";
import type { Claims } from "./claims.ts";
import type { Session } from "./session.ts";

/** What a signed-in page works with in one project, and what the sign-in route need not load. */
export function openSession(projectId: string, claims: Claims): Session {
  return { projectId, claims, client: openClient(projectId), end: new AbortController() };
}

/** The browser's cookie says who asks: no script of this page holds a credential. */
function openClient(projectId: string): Client {
  return new Client({
    baseUrl: location.origin,
    projectId,
    auth: { session: true },
    logLevel: "off",
  });
}
