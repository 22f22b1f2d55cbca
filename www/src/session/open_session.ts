import { Client } from "quillgate";
import { fetchGateway } from "../shell/gateway_fetch.ts";
import type { Claims } from "./claims.ts";
import type { PersonData } from "./person_data.ts";
import type { Session } from "./session.ts";

/** Creates the session of one project. This module is separate to keep the sign-in route small. */
export function openSession(projectId: string, claims: Claims, data: PersonData): Session {
  return { projectId, claims, client: openClient(projectId), data, end: new AbortController() };
}

/** Requests authenticate by cookie. No script of this page holds a credential. */
function openClient(projectId: string): Client {
  return new Client({
    baseUrl: location.origin,
    projectId,
    auth: { session: true },
    logLevel: "off",
    fetch: fetchGateway,
  });
}
