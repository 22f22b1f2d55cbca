/** The installed package next to an undici that its command line cannot use. */
import assert from "node:assert/strict";
import http from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { capture } from "../../scripts/child.mjs";
import { makeFolder } from "../harness/folder.mjs";
import { packed, write } from "./installed.mjs";

/** Undici 5 has no `EnvHttpProxyAgent`. */
const UNDICI = `export class ProxyAgent {}
export const setGlobalDispatcher = () => {};
export const fetch = () => Promise.reject(new Error("this undici must not be used"));
`;

test("installs next to undici 5, and the CLI warns that it ignores the proxy", async (t) => {
  const folder = makeFolder(t, "undici");
  const undici = { name: "undici", version: "5.28.4", type: "module", exports: "./index.js" };
  const dependencies = { quillgate: `file:${await packed()}`, undici: "file:./undici" };
  write(folder, {
    "undici/package.json": JSON.stringify(undici),
    "undici/index.js": UNDICI,
    "package.json": JSON.stringify({ private: true, dependencies }),
  });
  const quiet = ["--no-audit", "--no-fund", "--loglevel=error"];
  const installed = await capture("npm", ["install", "--offline", ...quiet], { cwd: folder });
  assert.equal(installed.code, 0, installed.stderr);

  const bin = join(folder, "node_modules", "quillgate", "dist", "cli", "bin.js");
  const env = {
    ...{ PATH: process.env.PATH, HOME: folder, HTTPS_PROXY: "http://127.0.0.1:9" },
    ...{ QUILLGATE_BASE_URL: "https://127.0.0.1:9", QUILLGATE_PROJECT_ID: "p" },
    QUILLGATE_TOKEN: "a.b.c",
  };
  const args = [bin, "job", "list"];
  const { code, stderr } = await capture(process.execPath, args, { cwd: folder, env });
  assert.equal(code, 6, stderr);
  if (http.setGlobalProxyFromEnv !== undefined) return t.skip("Node.js has its own proxy");
  assert.match(stderr, /^quillgate: HTTPS_PROXY is ignored .*undici 6\.14 or later$/m);
});
