/** The npm packages in the lock files: their sources, install scripts and advisories. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { describe, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { ROOT } from "../../scripts/versions.mjs";
import { listen } from "../harness/listen.mjs";
import { auditPackages, auditSignatures, judge, readAudit, readSignatures } from "./audit.mjs";

const FOLDERS = [".", "bench", join("bench", "page"), join("tests", "package", "tools")];
/** Packages whose install script fetches or checks a program for the platform. */
const ALLOWED_SCRIPTS = [
  ...["bun", "deno", "esbuild", "fsevents", "sharp", "workerd"],
  // Of Parcel and Jest.
  ...["@parcel/watcher", "@swc/core", "lmdb", "msgpackr-extract"],
];

async function readLock(folder) {
  return JSON.parse(await readFile(join(ROOT, folder, "package-lock.json"), "utf8"));
}

for (const folder of FOLDERS) {
  test(`the lock file of ${folder} has a hash for every package and no source but npm's registry`, async () => {
    const { packages } = await readLock(folder);
    const external = Object.entries(packages).filter(
      ([path, { link }]) => path.includes("node_modules/") && !link,
    );
    assert.ok(external.length > 0);
    for (const [path, { integrity, resolved = "https://registry.npmjs.org/" }] of external) {
      assert.match(integrity ?? "", /^sha512-/, path);
      assert.ok(resolved.startsWith("https://registry.npmjs.org/"), `${path}: ${resolved}`);
    }
  });

  test(`only allowed packages of ${folder} have an install script`, async () => {
    const { packages } = await readLock(folder);
    const running = Object.entries(packages)
      .filter(([, { hasInstallScript }]) => hasInstallScript)
      .map(([path]) => path.split("node_modules/").at(-1));
    const unexpected = running.filter((name) => !ALLOWED_SCRIPTS.includes(name));
    assert.deepEqual(unexpected, []);
  });
}

test("no package that the page ships has a known vulnerability", async (context) =>
  judge(context, await auditPackages({ cwd: ROOT, omitDev: ["--omit=dev"] })));

test("no package for building and testing has a known vulnerability", async (context) =>
  judge(context, await auditPackages({ cwd: ROOT })));

test("every installed package has a valid signature of the registry", async (context) =>
  judge(context, await auditSignatures(ROOT)));

describe("audits", () => {
  test("an audit with findings fails, even without AUDIT=required", async (context) => {
    const advisory = {
      ...{ id: 1, url: "https://registry.example/advisory", title: "An advisory of this test" },
      ...{ severity: "low", vulnerable_versions: "*" },
    };
    const registry = await startRegistry(context, { preact: [advisory] });
    const options = { cwd: ROOT, omitDev: ["--omit=dev"], registry: registry.url };
    const verdict = await auditPackages(options);
    assert.ok(registry.requested.includes("preact"), "the audit covers the shipped packages");
    assert.equal(verdict.isAvailable, true, verdict.reason);
    assert.match(verdict.findings.join("\n"), /preact .*An advisory of this test/);
    assert.throws(() => judge(context, verdict), /An advisory of this test/);
  });

  test("an audit without findings passes", async (context) => {
    const { url } = await startRegistry(context, {});
    const verdict = await auditPackages({ cwd: ROOT, registry: url });
    assert.deepEqual(verdict, { isAvailable: true, findings: [] });
  });

  test("an audit without a response is unavailable, not passed", () => {
    const outputs = [
      { code: 1, stdout: '{"message":"405 Method Not Allowed"}', stderr: "" },
      { code: 1, stdout: '{"error":{"summary":"no network"}}', stderr: "" },
      { code: 0, stdout: "", stderr: "" },
      { code: 1, stdout: "<html>", stderr: "npm error ENOTFOUND" },
      { code: 0, stdout: "{}", stderr: "" },
    ];
    for (const output of outputs) {
      assert.equal(readAudit(output).isAvailable, false, output.stdout);
      assert.equal(readSignatures(output).isAvailable, false, output.stdout);
    }
  });

  test("the signature audit finds invalid and missing signatures", () => {
    const entry = { name: "x", version: "1.0.0" };
    const stdout = JSON.stringify({ invalid: [entry], missing: [entry] });
    const { findings } = readSignatures({ code: 1, stdout, stderr: "" });
    assert.deepEqual(findings, ["x@1.0.0: invalid signature", "x@1.0.0: missing signature"]);
  });
});

async function startRegistry(context, advisories) {
  const requested = [];
  const { url, stop } = await listen(async (request, response) => {
    const body = await buffer(request);
    const isZipped = request.headers["content-encoding"] === "gzip";
    if (request.url === "/-/npm/v1/security/advisories/bulk") {
      requested.push(...Object.keys(JSON.parse(isZipped ? gunzipSync(body) : body)));
      response.setHeader("content-type", "application/json").end(JSON.stringify(advisories));
    } else {
      response.writeHead(404).end("{}");
    }
  });
  context.after(stop);
  return { url: `${url}/`, requested };
}
