/** The operator's commands: token mint, config check and init. */
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, test } from "node:test";
import { POLICIES, SCOPES } from "../../pkg/cli/access_token.js";
import { COMMANDS } from "../../pkg/dist/cli/commands.js";
import { OPERATIONS } from "../../pkg/dist/cli/generated/operations.js";
import { ROUTES } from "../../pkg/dist/generated/routes.js";
import { assertFailed, runCommand } from "./command_line.mjs";
import { installGatewayPackage } from "./session.mjs";

const SECRET = "an-old-secret-with-more-than-32-bytes-in-it";
const GRANT = ["--sub", "alice", "--project", "demo-docs", "--scope", "jobs:read"];
let folder;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "quillgate-operator-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("token mint", () => {
  const mint = (args, options = {}) =>
    runCommand(["token", "mint", ...args], { env: { ACCESS_TOKEN_SECRET: SECRET }, ...options });

  function decode(jwt) {
    const [header, claims, signature] = jwt.trim().split(".");
    const signed = createHmac("sha256", SECRET).update(`${header}.${claims}`).digest("base64url");
    assert.equal(signature, signed);
    const algorithm = JSON.parse(Buffer.from(header, "base64url"));
    assert.deepEqual(algorithm, { alg: "HS256", typ: "JWT" });
    return JSON.parse(Buffer.from(claims, "base64url"));
  }

  test("token mint knows the scopes and the policies of all operations", () => {
    const unique = (names) => [...new Set(names)].sort();
    assert.deepEqual(unique(OPERATIONS.map(({ scope }) => scope)), unique(SCOPES));
    const policies = ROUTES.flatMap(({ policy }) => policy ?? []);
    assert.deepEqual(unique(policies), unique(POLICIES));
    const { options } = COMMANDS.find(({ name }) => name === "token mint");
    for (const name of SCOPES) assert.ok(options.scope.summary.includes(name), name);
    for (const name of POLICIES) assert.ok(options.quota.summary.includes(name), name);
  });

  test("token mint prints only a signed token with the requested claims", async () => {
    const more = ["--project", "other", "--quota", "create-job=10", "--ttl", "12h", "--jti", "one"];
    const before = Math.floor(Date.now() / 1000);
    const grant = [...GRANT.slice(0, 4), "--scope", SCOPES.join(" ")];
    const { code, stdout, stderr } = await mint([...grant, ...more]);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^[\w-]+\.[\w-]+\.[\w-]+\n$/);
    const { iat, exp, ...claims } = decode(stdout);
    assert.ok(iat >= before && iat <= before + 60);
    assert.equal(exp - iat, 12 * 3600);
    assert.deepEqual(claims, {
      ...{ iss: "quillgate", sub: "alice", projects: ["demo-docs", "other"] },
      ...{ scope: SCOPES.join(" "), jti: "one", quota: { "create-job": 10 } },
    });
  });

  test("token mint describes the token on standard error", async () => {
    const more = ["--project", "other", "--jti", "one"];
    const { stdout, stderr } = await mint([...GRANT, ...more]);
    const expiresAt = new Date(decode(stdout).exp * 1000).toISOString();
    assert.deepEqual(stderr.split("\n"), [
      "id (jti)  one",
      "subject   alice",
      "projects  demo-docs, other",
      "scope     jobs:read",
      `expires   ${expiresAt}`,
      "",
    ]);
    assert.ok(!stderr.includes(stdout.trim()));
    assert.equal((await mint([...GRANT, "--quiet"])).stderr, "");

    const json = await mint([...GRANT, "--json"]);
    const { token, ...rest } = JSON.parse(json.stdout);
    const { jti, exp } = decode(token);
    assert.equal(json.stderr, "");
    assert.deepEqual(rest, {
      ...{ jti, sub: "alice", projects: ["demo-docs"], scope: "jobs:read" },
      expiresAt: new Date(exp * 1000).toISOString(),
    });
  });

  test("token mint reads the secret from standard input", async () => {
    const { stdout } = await mint(GRANT, { env: {}, input: `${SECRET}\n` });
    assert.equal(decode(stdout).sub, "alice");
  });

  test("token mint --new-secret prints a new secret of 48 bytes each time", async () => {
    const { stdout: one } = await mint(["--new-secret"], { env: {} });
    const { stdout: two } = await mint(["--new-secret"], { env: {} });
    assert.equal(Buffer.from(one.trim(), "base64url").length, 48);
    assert.notEqual(one, two);
  });

  test("token mint rejects invalid claims before it reads the secret", async () => {
    const quota = (count) => ["--quota", `create-job=${count}`];
    const noPolicy = /no such policy; there are create-job, send-message, analytics, read-jobs/;
    for (const [args, message] of [
      [GRANT.slice(2), /--sub is missing/],
      [GRANT.toSpliced(2, 2), /--project is missing/],
      [[...GRANT, "--scope", "jobs:delete"], /unknown scope jobs:delete/],
      [[...GRANT, "--ttl", "91d"], /--ttl is at most 90d/],
      [[...GRANT, "--jti", ""], /--jti must not be empty/],
      [[...GRANT, "--quota", "frob=3"], noPolicy],
      [[...GRANT, ...quota(5), ...quota(6)], /--quota has create-job twice/],
      [[...GRANT, "--project", "ac me"], /--project can contain only letters, digits/],
      [[...GRANT, "--project", ".."], /--project can contain only letters, digits/],
      [[...GRANT, "--project", "one,other"], /repeat it for several ids/],
    ]) {
      const refused = await mint(args, { env: {} });
      assertFailed(refused, 2, message);
      assert.equal(refused.stdout, "");
    }
    const short = await mint(GRANT, { env: { ACCESS_TOKEN_SECRET: "short" } });
    assertFailed(short, 2, /at least 32 bytes/);
    const missing = await mint(GRANT, { env: {} });
    assertFailed(missing, 2, /no secret: set ACCESS_TOKEN_SECRET or pipe it to stdin/);
  });
});

