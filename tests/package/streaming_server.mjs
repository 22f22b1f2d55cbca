/** An HTTP server whose handlers write event streams, chunk by chunk. */
import { after, before } from "node:test";
import { listen } from "../harness/listen.mjs";

/** Starts a server for a test file. Returns it; it has its `url` when the tests run. */
export function useServer(respond) {
  const server = {};
  before(async () => Object.assign(server, await listen(respond)));
  after(() => server.stop());
  return server;
}

/** Returns a handler that streams these chunks. The stream then ends, breaks or stays open. */
export function streams(chunks, end) {
  return (response) => {
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
    for (const chunk of chunks) response.write(chunk);
    if (end === "end") response.end();
    if (end === "break") response.write(": cut\n", () => response.socket.destroy());
  };
}

/** Writes an event of a stream. */
export const event = (id, name, data) =>
  `id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
