/** A stand-in for Cloudflare's edge, which compresses responses of the gateway with Brotli. */

import { request } from "node:http";
import { pipeline } from "node:stream";
import { constants, createBrotliCompress } from "node:zlib";
import { listen } from "../../tests/harness/listen.mjs";

/** Media types that the gateway sends and that Cloudflare compresses by default. */
const COMPRESSED =
  /^(?:text\/(?:html|plain|css|javascript)|application\/(?:javascript|json|wasm)|image\/svg\+xml)\b/;
/** Cloudflare uses a fast level, because it compresses each response when it is sent. */
const LEVEL = 4;

export function startEdge(gatewayPort) {
  return listen((incoming, response) => {
    const { method, url: path, headers } = incoming;
    // Keeps the header `host`, with which the gateway compares the origin.
    const outgoing = request({ host: "127.0.0.1", port: gatewayPort, method, path, headers });
    outgoing.on("response", (answer) => forward(answer, incoming, response));
    outgoing.on("error", () => response.destroy());
    incoming.pipe(outgoing);
    response.on("close", () => outgoing.destroy());
  });
}

function forward(answer, { method, headers: { "accept-encoding": accepted = "" } }, response) {
  const headers = { ...answer.headers };
  const isCompressed =
    method !== "HEAD" &&
    answer.statusCode === 200 &&
    headers["content-encoding"] === undefined &&
    COMPRESSED.test(headers["content-type"]) &&
    /\bbr\b/.test(accepted);
  if (isCompressed) {
    delete headers["content-length"];
    headers["content-encoding"] = "br";
    headers.vary = [headers.vary, "accept-encoding"].filter(Boolean).join(", ");
  }
  response.writeHead(answer.statusCode, headers);
  const params = { [constants.BROTLI_PARAM_QUALITY]: LEVEL };
  const steps = isCompressed ? [createBrotliCompress({ params })] : [];
  pipeline([answer, ...steps, response], () => {});
}
