import { Client } from "quillgate";
import { noteGatewayDate } from "../shell/clock_skew.ts";
import type { Claims } from "./claims.ts";
import type { Session } from "./session.ts";

/** Creates the session of one project. This module is separate to keep the sign-in route small. */
export function openSession(projectId: string, claims: Claims): Session {
  return { projectId, claims, client: openClient(projectId), end: new AbortController() };
}

/** Compares the clocks with each response, because this browser's clock may be corrected. */
async function fetchAndNoteDate(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  noteGatewayDate(response.headers.get("date"));
  return response;
}

/** Requests authenticate by cookie. No script of this page holds a credential. */
function openClient(projectId: string): Client {
  return new Client({
    baseUrl: location.origin,
    projectId,
    auth: { session: true },
    logLevel: "off",
    fetch: fetchAndNoteDate,
  });
}
