import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { ROOT } from "../../scripts/versions.mjs";
import { deriveKeys } from "../../scripts/webhook_key.mjs";
import { canaryKey } from "../harness/canary.mjs";
import { accessClaims, mintToken, newSecret } from "../harness/token.mjs";
import { startUpstream } from "../harness/upstream.mjs";
import { startWithWrangler } from "../harness/wrangler.mjs";
import { prepareOperator } from "./operator.mjs";

const PROJECT = "demo-docs";
const VALUE = "hunter2-of-the-operator";
/**
 * Largest size of the gateway's tarball. The pages that an operator needs without a network take
 * 80 kB of its 972 kB, and the pages about problems that the gateway serves 16 kB.
 */
const MAX_TARBALL_BYTES = 975_000;
/** Most tests wait for a program that uses one core. */
const CONCURRENCY = 2;

let operator;
let folder;

before(async () => {
  operator = await prepareOperator();
  folder = await operator.init("my-gateway", "--project", PROJECT, "--no-archive");
});

function readPrograms() {
  const text = readFileSync(join(ROOT, "gateway", "README.md"), "utf8");
  return [...text.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code]) => code);
}

describe("a gateway without Rust", { concurrency: CONCURRENCY }, () => {
  test("the tarball contains the deployed files and no path of the build machine", (context) => {
    const { files, size } = operator.tarballs.gateway;
    context.diagnostic(`${size} bytes, ${files.length} files`);
    assert.ok(size <= MAX_TARBALL_BYTES, `${size} bytes`);
    const paths = files.map(({ path }) => path);
    for (const path of [
      "LICENSE",
      "README.md",
      "THIRD_PARTY.md",
      "dist/gateway_bg.wasm",
      "dist/index.js",
      "dist/migrations/0001_archive.sql",
      "dist/migrations/0002_page_views.sql",
      "dist/openapi.txt",
      "dist/page/_headers",
      "dist/page/index.html",
      "dist/template/wrangler.toml",
      "dist/tools/check.d.ts",
      "dist/tools/check_config_bg.wasm",
      "dist/tools/init.d.ts",
      "docs/guides/webhooks.md",
      "docs/operate/troubleshooting.md",
      "docs/start/cloudflare.md",
    ]) {
      assert.ok(paths.includes(path), path);
    }
    const installed = join(operator.home, "first", "node_modules", "quillgate-gateway");
    for (const path of paths) {
      const text = readFileSync(join(installed, path), "latin1");
      for (const folder of [ROOT, homedir()]) {
        assert.ok(folder === "/" || !text.includes(`${folder}/`), `${path} contains ${folder}`);
      }
    }
    const worker = readFileSync(join(ROOT, "worker", "build", "gateway_bg.wasm"));
    assert.ok(worker.equals(readFileSync(join(installed, "dist", "gateway_bg.wasm"))));
  });

  test("the folder that init writes passes its check, which lists the unchecked secrets", async () => {
    const output = await operator.succeed("my-gateway", "npm", "run", "check");
    assert.match(
      output,
      /is valid, with 2 variables; not checked.*: ADMIN_API_KEY, ACCESS_TOKEN_SECRET/,
    );
  });

  test("the check names every typo and every invalid secret in one run, without values", async () => {
    const secrets = { ADMIN_API_KEY: VALUE, ACCESS_TOKEN_SECRET: `${VALUE}-${VALUE}` };
    writeFileSync(join(folder, "secrets.json"), JSON.stringify(secrets));
    const config = readFileSync(join(folder, "wrangler.toml"), "utf8");
    const typos = `[vars]\nTRUSTED_ISSUER = "${VALUE}"\nJOB_POLL_SECONDS = "${VALUE}"\n`;
    assert.match(config, /^\[vars\]\n/m);
    writeFileSync(join(folder, "typos.toml"), config.replace("[vars]\n", typos));
    const flags = ["--config", "typos.toml", "--secrets", "secrets.json"];
    const command = ["./node_modules/.bin/quillgate", "config", "check", ...flags];
    const { code, output } = await operator.run("my-gateway", ...command);
    assert.equal(code, 10, output);
    assert.match(
      output,
      /^TRUSTED_ISSUER is not a variable of the Worker: is it TRUSTED_ISSUERS\?$/m,
    );
    assert.match(output, /^JOB_POLL_SECONDS must be an integer from 1 to 300$/m);
    assert.match(output, /^ADMIN_API_KEY must be an admin key/m);
    assert.doesNotMatch(output, /ACCESS_TOKEN_SECRET/);
    assert.ok(!output.includes(VALUE), output);
  });

  test("webhook key prints the keys that the gateway signs with", async () => {
    const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
    const receiver = { project: PROJECT, url: "https://hooks.example/quillgate" };
    const flags = Object.entries(receiver).flatMap(([name, value]) => [`--${name}`, value]);
    const command = ["sh", "-c", 'echo "$0" | npx quillgate webhook key "$@"', secret];
    const output = await operator.succeed("my-gateway", ...command, ...flags);
    assert.deepEqual(output.trim().split("\n"), deriveKeys(receiver, secret));
  });

  test("wrangler can deploy the folder without changes", async () => {
    const command = ["npx", "wrangler", "deploy", "--dry-run", "--outdir", "uploaded"];
    const output = await operator.succeed("my-gateway", ...command);
    for (const binding of ["PROJECT_GATE", "ORG_GATE", "SESSION", "ASSETS"])
      assert.match(output, RegExp(binding));
    const uploaded = readdirSync(join(folder, "uploaded"));
    const wasm = uploaded.find((name) => name.endsWith(".wasm"));
    assert.ok(wasm, `a wasm module in ${uploaded}`);
    const installed = join(folder, "node_modules", "quillgate-gateway", "dist", "gateway_bg.wasm");
    assert.ok(readFileSync(join(folder, "uploaded", wasm)).equals(readFileSync(installed)));
  });

  test("an archive needs its database's id and gets the package's migrations", async () => {
    const flags = ["--project", PROJECT, "--archive"];
    const directory = await operator.initLike("my-gateway", "with-archive", ...flags);
    const before = await operator.run("with-archive", "npm", "run", "check");
    assert.equal(before.code, 10, before.output);
    assert.match(before.output, /^d1_databases must have the database_id/m);

    const path = join(directory, "wrangler.toml");
    const id = 'database_id = "00000000-0000-4000-8000-000000000000"';
    writeFileSync(path, readFileSync(path, "utf8").replace(/^database_id = .*$/m, id));
    await operator.succeed("with-archive", "npm", "run", "check");
    const apply = ["npx", "wrangler", "d1", "migrations", "apply", "ARCHIVE", "--local"];
    const output = await operator.succeed("with-archive", ...apply);
    assert.match(output, /0001_archive\.sql/);
    await operator.succeed("with-archive", "npx", "wrangler", "deploy", "--dry-run");
  });

  test("the README's commands make a secret and a token signed with it", async () => {
    const readme = readFileSync(join(folder, "README.md"), "utf8");
    const commands = [...readme.matchAll(/^ *(npx quillgate [^#\n]*)/gm)].map(([, line]) => line);
    const [makeSecret, mint] = commands;
    assert.equal(commands.length, 2, commands.join("\n"));
    const secret = (await operator.succeed("my-gateway", "sh", "-c", makeSecret)).trim();
    assert.ok(Buffer.byteLength(secret) >= 32, secret);

    const withSecret = operator.withVariables({ ACCESS_TOKEN_SECRET: secret });
    // The token is the first line; its description follows on standard error.
    const [token] = (await withSecret.succeed("my-gateway", "sh", "-c", mint)).split("\n");
    const [head, claims, signature] = token.split(".");
    const signed = createHmac("sha256", secret).update(`${head}.${claims}`).digest("base64url");
    assert.equal(signature, signed);
    const { sub, projects, scope } = JSON.parse(Buffer.from(claims, "base64url").toString("utf8"));
    assert.deepEqual({ sub, projects }, { sub: "alice", projects: [PROJECT] });
    assert.equal(scope, "jobs:create jobs:read analytics:read");
  });

  test("the README's program writes a folder and finds no problem in it", async () => {
    const [program] = readPrograms();
    await operator.initLike("my-gateway", "readme", "--project", PROJECT, "--no-archive");
    writeFileSync(join(operator.home, "readme", "program.mjs"), program);
    const output = await operator.succeed("readme", "node", "program.mjs");
    assert.equal(output.trim(), "", "the program found a problem");
    assert.ok(readdirSync(join(operator.home, "readme", "my-gateway")).includes("wrangler.toml"));
  });

  test("the README's line turns a custom Worker into the gateway", async () => {
    const [, line] = readPrograms();
    writeFileSync(join(folder, "custom.js"), line);
    const config = readFileSync(join(folder, "wrangler.toml"), "utf8");
    const custom = config.replace(/^main = .*$/m, 'main = "custom.js"');
    writeFileSync(join(folder, "custom.toml"), custom);
    const command = ["npx", "wrangler", "deploy", "--dry-run", "--config", "custom.toml"];
    const output = await operator.succeed("my-gateway", ...command);
    assert.match(output, /ORG_GATE/);
  });

  test("wrangler dev serves the page and creates a job", async (t) => {
    const key = canaryKey();
    const secret = newSecret();
    const upstream = await startUpstream({ key, projects: [PROJECT], jobDurationMs: 200 });
    t.after(() => upstream.stop());
    const gateway = await startWithWrangler({
      config: join(folder, "wrangler.toml"),
      upstreamUrl: upstream.url,
      adminKey: key,
      secret,
      vars: { JOB_POLL_SECONDS: "1", JOB_POLLS_PER_HOUR: "100000" },
      env: operator.env,
    });
    t.after(() => gateway.stop());

    const page = await fetch(gateway.url);
    assert.equal(page.status, 200);
    assert.match(await page.text(), /<html/);

    const grant = { sub: "operator", projects: [PROJECT], scope: "jobs:create jobs:read" };
    const token = mintToken(accessClaims(grant), secret);
    const entry = join(folder, "node_modules", "quillgate", "dist", "node.js");
    const { Client } = await import(pathToFileURL(entry));
    const client = new Client({ baseUrl: gateway.url, projectId: PROJECT, auth: { token } });
    const { id } = await client.agentJobs.create({ prompt: "Created without Rust" });
    const { status, prLink } = await client.agentJobs.wait(id);
    assert.equal(status, "completed");
    const [job] = await upstream.jobs();
    assert.equal(job.prompt, "Created without Rust");
    assert.equal(prLink, job.prLink);
  });
});