describe("config check", () => {
  const check = (...args) => runCommand(["config", "check", ...args], { folder });

  test("config check reports a missing wrangler.toml before a missing package", async () => {
    const { code, stdout, stderr } = await check();
    assert.deepEqual([code, stdout], [2, ""]);
    assert.ok(stderr.includes(`there is no wrangler.toml in ${folder}`), stderr);
    assert.doesNotMatch(stderr, /install/);
  });

  test("config check prints how to install the gateway's package", async () => {
    writeFileSync(join(folder, "wrangler.toml"), "");
    assertFailed(await check(), 2, /npm install --save-dev quillgate-gateway/);
  });

  test("config check lists problems and exits with code 10", async () => {
    installGatewayPackage(
      folder,
      "check",
      `export async function checkConfig({ env, ...files }) {
        if (env === "production") throw Object.assign(new Error("no such environment"), { name: "CheckError" });
        const problems = env === "staging" ? [{ name: "TRUSTED_ISSUER", message: "is not a variable" }] : [];
        return { problems, count: env === "one" ? 1 : 5, unchecked: ["ADMIN_API_KEY", JSON.stringify(files)] };
      }`,
    );
    const valid = await check();
    assert.deepEqual([valid.code, valid.stdout], [0, ""]);
    const unchecked = "not checked, because their values are unknown: ADMIN_API_KEY, {";
    assert.ok(valid.stderr.includes(`is valid, with 5 variables; ${unchecked}`), valid.stderr);
    assert.match((await check("--env", "one")).stderr, /is valid, with 1 variable/);
    const invalid = await check("--env", "staging");
    assert.deepEqual([invalid.code, invalid.stdout], [10, "TRUSTED_ISSUER is not a variable\n"]);
    const refused = await check("--env", "production");
    assert.deepEqual([refused.code, refused.stdout], [2, ""]);
    const json = await check("--config", "other.toml", "--secrets", ".dev.vars", "--json");
    assert.deepEqual(JSON.parse(JSON.parse(json.stdout).unchecked[1]), {
      configFile: join(folder, "other.toml"),
      secretsFile: join(folder, ".dev.vars"),
    });
  });
});

