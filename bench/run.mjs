/**
 * `npm run bench [package] [gateway] [soak]`: sizes and times beside peers, and a soak, printed and
 * written to `bench/results.md`; all parts when none is named. `npm run bench gateway:job-read`
 * measures and prints one section of a part. `npm run bench -- soak --seconds=60` soaks for a minute
 * instead of ten, and `--seed=2` makes other faults and other work. Ratios are medians over alternating rounds of one run; absolute
 * figures depend on the machine.
 */

import { readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { BUILD_NEEDS, buildPackage, buildWorker } from "../scripts/build.mjs";
import { run, runMain, StepError } from "../scripts/child.mjs";
import { setup } from "../scripts/setup.mjs";
import { ROOT } from "../scripts/versions.mjs";
import { SECTIONS } from "./gateway/sections.mjs";

const HERE = join(ROOT, "bench");
const RESULTS = join(HERE, "results.md");

/** What can be measured, by name: what it needs, its sections, and how it is reported. */
const PARTS = {
  package: { needs: { browser: true }, sections: [], report: reportPackage },
  gateway: { needs: {}, sections: SECTIONS, report: reportGateway },
  soak: { needs: {}, sections: [], report: reportSoak },
};

const SOAK_SECONDS = "600";

await runMain(async () => {
  const { selections, options } = parseArguments(process.argv.slice(2));
  const needs = selections.map(({ name }) => PARTS[name].needs);
  const context = await setup(Object.assign({ ...BUILD_NEEDS }, ...needs));
  await installPeers(context);
  const reports = await readReports();
  for (const { name, section } of selections) {
    const report = await PARTS[name].report(context, section, options);
    console.log(`\n${report}\n`);
    if (section === undefined) reports[name] = report;
  }
  await writeFile(RESULTS, joinReports(reports));
});

/** Reads what to measure, and how long and with which seed to soak. */
function parseArguments(args) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      seconds: { type: "string", default: SOAK_SECONDS },
      seed: { type: "string", default: "1" },
    },
  });
  const options = {};
  for (const [name, text] of Object.entries(values)) {
    if (!/^[1-9]\d{0,5}$/.test(text)) throw new StepError(`--${name} is a whole number from 1 on`);
    options[name] = Number(text);
  }
  return { selections: parseSelections(positionals), options };
}

/** Reads arguments such as `package` and `gateway:job-read`; none means every part. */
function parseSelections(args) {
  const known = Object.entries(PARTS).flatMap(([name, { sections }]) => [
    name,
    ...sections.map((section) => `${name}:${section}`),
  ]);
  const unknown = args.filter((arg) => !known.includes(arg));
  if (unknown.length > 0) {
    throw new StepError(`nothing is called ${unknown.join(", ")}; there are ${known.join(", ")}`);
  }
  return (args.length > 0 ? args : Object.keys(PARTS)).map((arg) => {
    const [name, section] = arg.split(":");
    return { name, section };
  });
}

// --- peers -----------------------------------------------------------------

/** Installs the peers, unless they are there in the versions that are asked for. */
async function installPeers({ env }) {
  const { dependencies } = await manifest(HERE);
  const present = await Promise.all(
    Object.entries(dependencies).map(async ([name, version]) => {
      const found = await manifest(join(HERE, "node_modules", name)).catch(() => undefined);
      return found?.version === version;
    }),
  );
  if (present.every(Boolean)) return;
  await run("installing the peers", "npm", ["ci"], { cwd: HERE, env });
}

async function manifest(folder) {
  return JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
}

// --- results ---------------------------------------------------------------

/** Reads the reports of earlier runs, by part: a part that is not measured now keeps its own. */
async function readReports() {
  const text = await readFile(RESULTS, "utf8").catch(() => "");
  const [, ...pieces] = text.split(/^<!-- (\w+) -->$/m);
  const reports = {};
  for (let at = 0; at < pieces.length; at += 2) reports[pieces[at]] = pieces[at + 1].trim();
  return reports;
}

function joinReports(reports) {
  const known = Object.keys(PARTS).filter((name) => reports[name] !== undefined);
  const texts = known.map((name) => `<!-- ${name} -->\n\n${reports[name]}`);
  return `${["# Measured", ...texts].join("\n\n")}\n`;
}

// --- the package -----------------------------------------------------------

async function reportPackage(context) {
  await buildPackage(context);
  const text = await page(context);
  const { sizes } = await import("./sizes.mjs");
  const { timeDecoders } = await import("./cases.mjs");
  const { timeCalls } = await import("./calls.mjs");
  const chromium = await inChromium(context, text);
  return [
    `The package: one run of \`npm run bench\` on Node ${process.versions.node} and ${chromium.version}.`,
    "## Size, bundled and minified, in bytes",
    sizeTable(await sizes()),
    `## From text to checked rows: one page of 250 rows, ${text.length} bytes`,
    timeTable({ Node: await timeDecoders(text), Chromium: chromium.times }),
    "## A whole call for that page in Node, the network left out",
    timeTable({ Node: await timeCalls(text) }),
  ].join("\n\n");
}

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

// --- the gateway -----------------------------------------------------------

async function reportGateway(context, section) {
  await buildWorker(context);
  const { measureGateway } = await import("./gateway/measure.mjs");
  const report = await import("./gateway/report.mjs");
  const sections = section === undefined ? SECTIONS : [section];
  return report.reportGateway(await measureGateway(context, sections));
}

// --- the soak --------------------------------------------------------------

/** Soaks the gateway; what it finds wrong is an error, after it has been printed. */
async function reportSoak(context, _section, { seconds, seed }) {
  await buildPackage(context);
  await buildWorker(context);
  const { assertSoak, describeSoak, runSoak } = await import("../tests/soak/soak.mjs");
  const found = await runSoak({ seconds, seed, env: context.env });
  const report = `## The gateway soaked\n\n\`npm run bench soak\`\n\n${describeSoak(found)}`;
  try {
    assertSoak(found);
  } catch (error) {
    console.log(`\n${report}\n`);
    throw new StepError(`the soak failed: ${error.message}`);
  }
  return report;
}
