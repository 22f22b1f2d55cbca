/** The gateway's system calls. Each crosses the boundary of the wasm module once, with JSON. */

/** Runs a statement with a JSON array of values, and then `text`, if any. Returns the rows. */
export function query(sql, statement, values, text) {
  const texts = text === undefined ? [] : [text];
  return sql.exec(statement, ...JSON.parse(values), ...texts).toArray();
}

/**
 * Sends a request with an `init` as JSON. Resolves to the head of the response. `read` then resolves
 * to the body, or to `undefined` if the body has more than `maxBytes` bytes or is incomplete when
 * the time is up. `close` aborts a request without a complete body. Rejects with a string if no
 * response arrives.
 */
export async function exchange(url, init, milliseconds) {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), milliseconds);
  let isOpen = true;
  const close = (body) => {
    clearTimeout(timer);
    if (isOpen && body === undefined) controller.abort();
    isOpen = false;
    return body;
  };
  try {
    const { signal } = controller;
    const response = await fetch(url, { ...JSON.parse(init), redirect: "manual", signal });
    const { status, headers } = response;
    const read = async (maxBytes) => close(await readText(response, maxBytes).catch(() => {}));
    return { status, fields: formatFields(headers), read, close };
  } catch {
    const reason = controller.signal.aborted ? "timeout" : "no response";
    close();
    throw reason;
  }
}

async function readText(response, maxBytes) {
  const { headers } = response;
  const isPlain = (headers.get("content-encoding") ?? "identity") === "identity";
  const length = isPlain ? Number(headers.get("content-length") || NaN) : NaN;
  if (length > maxBytes) return undefined;
  // If the length is known, one call reads the body.
  const bytes = await (length >= 0 ? response.arrayBuffer() : readBytes(response.body, maxBytes));
  return bytes?.byteLength <= maxBytes ? new TextDecoder().decode(bytes) : undefined;
}

/** Reads a body. Cancels a body of more than `maxBytes` bytes and returns `undefined`. */
export async function readBytes(body, maxBytes) {
  const chunks = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.length;
    if (length > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

/** `fields` is a JSON array of names and values. */
export const respond = (status, fields, body) =>
  new Response(body, { status, headers: JSON.parse(fields) });

/** Formats each name and each value on a line. Neither can contain line feeds. */
export const formatFields = (headers) => [...headers].flat().join("\n");
