/** The npm packages: what the lock files name, what may run at their installation, what is known of them. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { ROOT } from "../../scripts/versions.mjs";
import { auditPackages, auditSignatures, judge, readAudit, readSignatures } from "./audit.mjs";

const FOLDERS = [".", "bench", join("bench", "page"), join("tests", "package", "tools")];
/** They fetch or check the program of this platform, which is their whole purpose. */
const MAY_RUN_SCRIPTS = ["bun", "deno", "esbuild", "fsevents", "sharp", "workerd"];

async function readLock(folder) {
  return JSON.parse(await readFile(join(ROOT, folder, "package-lock.json"), "utf8"));
}

for (const folder of FOLDERS) {
  test(`the lock file of ${folder} has a hash of every package, from npm's registry alone`, async () => {
    const { packages } = await readLock(folder);
    const foreign = Object.entries(packages).filter(
      ([path, { link }]) => path.includes("node_modules/") && !link,
    );
    assert.ok(foreign.length > 0);
    for (const [path, { integrity, resolved = "https://registry.npmjs.org/" }] of foreign) {
      assert.match(integrity ?? "", /^sha512-/, path);
      assert.ok(resolved.startsWith("https://registry.npmjs.org/"), `${path}: ${resolved}`);
    }
  });

  test(`no other package of ${folder} runs a script when it is installed`, async () => {
    const { packages } = await readLock(folder);
    const running = Object.entries(packages)
      .filter(([, { hasInstallScript }]) => hasInstallScript)
      .map(([path]) => path.split("node_modules/").at(-1));
    assert.deepEqual(
      running.filter((name) => !MAY_RUN_SCRIPTS.includes(name)),
      [],
    );
  });
}

test("what the page ships has no known vulnerability", async (context) =>
  judge(context, await auditPackages({ cwd: ROOT, omitDev: ["--omit=dev"] })));

test("what builds and tests has no known vulnerability", async (context) =>
  judge(context, await auditPackages({ cwd: ROOT })));

test("every installed package is signed by the registry", async (context) =>
  judge(context, await auditSignatures(ROOT)));

describe("an audit", () => {
  test("that finds something is a failure, whatever the machine can reach", async (context) => {
    const registry = await startRegistry({
      preact: [
        {
          id: 1,
          url: "https://registry.example/advisory",
          title: "An advisory of this test",
          severity: "low",
          vulnerable_versions: "*",
        },
      ],
    });
    context.after(() => registry.close());
    const options = { cwd: ROOT, omitDev: ["--omit=dev"], registry: registry.url };
    const verdict = await auditPackages(options);
    assert.ok(registry.asked.includes("preact"), "the audit asked for what is shipped");
    assert.equal(verdict.isAvailable, true, verdict.reason);
    assert.match(verdict.findings.join("\n"), /preact .*An advisory of this test/);
    assert.throws(() => judge(context, verdict), /An advisory of this test/);
  });

  test("that finds nothing passes", async (context) => {
    const registry = await startRegistry({});
    context.after(() => registry.close());
    const verdict = await auditPackages({ cwd: ROOT, registry: registry.url });
    assert.deepEqual(verdict, { isAvailable: true, findings: [] });
  });

  test("that was not answered is not taken for one that found nothing", () => {
    const answers = [
      { code: 1, stdout: '{"message":"405 Method Not Allowed"}', stderr: "" },
      { code: 1, stdout: '{"error":{"summary":"no network"}}', stderr: "" },
      { code: 0, stdout: "", stderr: "" },
      { code: 1, stdout: "<html>", stderr: "npm error ENOTFOUND" },
      { code: 0, stdout: "{}", stderr: "" },
    ];
    for (const answer of answers) {
      assert.equal(readAudit(answer).isAvailable, false, answer.stdout);
      assert.equal(readSignatures(answer).isAvailable, false, answer.stdout);
    }
  });

  test("finds signatures that are invalid or missing", () => {
    const entry = { name: "x", version: "1.0.0" };
    const stdout = JSON.stringify({ invalid: [entry], missing: [entry] });
    const { findings } = readSignatures({ code: 1, stdout, stderr: "" });
    assert.deepEqual(findings, ["x@1.0.0: invalid signature", "x@1.0.0: missing signature"]);
  });
});

/** A registry that knows these advisories, and keeps the names that it was asked for. */
async function startRegistry(advisories) {
  const asked = [];
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const isZipped = request.headers["content-encoding"] === "gzip";
    const body = Buffer.concat(chunks);
    if (request.url === "/-/npm/v1/security/advisories/bulk") {
      asked.push(...Object.keys(JSON.parse(isZipped ? gunzipSync(body) : body)));
      response.setHeader("content-type", "application/json").end(JSON.stringify(advisories));
    } else {
      response.writeHead(404).end("{}");
    }
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${server.address().port}/`;
  return { url, asked, close: () => server.close() };
}
