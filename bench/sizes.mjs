/** What a user downloads: bundled by Vite as an application would, compressed. */

import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build } from "vite";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const HERE = fileURLToPath(new URL("./", import.meta.url));

const PEERS = {
  "openapi-fetch": 'import createClient from "openapi-fetch"; globalThis.x = createClient;',
  "ky + zod":
    'import ky from "ky"; import * as z from "zod"; globalThis.x = [ky, z.object({ a: z.array(z.int()) })];',
  openai: 'import OpenAI from "openai"; globalThis.x = OpenAI;',
  stripe: 'import Stripe from "stripe"; globalThis.x = Stripe;',
};

/**
 * Sizes of this package's parts, in bytes: what is downloaded for an import of it, and apart from that
 * what is loaded by the first export and by the first watch of a job at a gateway.
 *
 * @param {"quillgate" | "quillgate/inline"} [entry] which of them embeds the wasm in its JavaScript
 */
export async function ownSizes(entry = "quillgate") {
  const source = `import { Client } from "${entry}"; globalThis.x = Client;`;
  const all = await bundle(source, ROOT);
  const files = all.filter(({ isLazy }) => !isLazy);
  const isWasm = ({ fileName }) => fileName.endsWith(".wasm");
  const js = add(files.filter((file) => !isWasm(file)));
  const wasm = add(files.filter(isWasm));
  return { js, wasm, total: add(files), lazy: add(all.filter(({ isLazy }) => isLazy)) };
}

/** Sizes of this package's parts and of its peers, in bytes. */
export async function sizes() {
  const { js, wasm, total, lazy } = await ownSizes();
  const inline = await ownSizes("quillgate/inline");
  const rows = {
    "quillgate: JavaScript": js,
    "quillgate: wasm": wasm,
    "quillgate: total": total,
    "quillgate: export and stream of a job, when first used": lazy,
    "quillgate/inline": inline.total,
  };
  for (const [name, source] of Object.entries(PEERS)) rows[name] = add(await bundle(source, HERE));
  return rows;
}

/** Bundles a module; nothing is written. */
async function bundle(source, root) {
  const app = "virtual:app";
  const { output } = await build({
    root,
    configFile: false,
    publicDir: false,
    logLevel: "error",
    build: {
      write: false,
      target: "es2022",
      modulePreload: { polyfill: false },
      rolldownOptions: { input: app },
    },
    plugins: [
      {
        name: "app",
        enforce: "pre",
        resolveId: (id) => (id === app ? id : undefined),
        load: (id) => (id === app ? source : undefined),
      },
    ],
  });
  const chunks = new Map(output.map((file) => [file.fileName, file]));
  const atOnce = new Set();
  const follow = (name) => {
    if (atOnce.has(name)) return;
    atOnce.add(name);
    for (const other of chunks.get(name)?.imports ?? []) follow(other);
  };
  for (const { fileName, isEntry } of output) if (isEntry) follow(fileName);
  return output.map(({ fileName, type, code, source: bytes }) => ({
    fileName,
    isLazy: type === "chunk" && !atOnce.has(fileName),
    ...measure(Buffer.from(code ?? bytes)),
  }));
}

/** The sizes of files that are compressed one by one. */
function add(files) {
  const sum = { raw: 0, gzip: 0, brotli: 0 };
  for (const file of files) for (const kind of Object.keys(sum)) sum[kind] += file[kind];
  return sum;
}

/** The size of what is downloaded, in bytes. */
export function measure(bytes) {
  const options = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } };
  return {
    raw: bytes.length,
    gzip: gzipSync(bytes, { level: 9 }).length,
    brotli: brotliCompressSync(bytes, options).length,
  };
}
