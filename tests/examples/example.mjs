/** Sets up an example as its readers do: copies it and installs the packed package in it. */
import assert from "node:assert/strict";
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../scripts/versions.mjs";
import { canaryKey } from "../harness/canary.mjs";
import { startGateway } from "../harness/gateway.mjs";
import { accessClaims, mintToken, newSecret } from "../harness/token.mjs";
import { startUpstream } from "../harness/upstream.mjs";
import { install } from "../package/installed.mjs";

export const PROJECT = "demo-docs";

/** Copies an example and installs its dependency, the package. Returns the folder. */
export async function installExample(name) {
  const source = join(ROOT, "examples", name);
  const { dependencies } = JSON.parse(readFileSync(join(source, "package.json"), "utf8"));
  const { version } = JSON.parse(readFileSync(join(ROOT, "pkg", "package.json"), "utf8"));
  assert.deepEqual(dependencies, { quillgate: version }, "the example depends on another version");
  const folder = await install(`example-${name}`);
  cpSync(source, folder, {
    recursive: true,
    filter: (path) => !path.endsWith("/package.json") && !path.endsWith("/node_modules"),
  });
  return folder;
}

/** Starts the simulated Mintlify API, and a gateway that often polls its jobs. */
export async function startPlatform(options = {}) {
  const key = canaryKey();
  const secret = newSecret();
  const upstream = await startUpstream({ key, projects: [PROJECT], ...options.upstream });
  const vars = { JOB_POLL_SECONDS: "1", JOB_POLLS_PER_HOUR: "100000" };
  const settings = { upstreamUrl: upstream.url, adminKey: key, secret, vars, ...options.gateway };
  const gateway = await startGateway(settings).catch(async (error) => {
    await upstream.stop();
    throw error;
  });
  return {
    key,
    upstream,
    gateway,
    token: (scope) =>
      mintToken(accessClaims({ sub: "example", projects: [PROJECT], scope }), secret),
    async stop() {
      await gateway.stop();
      await upstream.stop();
    },
  };
}
