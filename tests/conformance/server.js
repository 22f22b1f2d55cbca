/** A server for the responses in `responses.json`, in Node.js. */

/** Serves one response as bytes, then closes the connection. Returns the server's URL. */
export async function serveResponse(json) {
  const { head, text, base64 } = JSON.parse(json);
  // A computed name keeps browsers and bundlers from loading the module.
  const { createServer } = await import(["node", "net"].join(":"));
  const body = base64 === undefined ? text : Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  const server = createServer((connection) => {
    connection.on("error", () => {});
    connection.once("data", () => {
      connection.write(`${head.join("\r\n")}\r\n\r\n`, "latin1");
      connection.end(body);
      server.close();
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${server.address().port}`;
}

/** Returns whether a client found what a response means. */
export function isExpected(json, found) {
  const { error, ...expected } = JSON.parse(json).expected;
  const actual = JSON.parse(found);
  if (error === undefined) return actual.model === expected.model;
  return (
    error.split(" or ").includes(actual.error) &&
    actual.status === expected.status &&
    actual.message === expected.message
  );
}

/** Returns whether the tests run in Node.js, where they can open a server. */
export function canServe() {
  return globalThis.process?.versions?.node !== undefined;
}
