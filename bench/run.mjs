/**
 * `npm run bench`: sizes and times beside peers, printed and written to
 * `bench/results.md`. Ratios are medians over alternating rounds of one run; absolute
 * figures are of the machine they were taken on.
 */

import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { BUILD_NEEDS, buildPackage } from "../scripts/build.mjs";
import { run, runMain } from "../scripts/child.mjs";
import { setup } from "../scripts/setup.mjs";
import { ROOT } from "../scripts/versions.mjs";

await runMain(async () => {
  const context = await setup({ ...BUILD_NEEDS, browser: true });
  await buildPackage(context);
  const here = join(ROOT, "bench");
  if (!existsSync(join(here, "node_modules"))) {
    await run("installing the peers", "npm", ["ci"], { cwd: here, env: context.env });
  }
  const text = await page(context);
  const { sizes } = await import("./sizes.mjs");
  const { timeDecoders } = await import("./cases.mjs");
  const { timeCalls } = await import("./calls.mjs");
  const chromium = await inChromium(context, text);
  const report = [
    "# Measured",
    `One run of \`npm run bench\` on Node ${process.versions.node} and ${chromium.version}.`,
    "## Size, bundled and minified, in bytes",
    sizeTable(await sizes()),
    `## From text to checked rows: one page of 250 rows, ${text.length} bytes`,
    timeTable({ Node: await timeDecoders(text), Chromium: chromium.times }),
    "## A whole call for that page in Node, the network left out",
    timeTable({ Node: await timeCalls(text) }),
  ].join("\n\n");
  console.log(report);
  await writeFile(join(here, "results.md"), `${report}\n`);
});

/** A page of 250 rows of the simulated platform. */
async function page({ env }) {
  const { startUpstream } = await import("../tests/harness/upstream.mjs");
  const key = "mint_bench_only";
  const upstream = await startUpstream({ key, env });
  try {
    const url = `${upstream.url}/v1/analytics/demo-docs/views?limit=250`;
    const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
    if (!response.ok) throw new Error(`the simulated platform answered ${response.status}`);
    return await response.text();
  } finally {
    await upstream.stop();
  }
}

/** The decoders' times in headless Chromium. */
async function inChromium({ bin }, text) {
  const require = createRequire(import.meta.url);
  const { chromium } = require("playwright-core");
  const { build } = require("esbuild");
  const { outputFiles } = await build({
    entryPoints: [join(ROOT, "bench", "cases.mjs")],
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
    // Larger rounds: a browser's clock is coarse.
    const times = await tab.evaluate(
      (text) => globalThis.bench.timeDecoders(text, { runs: 100 }),
      text,
    );
    return { version: `Chromium ${browser.version()}`, times };
  } finally {
    await browser.close();
  }
}

function sizeTable(rows) {
  const lines = Object.entries(rows).map(
    ([name, { raw, gzip, brotli }]) => `| ${name} | ${raw} | ${gzip} | ${brotli} |`,
  );
  return ["| what | minified | gzip 9 | brotli 11 |", "| --- | --: | --: | --: |", ...lines].join(
    "\n",
  );
}

function timeTable(columns) {
  const hosts = Object.keys(columns);
  const [first] = hosts;
  const head = `| way | ${hosts.map((host) => `${host}, µs | ratio`).join(" | ")} |`;
  const rule = `| --- | ${hosts.map(() => "--: | --:").join(" | ")} |`;
  const lines = Object.keys(columns[first]).map((name) => {
    const cells = hosts.map((host) => {
      const { median, ratio } = columns[host][name];
      return `${median.toFixed(1)} | ${ratio.toFixed(2)}`;
    });
    return `| ${name} | ${cells.join(" | ")} |`;
  });
  return [head, rule, ...lines].join("\n");
}
