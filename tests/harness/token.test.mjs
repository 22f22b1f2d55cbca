/** The command that mints access tokens. */
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { runScript } from "./command.mjs";
import { SCOPES } from "./token.mjs";

const SECRET = "an-old-secret-with-more-than-32-bytes-in-it";
const GRANT = ["--sub", "alice", "--project", "demo-docs", "--scope", "jobs:read"];

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

test("does not print a secret that was passed as an argument", async () => {
  for (const args of [[SECRET], [`--secret=${SECRET}`], ["--secret", SECRET]]) {
    const { code, stderr } = await token([...GRANT, ...args]);
    assert.equal(code, 2);
    assert.ok(!stderr.includes(SECRET), stderr);
  }
});
