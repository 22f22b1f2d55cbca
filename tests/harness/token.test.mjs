/** The command that mints access tokens. */
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { runScript } from "./command.mjs";
import { newSecret, SCOPES } from "./token.mjs";

const SECRET = "an-old-secret-with-more-than-32-bytes-in-it";
const GRANT = ["--sub", "alice", "--project", "demo-docs", "--scope", "jobs:read"];

/** Runs the command with the secret in its variable, or without it for `null`. */
function token(args, { secret = SECRET, input } = {}) {
  return runScript("token.mjs", args, {
    env: { ACCESS_TOKEN_SECRET: secret ?? undefined },
    input,
  });
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

test("prints only a signed token with the requested claims on stdout", async () => {
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

test("mints a token with a unique id that expires after 30 days by default", async () => {
  const { claims } = decode((await token(GRANT)).stdout.trim());
  assert.match(claims.jti, /^[\w-]{16}$/);
  assert.notEqual(decode((await token(GRANT)).stdout.trim()).claims.jti, claims.jti);
  assert.equal(claims.exp - claims.iat, 30 * 24 * 3600);
});

test("mints a token with one quota for all policies or one for each", async () => {
  const quota = async (...args) =>
    decode((await token([...GRANT, ...args])).stdout.trim()).claims.quota;
  assert.equal(await quota(), undefined);
  assert.equal(await quota("--quota", "10"), 10);
  assert.deepEqual(await quota("--quota", "create-job=10", "--quota", "analytics=0"), {
    "create-job": 10,
    analytics: 0,
  });
});

test("requires a project unless the only scope is gateway:operate", async () => {
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

test("reads the secret from stdin when the variable is not set", async () => {
  const { stdout } = await token(GRANT, { secret: null, input: `${SECRET}\n` });
  assert.ok(decode(stdout.trim()).isSignedWith(SECRET));
});

test("accepts a lifetime of at most 90 days", async () => {
  const { claims } = decode((await token([...GRANT, "--ttl", "90d"])).stdout.trim());
  assert.equal(claims.exp - claims.iat, 90 * 24 * 3600);
  const { code, stderr } = await token([...GRANT, "--ttl", `${90 * 24 * 3600 + 1}s`]);
  assert.equal(code, 2);
  assert.match(stderr, /at most 90d/);
});

const REJECTED = [
  ["a short secret", GRANT, { secret: "x".repeat(31) }, /at least 32 bytes/],
  ["a short first secret", GRANT, { secret: `short,${SECRET}` }, /at least 32 bytes/],
  ["a missing secret", GRANT, { secret: null }, /no secret/],
  ["a missing subject", GRANT.slice(2), {}, /--sub is missing/],
  ["a missing project", GRANT.toSpliced(2, 2), {}, /--project is missing/],
  ["an empty project", [...GRANT, "--project", ""], {}, /--project is missing/],
  ["a missing scope", GRANT.slice(0, 4), {}, /--scope is missing/],
  ["an unknown scope", [...GRANT, "--scope", "jobs:delete"], {}, /unknown scope jobs:delete/],
  ["a malformed lifetime", [...GRANT, "--ttl", "soon"], {}, /--ttl soon is not a duration/],
  ["a lifetime of zero", [...GRANT, "--ttl", "0d"], {}, /more than nothing/],
  [
    "a quota for an unknown policy",
    [...GRANT, "--quota", "frob=3"],
    {},
    /there are create-job, send-/,
  ],
  [
    "an invalid project",
    [...GRANT, "--project", "ac me"],
    {},
    /--project can contain only letters/,
  ],
  ["a negative quota", [...GRANT, "--quota=-1"], {}, /--quota is a number/],
  [
    "a mix of one quota and a quota per policy",
    [...GRANT, "--quota", "1", "--quota", "analytics=1"],
    {},
    /--quota is one number/,
  ],
  ["an unknown flag", [...GRANT, "--admin"], {}, /unknown flag --admin/],
  ["an empty id", [...GRANT, "--jti", ""], {}, /--jti must not be empty/],
  ["a flag without its value", [...GRANT, "--jti"], {}, /--jti is used wrongly/],
];

for (const [what, args, options, message] of REJECTED) {
  test(`rejects ${what}`, async () => {
    const { code, stdout, stderr } = await token(args, options);
    assert.equal(code, 2);
    assert.equal(stdout, "");
    assert.match(stderr, message);
  });
}

test("does not print a secret that was passed as an argument", async () => {
  for (const args of [[SECRET], [`--secret=${SECRET}`], ["--secret", SECRET]]) {
    const { code, stderr } = await token([...GRANT, ...args]);
    assert.equal(code, 2);
    assert.ok(!stderr.includes(SECRET), stderr);
  }
});

test("prints a new secret of 48 bytes each time", async () => {
  const [{ stdout: one, code }, { stdout: two }] = await Promise.all([
    token(["--new-secret"], { secret: null }),
    token(["--new-secret"], { secret: null }),
  ]);
  assert.equal(code, 0);
  assert.equal(Buffer.from(one.trim(), "base64url").length, 48);
  assert.notEqual(one, two);
});
