/** Measures the download sizes of the package and its alternatives, bundled by Vite. */

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

/** `lazy` contains the chunks that the first export and the first event stream load. */
export async function ownSizes(entry = "quillgate") {
  const source = `import { Client } from "${entry}"; globalThis.x = Client;`;
  const all = await bundle(source, ROOT);
  const files = all.filter(({ isLazy }) => !isLazy);
  const isWasm = ({ fileName }) => fileName.endsWith(".wasm");
  const js = sum(files.filter((file) => !isWasm(file)));
  const wasm = sum(files.filter(isWasm));
  return { js, wasm, total: sum(files), lazy: sum(all.filter(({ isLazy }) => isLazy)) };
}

/** Returns the size of a program that imports this package, in bytes. */
export async function bundleSize(source) {
  return sum(await bundle(source, ROOT));
}

export async function sizes() {
  const { js, wasm, total, lazy } = await ownSizes();
  const inline = await ownSizes("quillgate/inline");
  const rows = {
    "quillgate: JavaScript": js,
    "quillgate: wasm": wasm,
    "quillgate: total": total,
    "quillgate: exports and event streams, loaded on first use": lazy,
    "quillgate/inline": inline.total,
  };
  for (const [name, source] of Object.entries(PEERS)) rows[name] = sum(await bundle(source, HERE));
  return rows;
}

/** Bundles a module without writing files. */
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
  const eager = new Set();
  const follow = (name) => {
    if (eager.has(name)) return;
    eager.add(name);
    for (const other of chunks.get(name)?.imports ?? []) follow(other);
  };
  for (const { fileName, isEntry } of output) if (isEntry) follow(fileName);
  return output.map(({ fileName, type, code, source: bytes }) => ({
    fileName,
    isLazy: type === "chunk" && !eager.has(fileName),
    ...measure(Buffer.from(code ?? bytes)),
  }));
}

function sum(files) {
  const total = { raw: 0, gzip: 0, brotli: 0 };
  for (const file of files) for (const kind of Object.keys(total)) total[kind] += file[kind];
  return total;
}

/** Returns the size of a file in bytes, plain and compressed. */
export function measure(bytes) {
  const options = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } };
  return {
    raw: bytes.length,
    gzip: gzipSync(bytes, { level: 9 }).length,
    brotli: brotliCompressSync(bytes, options).length,
  };
}
