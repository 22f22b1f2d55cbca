/** Measures the package's size and speed. */

import { join } from "node:path";
import { build } from "esbuild";
import { chromium } from "playwright-core";
import { ROOT } from "../../scripts/versions.mjs";
import { startUpstream } from "../../tests/harness/upstream.mjs";
import { sizes } from "../sizes.mjs";
import { timeCalls } from "./calls.mjs";
import { timeDecoders } from "./cases.mjs";

export async function measurePackage(context) {
  const text = await readPage(context);
  const chromium = await timeInChromium(context, text);
  return {
    sizes: await sizes(),
    page: text.length,
    browser: chromium.version,
    decoding: { Node: await timeDecoders(text), Chromium: chromium.timed },
    calls: await timeCalls(text),
  };
}

async function readPage({ env }) {
  const key = "mint_bench_only";
  const upstream = await startUpstream({ key, env });
  try {
    const url = `${upstream.url}/v1/analytics/demo-docs/views?limit=250`;
    const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
    if (!response.ok) throw new Error(`the simulator responded ${response.status}`);
    return await response.text();
  } finally {
    await upstream.stop();
  }
}

async function timeInChromium({ bin }, text) {
  const { outputFiles } = await build({
    entryPoints: [join(ROOT, "bench", "package", "cases.mjs")],
    bundle: true,
    write: false,
    format: "iife",
    globalName: "bench",
  });
  const args = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
  ];
  const browser = await chromium.launch({ executablePath: bin.chromium, args });
  try {
    const tab = await browser.newPage();
    await tab.addScriptTag({ content: outputFiles[0].text });
    // Rounds are longer because the clock of a browser is coarse.
    const timed = await tab.evaluate(
      (text) => globalThis.bench.timeDecoders(text, { runs: 100 }),
      text,
    );
    return { version: `Chromium ${browser.version()}`, timed };
  } finally {
    await browser.close();
  }
}
