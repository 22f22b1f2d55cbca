/**
 * One click into the demo of `npm start`: an address on this machine that signs a browser in to the
 * page, once.
 *
 * The token never reaches the browser. What the address has in it is a random code; whoever opens it
 * first gets the cookie of a session that this process opens at the gateway, and is sent on to the
 * page. Cookies are kept by host, not by port, so the gateway's page has it. A code that was used,
 * from a history or a log, opens nothing.
 */
import { randomBytes, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";

const HOST = "127.0.0.1";
const PATH = "/sign-in/";

/**
 * @param {object} options
 * @param {string} options.pageUrl the gateway's, on the same host
 * @param {string} options.token
 * @param {(next: string) => void} options.onUse called with the next address when one was used
 * @returns {Promise<{ address: () => string, stop: () => Promise<void> }>}
 */
export async function startDemoSignIn({ pageUrl, token, onUse }) {
  let code = newCode();
  const server = createServer(async (request, response) => {
    if (!isMeant(request, server, code)) return refuse(response, 404, "There is nothing here.");
    // Before anything is awaited: of two that come at once, one is first.
    code = newCode();
    const opened = await openSession(pageUrl, token, request.headers.cookie).catch(
      (error) => error,
    );
    onUse(address());
    if (opened instanceof Error) {
      return refuse(response, 502, `The gateway did not sign you in: ${opened.message}.`);
    }
    response.writeHead(303, {
      location: `${pageUrl}/?signed-in=`,
      "set-cookie": opened,
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
    });
    response.end();
  });
  server.listen(0, HOST);
  await once(server, "listening");
  const address = () => `http://${HOST}:${server.address().port}${PATH}${code}`;
  const stop = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  };
  return { address, stop };
}

function newCode() {
  return randomBytes(32).toString("base64url");
}

/** Whether a person has opened the address, and not a browser that guesses what they will open. */
function isMeant({ method, url, headers }, server, code) {
  if (method !== "GET" || !url.startsWith(PATH)) return false;
  // Another name for this machine would be somebody else's page.
  if (headers.host !== `${HOST}:${server.address().port}`) return false;
  if (/prefetch|prerender/.test(`${headers["sec-purpose"]} ${headers.purpose}`)) return false;
  const given = Buffer.from(url.slice(PATH.length));
  const expected = Buffer.from(code);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** Opens a session in the place of the one that the browser may have; gives its cookies. */
async function openSession(pageUrl, token, cookie) {
  const response = await fetch(`${pageUrl}/session`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: pageUrl, ...(cookie && { cookie }) },
    body: JSON.stringify({ token }),
  });
  await response.body?.cancel();
  if (response.status !== 201) throw new Error(`status ${response.status}`);
  return response.headers.getSetCookie();
}

function refuse(response, status, text) {
  response.writeHead(status, { "content-type": "text/plain", "cache-control": "no-store" });
  response.end(`${text} \`npm start\` prints the address that signs you in.\n`);
}
