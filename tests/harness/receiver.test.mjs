/**
 * Tests the check that webhook tests apply to signatures. A check that accepts everything would
 * prove nothing.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { signatureOf, signatureProblem, verify } from "./receiver.mjs";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const OTHER_SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const NOW = { now: 1614265330 };

/**
 * Builds the signed delivery of the Standard Webhooks example, with changes after its signature.
 */
function delivery(changes = {}) {
  const raw = Buffer.from('{"test": 2432232314}');
  const signed = { id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: "1614265330", raw };
  const headers = {
    "webhook-id": signed.id,
    "webhook-timestamp": signed.timestamp,
    "webhook-signature": signatureOf(SECRET, signed),
    ...changes.headers,
  };
  return { headers, raw: changes.raw ?? raw };
}

test("accepts the published example of Standard Webhooks", () => {
  assert.equal(
    delivery().headers["webhook-signature"],
    "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  );
  assert.ok(verify(delivery(), SECRET, NOW));
});

test("accepts a list of signatures if one is valid and has the right version", () => {
  const valid = delivery().headers["webhook-signature"];
  const list = (text) => delivery({ headers: { "webhook-signature": text } });
  assert.ok(verify(list(`v1,AAAA v1a,BBBB ${valid}`), SECRET, NOW));
  assert.ok(!verify(list("v1,AAAA"), SECRET, NOW));
  assert.ok(!verify(list(valid.replace("v1,", "v2,")), SECRET, NOW));
  assert.ok(!verify(list(valid.slice(3)), SECRET, NOW));
});

test("rejects a delivery signed with another secret, body, id or timestamp", () => {
  assert.equal(signatureProblem(delivery(), OTHER_SECRET, NOW), "no signature is valid");
  for (const changes of [
    { raw: Buffer.from("{}") },
    { headers: { "webhook-id": "msg_2" } },
    { headers: { "webhook-timestamp": "1614265331" } },
  ]) {
    assert.equal(signatureProblem(delivery(changes), SECRET, NOW), "no signature is valid");
  }
});

test("rejects a timestamp outside the tolerance, in the past or the future", () => {
  for (const distance of [300, -300]) {
    assert.ok(verify(delivery(), SECRET, { now: NOW.now + distance }));
    assert.ok(!verify(delivery(), SECRET, { now: NOW.now + distance * 1.01 }));
  }
  assert.ok(verify(delivery(), SECRET, { now: NOW.now + 900, toleranceSeconds: 900 }));
  assert.match(signatureProblem(delivery(), SECRET), /outside the tolerance/);
});

test("rejects missing headers, a malformed timestamp and a malformed secret", () => {
  for (const name of ["webhook-id", "webhook-timestamp", "webhook-signature"]) {
    const incomplete = delivery({ headers: { [name]: undefined } });
    assert.match(signatureProblem(incomplete, SECRET, NOW), /missing/);
  }
  const malformed = delivery({ headers: { "webhook-timestamp": "1e9" } });
  assert.match(signatureProblem(malformed, SECRET, NOW), /not a number/);
  assert.throws(() => verify(delivery(), "plain", NOW), /starts with whsec_/);
});
