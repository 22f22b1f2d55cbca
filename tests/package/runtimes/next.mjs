/** Runs the package in Next.js apps, built for production with each of the Next.js bundlers. */
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after } from "node:test";
import { freePort, startProgram } from "../../harness/process.mjs";
import { install, runProgram, toolPath, versionOf, write } from "../installed.mjs";
import { inChromium } from "./browsers.mjs";
import {
  cell,
  conclude,
  copyConformance,
  direct,
  exported,
  RUN_CHECKS,
  resultsIn,
  site,
  upstream,
  viaGateway,
} from "./fixtures.mjs";

const NEXT = toolPath("next", "dist", "bin", "next");
/** Next.js resolves itself from the app's folder, so the apps are beside its `node_modules`. */
const HOME = toolPath("..");
const ENV = { ...process.env, CI: "true", NEXT_TELEMETRY_DISABLED: "1" };
const BUNDLERS = { Turbopack: "--turbopack", webpack: "--webpack" };

const IMPORTS = `
import * as quillgate from "quillgate";
import { conform } from "../../conformance.mjs";
import settings from "../../settings.mjs";
export const dynamic = "force-dynamic";
`;

const SERVER_COMPONENT = `
export default async function Page() {
  ${RUN_CHECKS}
  return <a href={"data:," + encodeURIComponent("CONFORMANCE " + JSON.stringify(results))}>results</a>;
}
`;

const APP = {
  "package.json": '{ "private": true, "type": "module" }',
  "app/layout.js": `
export default function Layout({ children }) {
  return <html lang="en"><body>{children}</body></html>;
}
`,
  "app/component/page.js": `${IMPORTS}${SERVER_COMPONENT}`,
  // Next.js 16.4 cannot build any route handler of this runtime with webpack.
  "app/edge/page.js": `${IMPORTS}${SERVER_COMPONENT}export const runtime = "edge";\n`,
  "app/handler/route.js": `${IMPORTS}
export async function GET() {
  ${RUN_CHECKS}
  return new Response("CONFORMANCE " + JSON.stringify(results));
}
`,
  "app/client/page.js": `"use client";
import { useEffect } from "react";
import * as quillgate from "quillgate";
import { conform } from "../../conformance.mjs";

export default function Page() {
  useEffect(() => {
    const { name, settings } = JSON.parse(decodeURIComponent(location.hash.slice(1)));
    run(settings).then((results) =>
      fetch("/result/" + name, { method: "POST", body: JSON.stringify(results) }),
    );
  }, []);
  return null;
}

async function run(settings) {
  ${RUN_CHECKS}
  return results;
}
`,
};

const stops = [];

after(async () => {
  for (const stop of stops) await stop();
});

export function checkNext() {
  for (const bundler of Object.keys(BUNDLERS)) checkApp(bundler);
}

function checkApp(bundler) {
  let app;
  const open = () => {
    app ??= startApp(bundler);
    return app;
  };
  const define = (what, run) =>
    cell("Next.js", `${what}, by ${bundler}`, async (row) => {
      row.version = versionOf("next");
      await run(row, await open());
    });

  for (const [what, path, find] of [
    ["server component", "component", resultsOf],
    ["route handler", "handler", resultsIn],
    ["server component in the edge runtime", "edge", resultsOf],
  ]) {
    define(what, async (row, url) => conclude(row, find(await read(`${url}/${path}`))));
  }

  define("client component", async (row, url) => {
    const name = `next-${bundler}`;
    const settings = { direct: direct(`${url}/api`, true) };
    const hash = encodeURIComponent(JSON.stringify({ name, settings }));
    await inChromium(row, name, `${url}/client#${hash}`);
  });
}

function resultsOf(html) {
  return resultsIn(decodeURIComponent(/href="data:,([^"]*)"/.exec(html)?.[1] ?? html));
}

async function read(url) {
  const response = await fetch(url);
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return text;
}

async function startApp(bundler) {
  const folder = mkdtempSync(join(HOME, "app-"));
  stops.push(() => rmSync(folder, { recursive: true, force: true }));
  const installed = await install(`next-${bundler}`);
  cpSync(join(installed, "node_modules"), join(folder, "node_modules"), { recursive: true });
  copyConformance(folder);
  write(folder, {
    ...APP,
    "settings.mjs": exported({ direct: direct(upstream.url), gateway: viaGateway() }),
    "next.config.mjs": configuration(),
  });
  const building = [NEXT, "build", BUNDLERS[bundler]];
  await runProgram("next-build", process.execPath, building, { cwd: folder, env: ENV });
  const port = await freePort();
  const args = [NEXT, "start", "--hostname", "127.0.0.1", "--port", String(port)];
  const program = startProgram("next-start", process.execPath, args, { cwd: folder, env: ENV });
  stops.unshift(() => program.stop());
  await program.line(/Ready/);
  return `http://127.0.0.1:${port}`;
}

/** Forwards the requests of client components to the simulator, and their results to the test. */
function configuration() {
  const rewrites = ["api", "result"].map((name) => ({
    source: `/${name}/:path*`,
    destination: `${site.url}/${name}/:path*`,
  }));
  return `
export default {
  turbopack: { root: ${JSON.stringify(HOME)} },
  rewrites: async () => (${JSON.stringify(rewrites)}),
};
`;
}
