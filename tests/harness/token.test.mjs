import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { accessClaims, mintToken, newSecret, SCOPES } from "./token.mjs";

const SCRIPT = fileURLToPath(new URL("../../scripts/token.mjs", import.meta.url));
const SECRET = "an-old-secret-with-more-than-32-bytes-in-it";
const GRANT = ["--sub", "alice", "--project", "demo-docs", "--scope", "jobs:read"];

/** Runs the command; `secret` is its variable, `input` what is piped to it. */
async function token(args, { secret = SECRET, input = "" } = {}) {
  const { ACCESS_TOKEN_SECRET: _inherited, ...env } = process.env;
  if (secret) env.ACCESS_TOKEN_SECRET = secret;
  const child = spawn(process.execPath, [SCRIPT, ...args], { env });
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"]) {
    child[name].setEncoding("utf8").on("data", (text) => {
      output[name] += text;
    });
  }
  child.stdin.on("error", () => {}).end(input);
  const [code] = await once(child, "close");
  return { code, ...output };
}

function decode(jwt) {
  const [header, claims, signature] = jwt.split(".");
  return {
    header: JSON.parse(Buffer.from(header, "base64url")),
    claims: JSON.parse(Buffer.from(claims, "base64url")),
    isSignedWith: (secret) =>
      createHmac("sha256", secret).update(`${header}.${claims}`).digest("base64url") === signature,
  };
}

test("prints nothing but a signed token with the claims asked for", async () => {
  const before = Math.floor(Date.now() / 1000);
  const { code, stdout, stderr } = await token([
    ...["--sub", "alice", "--project", "demo-docs", "--project", "other"],
    ...["--scope", SCOPES.join(" "), "--ttl", "12h", "--jti", "one"],
  ]);
  assert.equal(code, 0);
  assert.match(stderr, /^id \(jti\) {2}one\nsubject {3}alice\nprojects {2}demo-docs, other\n/);
  assert.match(stdout, /^[\w-]+\.[\w-]+\.[\w-]+\n$/);

  const { header, claims, isSignedWith } = decode(stdout.trim());
  assert.deepEqual(header, { alg: "HS256", typ: "JWT" });
  assert.ok(isSignedWith(SECRET));
  const { iat, exp, ...others } = claims;
  assert.deepEqual(others, {
    iss: "quillgate",
    sub: "alice",
    projects: ["demo-docs", "other"],
    scope: SCOPES.join(" "),
    jti: "one",
  });
  assert.ok(iat >= before && iat <= before + 60);
  assert.equal(exp - iat, 12 * 3600);
});

test("has an id of its own and lives 30 days unless told", async () => {
  const { claims } = decode((await token(GRANT)).stdout.trim());
  assert.match(claims.jti, /^[\w-]{16}$/);
  assert.notEqual(decode((await token(GRANT)).stdout.trim()).claims.jti, claims.jti);
  assert.equal(claims.exp - claims.iat, 30 * 24 * 3600);
});

test("carries a quota: one number, or one for each policy", async () => {
  const quota = async (...args) =>
    decode((await token([...GRANT, ...args])).stdout.trim()).claims.quota;
  assert.equal(await quota(), undefined);
  assert.equal(await quota("--quota", "10"), 10);
  assert.deepEqual(await quota("--quota", "create-job=10", "--quota", "analytics=0"), {
    "create-job": 10,
    analytics: 0,
  });
});

test("an operator's token needs no project, with any other scope it does", async () => {
  const operator = ["--sub", "alice", "--scope", "gateway:operate"];
  const { claims } = decode((await token(operator)).stdout.trim());
  assert.deepEqual([claims.scope, claims.projects], ["gateway:operate", []]);
  assert.equal((await token([...operator, "--scope", "jobs:read"])).code, 2);
});

test("signs with the first of several secrets", async () => {
  const { stdout } = await token(GRANT, { secret: `${newSecret()},${SECRET}` });
  assert.ok(!decode(stdout.trim()).isSignedWith(SECRET));
  const { stdout: other } = await token(GRANT, { secret: `${SECRET},${newSecret()}` });
  assert.ok(decode(other.trim()).isSignedWith(SECRET));
});

