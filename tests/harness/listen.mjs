/** HTTP servers on a free loopback port. */
import { once } from "node:events";
import { createServer } from "node:http";

/** Starts a server. `stop` also closes its connections. */
export async function listen(respond) {
  const server = createServer(respond);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const stop = async () => {
    server.close();
    server.closeAllConnections();
    await once(server, "close");
  };
  return { server, url: `http://127.0.0.1:${server.address().port}`, stop };
}
