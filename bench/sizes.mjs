/** What a user downloads: bundled, minified, compressed. */

import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build } from "esbuild";

const ROOT = new URL("../", import.meta.url);

const PEERS = {
  "openapi-fetch": 'import createClient from "openapi-fetch"; globalThis.x = createClient;',
  "ky + zod":
    'import ky from "ky"; import * as z from "zod"; globalThis.x = [ky, z.object({ a: z.array(z.int()) })];',
  openai: 'import OpenAI from "openai"; globalThis.x = OpenAI;',
  stripe: 'import Stripe from "stripe"; globalThis.x = Stripe;',
};

/** Sizes of this package's parts, in bytes. */
export async function ownSizes() {
  const wasm = measure(await readFile(new URL("pkg/dist/core_bg.wasm", ROOT)));
  const source = 'import { Client } from "./pkg/dist/web.js"; globalThis.x = Client;';
  const js = measure(await bundled(source, "."));
  const total = {
    raw: js.raw + wasm.raw,
    gzip: js.gzip + wasm.gzip,
    brotli: js.brotli + wasm.brotli,
  };
  return { js, wasm, total };
}

/** Sizes of this package's parts and of its peers, in bytes. */
export async function sizes() {
  const { js, wasm, total } = await ownSizes();
  const rows = {
    "quillgate: JavaScript": js,
    "quillgate: wasm": wasm,
    "quillgate: total": total,
  };
  for (const [name, source] of Object.entries(PEERS))
    rows[name] = measure(await bundled(source, "bench/"));
  return rows;
}

async function bundled(contents, from) {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: fileURLToPath(new URL(from, ROOT)) },
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    platform: "browser",
    target: "es2022",
    logLevel: "error",
  });
  return outputFiles[0].contents;
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
