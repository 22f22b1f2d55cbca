import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { signatureOf, signatureProblem, startReceiver, verify } from "./receiver.mjs";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const OTHER = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

const receiver = await startReceiver();
after(() => receiver.stop());
beforeEach(() => receiver.reset());

const post = (body, headers = {}, path = "/hook?x=1") =>
  fetch(`${receiver.url}${path}`, { method: "POST", body, headers });

test("keeps each delivery as it was sent", async () => {
  const response = await post('{ "a":\n1}', { "X-Some": "value" });
  assert.equal(response.status, 204);
  const [delivery] = receiver.deliveries;
  assert.equal(delivery.method, "POST");
  assert.equal(delivery.path, "/hook?x=1");
  assert.equal(delivery.headers["x-some"], "value");
  assert.ok(
    delivery.rawHeaders.some(([name, value]) => /^x-some$/i.test(name) && value === "value"),
  );
  assert.deepEqual(delivery.raw, Buffer.from('{ "a":\n1}'));
  assert.deepEqual([delivery.number, delivery.json], [0, { a: 1 }]);
  assert.ok(receiver.connections > 0);
});

test("answers in the told order and then as always", async () => {
  receiver.answer(500, { status: 429, headers: { "retry-after": "7" }, body: "later" });
  receiver.answerAlways(410);
  const answers = [];
  for (let n = 0; n < 4; n += 1) answers.push(await post("x"));
  assert.deepEqual(
    answers.map(({ status }) => status),
    [500, 429, 410, 410],
  );
  assert.equal(answers[1].headers.get("retry-after"), "7");
  assert.equal(await answers[1].text(), "later");
});

test("can answer late, never, or by ending the connection", async () => {
  receiver.answer({ delayMs: 60 }, { hang: true }, { reset: true });
  const begun = performance.now();
  assert.equal((await post("x")).status, 204);
  assert.ok(performance.now() - begun >= 59);
  const signal = AbortSignal.timeout(60);
  await assert.rejects(fetch(receiver.url, { method: "POST", signal }), /timeout/i);
  await assert.rejects(post("x"));
  assert.equal(receiver.deliveries.length, 3);
});

test("gives each delivery once, the waiting ones too", async () => {
  const waiting = receiver.next(({ text }) => text === "b");
  for (const body of ["a", "b", "c"]) await post(body);
  assert.equal((await waiting).text, "b");
  assert.equal((await receiver.next()).text, "a");
  assert.equal((await receiver.next()).text, "c");
  await assert.rejects(receiver.next(undefined, 20), /no such delivery within 20 ms; 3 came/);
});

/** A delivery with a signature that is good unless changed. */
function signed(changes = {}) {
  const raw = Buffer.from('{"test": 2432232314}');
  const parts = { id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: "1614265330", raw };
  const headers = {
    "webhook-id": parts.id,
    "webhook-timestamp": parts.timestamp,
    "webhook-signature": signatureOf(SECRET, parts),
    ...changes.headers,
  };
  return { headers, raw: changes.raw ?? raw };
}

const NOW = { now: 1614265330 };

test("makes the signature of the published example", () => {
  assert.equal(
    signed().headers["webhook-signature"],
    "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  );
  assert.ok(verify(signed(), SECRET, NOW));
});

test("one fitting signature of a list is enough", () => {
  const good = signed().headers["webhook-signature"];
  const list = (text) => signed({ headers: { "webhook-signature": text } });
  assert.ok(verify(list(`v1,AAAA v1a,BBBB ${good}`), SECRET, NOW));
  assert.ok(!verify(list("v1,AAAA"), SECRET, NOW));
  assert.ok(!verify(list(good.replace("v1,", "v2,")), SECRET, NOW));
  assert.ok(!verify(list(good.slice(3)), SECRET, NOW));
});

test("another secret, another body, another id or time do not fit", () => {
  assert.equal(signatureProblem(signed(), OTHER, NOW), "no signature fits");
  for (const changes of [
    { raw: Buffer.from("{}") },
    { headers: { "webhook-id": "msg_2" } },
    { headers: { "webhook-timestamp": "1614265331" } },
  ]) {
    assert.equal(signatureProblem(signed(changes), SECRET, NOW), "no signature fits");
  }
});

test("a timestamp may be as far away as the tolerance, either way", () => {
  for (const away of [300, -300]) {
    assert.ok(verify(signed(), SECRET, { now: NOW.now + away }));
    assert.ok(!verify(signed(), SECRET, { now: NOW.now + away * 1.01 }));
  }
  assert.ok(verify(signed(), SECRET, { now: NOW.now + 900, toleranceSeconds: 900 }));
  assert.match(signatureProblem(signed(), SECRET), /too far away/);
});

test("what is missing or malformed is said", () => {
  for (const name of ["webhook-id", "webhook-timestamp", "webhook-signature"]) {
    const delivery = signed({ headers: { [name]: undefined } });
    assert.match(signatureProblem(delivery, SECRET, NOW), /missing/);
  }
  const delivery = signed({ headers: { "webhook-timestamp": "1e9" } });
  assert.match(signatureProblem(delivery, SECRET, NOW), /no number/);
  assert.throws(() => verify(signed(), "plain", NOW), /begins with whsec_/);
});
