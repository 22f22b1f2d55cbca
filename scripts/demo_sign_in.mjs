/**
 * Signs a browser in to the demo of `npm start` when it opens an address on this machine.
 *
 * The token never reaches the browser. The address contains a random code that works once. The
 * first request with the code makes this process open a session at the gateway. The response sets
 * the session's cookie and redirects to the page. Browsers share cookies between the ports of a
 * host, so the page receives it. A used code from a history or a log has no effect.
 */
import { randomBytes, timingSafeEqual } from "node:crypto";
import { listen } from "../tests/harness/listen.mjs";

const PATH = "/sign-in/";

export async function startDemoSignIn({ pageUrl, token, onUse }) {
  let code = newCode();
  const { url, stop } = await listen(async (request, response) => {
    if (!isIntended(request, new URL(url).host, code)) return refuse(response, 404, "Not found.");
    // Before the first await, so that only one of two concurrent requests succeeds.
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
  const address = () => `${url}${PATH}${code}`;
  return { address, stop };
}

function newCode() {
  return randomBytes(32).toString("base64url");
}

/** Returns whether a request has the current code and was not made by a browser that prefetches. */
function isIntended({ method, url, headers }, host, code) {
  if (method !== "GET" || !url.startsWith(PATH)) return false;
  // Another host name could be DNS rebinding by a foreign page.
  if (headers.host !== host) return false;
  if (/prefetch|prerender/.test(`${headers["sec-purpose"]} ${headers.purpose}`)) return false;
  const given = Buffer.from(url.slice(PATH.length));
  const expected = Buffer.from(code);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** Opens a session, which replaces the browser's present one, and returns its cookies. */
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
