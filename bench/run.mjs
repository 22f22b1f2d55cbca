/**
 * `npm run bench [package] [gateway] [page] [soak]`: sizes and times beside peers, Lighthouse on the
 * page, and a soak, printed and written to `bench/results.md`; all parts when none is named.
 * `npm run bench gateway:job-read` measures and prints one section of a part.
 * `npm run bench -- soak --seconds=60` soaks for a minute instead of ten, and `--seed=2` makes other
 * faults and other work; `npm run bench -- page --runs=1` runs Lighthouse once instead of five times.
 * `npm run bench -- package --before=COMMIT` keeps the package's figures as those of before, with
 * which later runs are compared. Ratios are medians over alternating rounds of one run; absolute
 * figures depend on the machine.
 */

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { BUILD_NEEDS, buildPackage, buildPage, buildWorker } from "../scripts/build.mjs";
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
  page: { needs: { browser: true }, sections: [], report: reportPage },
  soak: { needs: {}, sections: [], report: reportSoak },
};

const SOAK_SECONDS = "600";
const LIGHTHOUSE_RUNS = "5";

await runMain(async () => {
  const { selections, options } = parseArguments(process.argv.slice(2));
  const needs = selections.map(({ name }) => PARTS[name].needs);
  const context = await setup(Object.assign({ ...BUILD_NEEDS }, ...needs));
  await installPeers(context, HERE);
  const reports = await readReports();
  for (const { name, section } of selections) {
    const report = await PARTS[name].report(context, section, options);
    console.log(`\n${report}\n`);
    if (section === undefined) reports[name] = report;
  }
  await writeFile(RESULTS, joinReports(reports));
});

/** Reads what to measure, how often, and how long and with which seed to soak. */
function parseArguments(args) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      seconds: { type: "string", default: SOAK_SECONDS },
      seed: { type: "string", default: "1" },
      runs: { type: "string", default: LIGHTHOUSE_RUNS },
      before: { type: "string" },
    },
  });
  const { before, ...numbers } = values;
  const options = { before };
  for (const [name, text] of Object.entries(numbers)) {
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

/** Installs what a folder's measurements need, unless it is there in the versions asked for. */
async function installPeers({ env }, folder) {
  const { dependencies } = await manifest(folder);
  const present = await Promise.all(
    Object.entries(dependencies).map(async ([name, version]) => {
      const found = await manifest(join(folder, "node_modules", name)).catch(() => undefined);
      return found?.version === version;
    }),
  );
  if (present.every(Boolean)) return;
  await run("installing the peers", "npm", ["ci"], { cwd: folder, env });
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

async function reportPackage(context, _section, { before }) {
  await buildPackage(context);
  const { measurePackage } = await import("./package/measure.mjs");
  const { keepAsBefore, reportPackage: report } = await import("./package/report.mjs");
  const measured = await measurePackage(context);
  if (before !== undefined) await keepAsBefore(before, measured);
  return report(measured);
}

// --- the gateway -----------------------------------------------------------

async function reportGateway(context, section) {
  await buildPackage(context);
  await buildWorker(context);
  const { measureGateway } = await import("./gateway/measure.mjs");
  const report = await import("./gateway/report.mjs");
  const sections = section === undefined ? SECTIONS : [section];
  return report.reportGateway(await measureGateway(context, sections));
}

// --- the page --------------------------------------------------------------

async function reportPage(context, _section, { runs }) {
  await installPeers(context, join(HERE, "page"));
  await buildPackage(context);
  await buildWorker(context);
  await buildPage(context);
  const { measurePage } = await import("./page/measure.mjs");
  const { measureLargeSite } = await import("./page/large_site.mjs");
  const report = await import("./page/report.mjs");
  const largeSite = await measureLargeSite(context);
  return report.reportPage(await measurePage(context, runs), largeSite, runs);
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
