/** An HTTP server that answers as a test tells it, however badly. */
import { once } from "node:events";
import { createServer } from "node:http";

/**
 * @typedef {object} Received
 * @property {string} method
 * @property {string} path with the query
 * @property {import("node:http").IncomingHttpHeaders} headers
 * @property {string} body
 * @property {Promise<boolean>} ended whether the answer was sent whole, once that is certain
 *
 * @typedef {object} Answer
 * @property {number} [status] 200 unless told
 * @property {Record<string, string>} [headers]
 * @property {unknown} [json]
 * @property {string} [text]
 * @property {"head" | "body"} [stall] says nothing more from there on
 * @property {boolean} [cut] ends the connection in the middle of the body
 *
 * @param {(received: Received, number: number) => Answer} answer to the request of that number
 */
export async function startScriptedServer(answer) {
  /** @type {Received[]} */
  const requests = [];
  const arrivals = [];
  const server = createServer(async (request, response) => {
    const ended = once(response, "close").then(() => response.writableFinished);
    const { method, url: path, headers } = request;
    const received = { method, path, headers, body: "", ended };
    requests.push(received);
    for await (const chunk of request) received.body += chunk;
    for (const arrive of arrivals.splice(0)) arrive();
    send(response, answer(received, requests.length - 1));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    requests,
    /** Resolves once that many requests have arrived whole. */
    async arrived(count) {
      while (requests.length < count) await new Promise((resolve) => arrivals.push(resolve));
    },
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

function send(response, { status = 200, headers = {}, json, text, stall, cut }) {
  if (stall === "head") return;
  const body = json === undefined ? (text ?? "") : JSON.stringify(json);
  const type = json === undefined ? {} : { "content-type": "application/json" };
  if (stall === "body" || cut) {
    response.writeHead(status, { ...type, ...headers, "content-length": String(body.length + 9) });
    response.write(body || '{"id":', () => cut && response.destroy());
    return;
  }
  response.writeHead(status, { ...type, ...headers }).end(body);
}
