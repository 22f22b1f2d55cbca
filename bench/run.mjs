/**
 * Measures sizes and times, runs Lighthouse on the page, and soak-tests the gateway.
 *
 *     npm run bench                              measure all parts, and update bench/results.md
 *     npm run bench -- package gateway           measure these parts: package, gateway, page, soak
 *     npm run bench -- gateway:job-read          measure and print a single section
 *     npm run bench -- page:views                run Lighthouse on one route
 *     npm run bench -- page --runs=1             run Lighthouse once instead of five times
 *     npm run bench -- soak --seconds=60         soak for one minute instead of ten
 *     npm run bench -- soak --seed=2             use other random work and faults
 *
 * Ratios are medians over alternating rounds of one run. Absolute figures depend on the machine.
 */

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { BUILD_NEEDS, buildPackage, buildPage, buildWorker } from "../scripts/build.mjs";
import { run, runMain, StepError } from "../scripts/child.mjs";
import { setup } from "../scripts/setup.mjs";
import { ROOT } from "../scripts/versions.mjs";
import { SECTIONS } from "./gateway/sections.mjs";
import { ROUTES } from "./page/routes.mjs";

const HERE = join(ROOT, "bench");
const RESULTS = join(HERE, "results.md");

/** The parts: tools to set up, sections that can run separately, and the function that measures. */
const PARTS = {
  package: { needs: { browser: true }, sections: [], report: reportPackage },
  gateway: { needs: {}, sections: SECTIONS, report: reportGateway },
  page: { needs: { browser: true }, sections: ROUTES, report: reportPage },
  soak: { needs: {}, sections: [], report: reportSoak },
};

const SOAK_SECONDS = "600";
const LIGHTHOUSE_RUNS = "5";

await runMain(async () => {
  const { selections, options } = parseArguments(process.argv.slice(2));
  const needs = selections.map(({ name }) => PARTS[name].needs);
  const context = await setup(Object.assign({ ...BUILD_NEEDS }, ...needs));
  await installDependencies(context, HERE);
  const reports = await readReports();
  for (const { name, section } of selections) {
    const report = await PARTS[name].report(context, section, options);
    console.log(`\n${report}\n`);
    if (section === undefined) reports[name] = report;
  }
  await writeFile(RESULTS, joinReports(reports));
});

function parseArguments(args) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      seconds: { type: "string", default: SOAK_SECONDS },
      seed: { type: "string", default: "1" },
      runs: { type: "string", default: LIGHTHOUSE_RUNS },
    },
  });
  const options = {};
  for (const [name, text] of Object.entries(values)) {
    if (!/^[1-9]\d{0,5}$/.test(text)) {
      throw new StepError(`--${name} must be a whole number from 1 to 999999, got ${text}`);
    }
    options[name] = Number(text);
  }
  return { selections: parseSelections(positionals), options };
}

function parseSelections(args) {
  const known = Object.entries(PARTS).flatMap(([name, { sections }]) => [
    name,
    ...sections.map((section) => `${name}:${section}`),
  ]);
  const unknown = args.filter((arg) => !known.includes(arg));
  if (unknown.length > 0) {
    throw new StepError(`unknown part: ${unknown.join(", ")}; known are ${known.join(", ")}`);
  }
  return (args.length > 0 ? args : Object.keys(PARTS)).map((arg) => {
    const [name, section] = arg.split(":");
    return { name, section };
  });
}

// --- dependencies ----------------------------------------------------------

async function installDependencies({ env }, folder) {
  const { dependencies } = await manifest(folder);
  const present = await Promise.all(
    Object.entries(dependencies).map(async ([name, version]) => {
      const found = await manifest(join(folder, "node_modules", name)).catch(() => undefined);
      return found?.version === version;
    }),
  );
  if (present.every(Boolean)) return;
  await run("installing dependencies", "npm", ["ci"], { cwd: folder, env });
}

async function manifest(folder) {
  return JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
}

// --- results ---------------------------------------------------------------

/** Reads earlier reports by part. A part that is not measured again keeps its report. */
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

// --- package ---------------------------------------------------------------

async function reportPackage(context) {
  await buildPackage(context);
  const { measurePackage } = await import("./package/measure.mjs");
  const report = await import("./package/report.mjs");
  return report.reportPackage(await measurePackage(context));
}

// --- gateway ---------------------------------------------------------------

async function reportGateway(context, section) {
  await buildPackage(context);
  await buildWorker(context);
  const { measureGateway } = await import("./gateway/measure.mjs");
  const report = await import("./gateway/report.mjs");
  const sections = section === undefined ? SECTIONS : [section];
  return report.reportGateway(await measureGateway(context, sections));
}

// --- page ------------------------------------------------------------------

async function reportPage(context, section, { runs }) {
  await installDependencies(context, join(HERE, "page"));
  await buildPackage(context);
  await buildWorker(context);
  await buildPage(context);
  const { measurePage } = await import("./page/measure.mjs");
  const report = await import("./page/report.mjs");
  const routes = section === undefined ? ROUTES : [section];
  return report.reportPage(await measurePage(context, runs, routes), runs);
}

// --- soak ------------------------------------------------------------------

/** Soak-tests the gateway. Prints the report even if the test fails. */
async function reportSoak(context, _section, { seconds, seed }) {
  await buildPackage(context);
  await buildWorker(context);
  const { assertSoak, describeSoak, runSoak } = await import("../tests/soak/soak.mjs");
  const found = await runSoak({ seconds, seed, env: context.env });
  const report = `## Soak test\n\n\`npm run bench -- soak\`\n\n${describeSoak(found)}`;
  try {
    assertSoak(found);
  } catch (error) {
    console.log(`\n${report}\n`);
    throw new StepError(`the soak failed: ${error.message}`);
  }
  return report;
}
