/** The packed package in every runtime, bundler and browser. The run writes docs/reference/runtimes.md. */
import { after, describe } from "node:test";
import {
  checkFirefox,
  checkModules,
  checkServiceWorker,
  checkStrictPolicy,
} from "./runtimes/browsers.mjs";
import {
  checkEveryBundle,
  checkNodeBundles,
  checkServerBundles,
  checkViteDevServer,
} from "./runtimes/bundles.mjs";
import { checkOldWorkerd, checkWorkerd } from "./runtimes/edge.mjs";
import { rows, SPECIFIERS } from "./runtimes/fixtures.mjs";
import { checkJest, checkResolvers, checkVitest } from "./runtimes/hosts.mjs";
import { checkNext } from "./runtimes/next.mjs";
import { checkRendering } from "./runtimes/rendering.mjs";
import {
  checkBun,
  checkDeno,
  checkOtherNodes,
  checkOwnNode,
  runInBun,
  runInDeno,
} from "./runtimes/servers.mjs";
import { writeTable } from "./tables.mjs";

// In the order of the table.
describe("Servers", { concurrency: 3 }, () => {
  checkOwnNode();
  checkOtherNodes();
  checkDeno();
  checkBun();
});

describe("Browsers", { concurrency: 3 }, () => {
  checkModules();
  checkServiceWorker();
  checkStrictPolicy("web");
  checkStrictPolicy("inline");
  checkFirefox();
});

describe("Bundles", { concurrency: 3 }, () => {
  checkEveryBundle();
  checkViteDevServer();
  checkNodeBundles();
  checkServerBundles("bun build", "Bun", runInBun);
  checkServerBundles("deno bundle", "Deno", runInDeno);
});

describe("Next.js", () => {
  checkNext();
});

describe("Edge", () => {
  for (const way of Object.keys(SPECIFIERS)) checkWorkerd(way);
  checkOldWorkerd();
});

describe("Test runners and resolvers", { concurrency: 2 }, () => {
  checkJest();
  checkVitest();
  checkResolvers();
});

describe("Server-side rendering", () => {
  checkRendering();
});

after(() => {
  // `--test-name-pattern` may have skipped some rows.
  if (rows.every(({ ran }) => ran)) writeTable("runtimes", rows);
});
