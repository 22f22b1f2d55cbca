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
 * Sizes of this package's parts, in bytes.
 *
 * @param {"quillgate" | "quillgate/inline"} [entry] which of them embeds the wasm in its JavaScript
 */
export async function ownSizes(entry = "quillgate") {
  const source = `import { Client } from "${entry}"; globalThis.x = Client;`;
  const files = await bundle(source, ROOT);
  const isWasm = ({ fileName }) => fileName.endsWith(".wasm");
  const js = add(files.filter((file) => !isWasm(file)));
  const wasm = add(files.filter(isWasm));
  return { js, wasm, total: add(files) };
}

/** Sizes of this package's parts and of its peers, in bytes. */
export async function sizes() {
  const { js, wasm, total } = await ownSizes();
  const inline = await ownSizes("quillgate/inline");
  const rows = {
    "quillgate: JavaScript": js,
    "quillgate: wasm": wasm,
    "quillgate: total": total,
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
        resolveId: (id) => (id === app ? id : undefined),
        load: (id) => (id === app ? source : undefined),
      },
    ],
  });
  return output.map(({ fileName, code, source: bytes }) => ({
    fileName,
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
