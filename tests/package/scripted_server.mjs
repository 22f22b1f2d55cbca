/** An HTTP server with scripted responses, including broken ones. */
import { once } from "node:events";
import { listen } from "../harness/listen.mjs";

/** Starts a server. `stall` stops a response before its head or body; `cut` breaks its body. */
export async function startScriptedServer(respond) {
  const requests = [];
  const arrivals = [];
  const { url, stop } = await listen(async (request, response) => {
    const ended = once(response, "close").then(() => response.writableFinished);
    const { method, url: path, headers } = request;
    const received = { method, path, headers, body: "", ended };
    requests.push(received);
    for await (const chunk of request) received.body += chunk;
    for (const arrive of arrivals.splice(0)) arrive();
    send(response, respond(received, requests.length - 1));
  });
  return {
    url,
    stop,
    requests,
    /** Resolves when `count` complete requests have arrived. */
    async arrived(count) {
      while (requests.length < count) await new Promise((resolve) => arrivals.push(resolve));
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

export const queryOf = ({ path }) => new URL(path, "http://x").searchParams;
