import { Client } from "quillgate";
import { fetchGateway } from "../shell/gateway_fetch.ts";
import type { Claims } from "./claims.ts";
import type { PersonData } from "./person_data.ts";
import type { Send, Session } from "./session.ts";

/**
 * Creates the session of one project. Its requests authenticate by cookie: no script of this page
 * holds a credential. This module is separate to keep the sign-in route small.
 *
 * @param checked resolves once it is known who the cookie belongs to
 */
export function openSession(
  projectId: string,
  claims: Claims,
  data: PersonData,
  checked: () => Promise<void>,
): Session {
  const end = new AbortController();
  const send: Send = async (url, init) => {
    await checked();
    end.signal.throwIfAborted();
    return fetchGateway(url, init);
  };
  const client = new Client({
    baseUrl: location.origin,
    projectId,
    auth: { session: true },
    logLevel: "off",
    fetch: send,
  });
  return { projectId, claims, client, send, data, end };
}
