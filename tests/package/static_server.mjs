/** An HTTP server of static files, which also forwards requests to the simulator. */
import { readFile } from "node:fs/promises";
import { extname, join, normalize } from "node:path";
import { text } from "node:stream/consumers";
import { listen } from "../harness/listen.mjs";

const TYPES = {
  ".css": "text/css",
  ".html": "text/html",
  ".js": "text/javascript",
  ".json": "application/json",
  ".mjs": "text/javascript",
  ".wasm": "application/wasm",
};

export async function serve({ folder, apiUrl, types = {}, policies = {} }) {
  const requests = [];
  const results = new Map();
  const { url, stop } = await listen((request, response) => {
    const { pathname, search } = new URL(request.url, "http://localhost");
    requests.push(pathname);
    const respond = async () => {
      if (pathname.startsWith("/api/")) return forward(request, response, pathname + search);
      if (pathname.startsWith("/result/")) return store(request, response, pathname.slice(8));
      const file = join(folder, normalize(pathname));
      const content = await readFile(file);
      const extension = extname(file);
      const type = types[extension] ?? TYPES[extension] ?? "application/octet-stream";
      const policy = policies[pathname] && { "content-security-policy": policies[pathname] };
      response.writeHead(200, { "content-type": type, "cache-control": "no-store", ...policy });
      response.end(content);
    };
    respond().catch(() => response.writeHead(404).end());
  });

  /** Forwards a same-origin request, since the simulator does not send CORS headers. */
  async function forward(request, response, target) {
    const { authorization, "content-type": type } = request.headers;
    const upstream = await fetch(`${apiUrl}${target.slice(4)}`, {
      method: request.method,
      headers: Object.entries({ authorization, "content-type": type }).filter(([, value]) => value),
      body: request.method === "GET" ? undefined : await text(request),
      redirect: "manual",
    });
    const headers = Object.fromEntries(upstream.headers);
    delete headers["content-encoding"];
    delete headers["content-length"];
    response.writeHead(upstream.status, headers).end(Buffer.from(await upstream.arrayBuffer()));
  }

  async function store(request, response, name) {
    const value = JSON.parse(await text(request));
    response.writeHead(204).end();
    resultOf(name).resolve(value);
  }

  function resultOf(name) {
    if (!results.has(name)) {
      const result = {};
      result.promise = new Promise((resolve) => Object.assign(result, { resolve }));
      results.set(name, result);
    }
    return results.get(name);
  }

  return {
    url,
    stop,
    requests,
    /** Resolves to the JSON that a page posts to `/result/<name>`. */
    result: (name) => resultOf(name).promise,
  };
}
