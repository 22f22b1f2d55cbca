/** What a user downloads: bundled, minified, compressed. */

import { readFile } from "node:fs/promises";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build } from "esbuild";

const ROOT = new URL("../", import.meta.url);

const PEERS = {
  "openapi-fetch": 'import createClient from "openapi-fetch"; globalThis.x = createClient;',
  "ky + zod": 'import ky from "ky"; import * as z from "zod"; globalThis.x = [ky, z.object({ a: z.array(z.int()) })];',
  openai: 'import OpenAI from "openai"; globalThis.x = OpenAI;',
  stripe: 'import Stripe from "stripe"; globalThis.x = Stripe;',
};

/** Sizes of this package's parts and of its peers, in bytes. */
export async function sizes() {
  const wasm = await readFile(new URL("pkg/dist/core_bg.wasm", ROOT));
  const js = await bundled('import { Client } from "./pkg/dist/web.js"; globalThis.x = Client;');
  const own = { "quillgate: JavaScript": measure(js), "quillgate: wasm": measure(wasm) };
  const total = Object.values(own).reduce((sum, part) => ({
    raw: sum.raw + part.raw,
    gzip: sum.gzip + part.gzip,
    brotli: sum.brotli + part.brotli,
  }));
  const rows = { ...own, "quillgate: total": total };
  for (const [name, source] of Object.entries(PEERS)) rows[name] = measure(await bundled(source));
  return rows;
}

async function bundled(contents) {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: new URL(contents.includes("./pkg") ? "." : "bench/", ROOT).pathname },
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

function measure(bytes) {
  const options = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } };
  return {
    raw: bytes.length,
    gzip: gzipSync(bytes, { level: 9 }).length,
    brotli: brotliCompressSync(bytes, options).length,
  };
}