test("reads the secret from standard input when the variable is not set", async () => {
  const { stdout } = await token(GRANT, { secret: null, input: `${SECRET}\n` });
  assert.ok(decode(stdout.trim()).isSignedWith(SECRET));
});

test("accepts 90 days and not a second more", async () => {
  const { claims } = decode((await token([...GRANT, "--ttl", "90d"])).stdout.trim());
  assert.equal(claims.exp - claims.iat, 90 * 24 * 3600);
  const { code, stderr } = await token([...GRANT, "--ttl", `${90 * 24 * 3600 + 1}s`]);
  assert.equal(code, 2);
  assert.match(stderr, /at most 90d/);
});

const REFUSED = [
  ["a short secret", GRANT, { secret: "x".repeat(31) }, /at least 32 bytes/],
  ["a short first secret", GRANT, { secret: `short,${SECRET}` }, /at least 32 bytes/],
  ["no secret", GRANT, { secret: null }, /no secret/],
  ["no subject", GRANT.slice(2), {}, /--sub is missing/],
  ["no project", GRANT.toSpliced(2, 2), {}, /--project is missing/],
  ["an empty project", [...GRANT, "--project", ""], {}, /--project is missing/],
  ["no scope", GRANT.slice(0, 4), {}, /--scope is missing/],
  ["an unknown scope", [...GRANT, "--scope", "jobs:delete"], {}, /unknown scope jobs:delete/],
  ["a lifetime that is none", [...GRANT, "--ttl", "soon"], {}, /--ttl soon is no duration/],
  ["an empty lifetime", [...GRANT, "--ttl", "0d"], {}, /more than nothing/],
  ["a quota of no policy", [...GRANT, "--quota", "frob=3"], {}, /there are create-job, send-/],
  ["a project that none is called", [...GRANT, "--project", "ac me"], {}, /--project must have/],
  ["a quota below nothing", [...GRANT, "--quota=-1"], {}, /--quota is a number/],
  [
    "mixed quotas",
    [...GRANT, "--quota", "1", "--quota", "analytics=1"],
    {},
    /--quota is one number/,
  ],
  ["an unknown flag", [...GRANT, "--admin"], {}, /unknown flag --admin/],
  ["an empty id", [...GRANT, "--jti", ""], {}, /--jti must not be empty/],
  ["a flag without its value", [...GRANT, "--jti"], {}, /--jti is used wrongly/],
];

for (const [what, args, options, message] of REFUSED) {
  test(`refuses ${what}`, async () => {
    const { code, stdout, stderr } = await token(args, options);
    assert.equal(code, 2);
    assert.equal(stdout, "");
    assert.match(stderr, message);
  });
}

test("does not repeat a secret that was passed as an argument", async () => {
  for (const args of [[SECRET], [`--secret=${SECRET}`], ["--secret", SECRET]]) {
    const { code, stderr } = await token([...GRANT, ...args]);
    assert.equal(code, 2);
    assert.ok(!stderr.includes(SECRET), stderr);
  }
});

test("makes a new secret of 48 bytes each time", async () => {
  const [{ stdout: one, code }, { stdout: two }] = await Promise.all([
    token(["--new-secret"], { secret: null }),
    token(["--new-secret"], { secret: null }),
  ]);
  assert.equal(code, 0);
  assert.equal(Buffer.from(one.trim(), "base64url").length, 48);
  assert.notEqual(one, two);
});

test("a suite can mint tokens of its own, good and bad", () => {
  const grant = { sub: "alice", projects: ["demo-docs"], scope: "jobs:read", now: 1000 };
  const claims = accessClaims({ ...grant, ttlSeconds: 60 });
  assert.deepEqual([claims.iat, claims.exp], [1000, 1060]);
  assert.deepEqual(decode(mintToken({ sub: 1 }, SECRET)).claims, { sub: 1 });
});