describe("init", () => {
  /** Writes shell scripts to the folder `tools`. */
  function writePrograms(programs) {
    const tools = join(folder, "tools");
    mkdirSync(tools);
    for (const [name, script] of Object.entries(programs)) {
      writeFileSync(join(tools, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    }
    return tools;
  }

  const init = (args, env = {}) => runCommand(["init", ...args], { folder, env });

  test("init runs the gateway's package of the same version through npx", async () => {
    const bin = writePrograms({ npx: 'printf "%s\\n" "$@" > npx-arguments\nexit 2' });
    const flags = ["--project", "acme", "--archive", "--json", "--quiet"];
    const { code } = await init(["my-gateway", ...flags], { PATH: bin });
    assert.equal(code, 2, "init returns the exit code of npx");
    const [gateway, own, ...rest] = readFileSync(join(folder, "npx-arguments"), "utf8").split("\n");
    const { stdout: version } = await runCommand(["--version"]);
    assert.equal(gateway, `--package=quillgate-gateway@${version.trim()}`);
    assert.equal(own, `--package=quillgate@${version.trim()}`);
    assert.deepEqual(rest, [
      ...["--", "quillgate", "init", "--project=acme", "--archive", "--json", "--quiet"],
      ...["--", "my-gateway", ""],
    ]);
    const missing = await init(["my-gateway"], { PATH: "/nonexistent" });
    const reason = /quillgate-gateway@\S+ is not installed here, and npx could not be started/;
    assertFailed(missing, 2, reason);
  });

  test("init --from uses tarballs, and names an unpublished package without it", async () => {
    const tools = writePrograms({
      npx: 'printf "%s\\n" "$@" > npx-arguments\nexit 1',
      npm: "echo npm error code E404 >&2\nexit 1",
    });
    const unpublished = await init(["my-gateway"], { PATH: tools });
    assertFailed(unpublished, 2, /is not published .*\(E404\)[\s\S]*--from FOLDER/);
    const missing = await init(["my-gateway", "--from", "tools"], { PATH: tools });
    assert.match(missing.stderr, /must contain one file quillgate-gateway-\*\.tgz, found 0/);
    const names = ["quillgate-gateway-0.1.0.tgz", "quillgate-0.1.0.tgz"];
    for (const name of names) writeFileSync(join(tools, name), "");
    assert.equal((await init(["my-gateway", "--from", "tools"], { PATH: tools })).code, 1);
    const given = readFileSync(join(folder, "npx-arguments"), "utf8").split("\n");
    const packages = names.map((name) => `--package=${join(tools, name)}`);
    assert.deepEqual(given.slice(0, 2), packages);
    assert.ok(given.includes("--from=tools"));
  });

  test("init passes its flags to the gateway's package and asks nothing without a terminal", async () => {
    installGatewayPackage(
      folder,
      "init",
      `export async function init({ directory, ...rest }) {
        if (rest.project === undefined) throw Object.assign(new Error("no project"), { name: "InitError" });
        return { directory, files: ["wrangler.toml", JSON.stringify(rest)] };
      }`,
    );
    const { code, stdout } = await init(["my-gateway", "--project", "acme", "--archive", "--json"]);
    assert.equal(code, 0);
    const { directory, files } = JSON.parse(stdout);
    assert.equal(directory, join(folder, "my-gateway"));
    assert.deepEqual(JSON.parse(files[1]), { project: "acme", archive: true });
    const without = await init(["my-gateway", "--project", "acme", "--no-archive", "--json"]);
    assert.equal(JSON.parse(JSON.parse(without.stdout).files[1]).archive, false);
    const spaced = await init(["Bob's Gateway", "--project", "acme"]);
    assert.ok(spaced.stderr.includes("next: cd 'Bob'\\''s Gateway', and"), spaced.stderr);
    assertFailed(await init(["my-gateway"]), 2, /quillgate: no project/);
  });
});
