/** `quillgate/webhooks`. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { build, transform } from "esbuild";
import { Miniflare, NoOpLog } from "miniflare";
import { isQuillgateError } from "quillgate";
import { unwrap, WebhookVerificationError } from "quillgate/webhooks";
import { ROOT } from "../../scripts/versions.mjs";
import { deriveKeys } from "../../scripts/webhook_key.mjs";
import { JOBS, PROJECT, startGate } from "../gateway/recorded_gateway.mjs";
import { signatureOf, startReceiver } from "../harness/receiver.mjs";
import { launchBrowser } from "../page/browser.mjs";
import { checkWebhooks } from "./webhooks/checks.mjs";

/** Values from the test suites of Standard Webhooks. */
const SECRET = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const KEY = `whsec_${SECRET}`;
const ID = "msg_p5jXN8AQM9LWM0D4loKWxJek";
const SECONDS = 1_614_265_330;
const VECTOR_BODY = '{"test": 2432232314}';
const VECTOR_SIGNATURE = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
const OTHER_SIGNATURE = "v1,Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc=";

const TOLERANCE = 300_000;
const now = () => SECONDS * 1000;
const newKey = () => `whsec_${randomBytes(32).toString("base64")}`;

const EVENT = {
  type: "agent_job.completed",
  timestamp: "2021-02-25T15:02:10.000Z",
  project: "acme",
  webhookUrl: "https://hooks.example/quillgate",
  data: { id: "j1", status: "completed", prLink: "https://github.example/pull/1" },
};
const BODY = JSON.stringify(EVENT);

const headersOf = (signature, seconds = SECONDS) => ({
  "webhook-id": ID,
  "webhook-timestamp": String(seconds),
  "webhook-signature": signature,
});

function signed(body = BODY, { key = KEY, seconds = SECONDS } = {}) {
  return headersOf(signatureOf(key, { id: ID, timestamp: seconds, raw: body }), seconds);
}

async function assertRejected(rule, body, headers, key = KEY, options = { now }) {
  await assert.rejects(unwrap(body, headers, key, options), (error) => {
    assert.ok(error instanceof WebhookVerificationError, String(error));
    assert.ok(isQuillgateError(error));
    assert.equal(error.name, "WebhookVerificationError");
    assert.equal(error.rule, rule, error.message);
    assert.ok(!error.message.includes(SECRET), "the message contains the key");
    return true;
  });
}

describe("the vectors of Standard Webhooks", () => {
  /** A vector with a valid signature breaks only the rule `event`: its body is not an event. */
  const accepts = (signature, key = KEY, options = { now }) =>
    assertRejected("event", VECTOR_BODY, headersOf(signature), key, options);
  const rejects = (rule, fields, options = { now }) =>
    assertRejected(rule, VECTOR_BODY, { ...headersOf(VECTOR_SIGNATURE), ...fields }, KEY, options);

  test("accepts the published signature, with a key with or without its prefix", async () => {
    await accepts(VECTOR_SIGNATURE, KEY);
    await accepts(VECTOR_SIGNATURE, SECRET);
  });

  test("accepts a key whose base64 has no padding", async () => {
    for (const secret of [`${SECRET}BrA`, `${SECRET}Br`]) {
      const { "webhook-signature": signature } = signed(VECTOR_BODY, { key: `whsec_${secret}` });
      await accepts(signature, secret);
    }
  });

  test("accepts one valid signature among others and other versions", async () => {
    const v2 = OTHER_SIGNATURE.replace("v1", "v2");
    await accepts([OTHER_SIGNATURE, v2, VECTOR_SIGNATURE, OTHER_SIGNATURE].join(" "));
  });

  test("accepts one valid signature among several header fields", async () => {
    for (const signatures of [
      [OTHER_SIGNATURE, VECTOR_SIGNATURE],
      [VECTOR_SIGNATURE, OTHER_SIGNATURE],
    ]) {
      await accepts(signatures);
      for (const separator of [", ", ",", "  "]) await accepts(signatures.join(separator));
      const headers = new Headers(headersOf(signatures[0]));
      headers.append("webhook-signature", signatures[1]);
      await assertRejected("event", VECTOR_BODY, headers);
    }
    await rejects("signature", { "webhook-signature": [OTHER_SIGNATURE, OTHER_SIGNATURE] });
  });

  test("rejects an empty or short key", async () => {
    const short = Buffer.alloc(23, "k").toString("base64");
    for (const key of ["", "whsec_", "whsec_ ", `whsec_${short}`, [undefined], null, []]) {
      await assertRejected("key", VECTOR_BODY, headersOf(VECTOR_SIGNATURE), key);
    }
    const unset = unwrap(VECTOR_BODY, headersOf(VECTOR_SIGNATURE), process.env.UNSET_WEBHOOK_KEY);
    await assert.rejects(unset, { rule: "key" });
  });

  test("rejects a message without one of its headers", async () => {
    for (const name of Object.keys(headersOf(""))) {
      await rejects("headers", { [name]: undefined });
      await rejects("headers", { [name]: "" });
    }
  });

  test("rejects a timestamp that is not an integer", async () => {
    for (const text of ["hello", "1614265330.5", "-1614265330", "0x60", "1e9", " 1614265330"]) {
      await rejects("timestamp", { "webhook-timestamp": text });
    }
  });

  test("rejects invalid and partial signatures", async () => {
    const partial = VECTOR_SIGNATURE.slice(0, 8);
    for (const signature of [partial, "v1,dawfeoifkpqwoekfpqoekf", "v1,", "v1", "v1,%"])
      await rejects("signature", { "webhook-signature": signature });
  });
});

describe("a webhook of the gateway", () => {
  test("returns a typed event, with null for the fields that Mintlify left out", async () => {
    const event = await unwrap(BODY, signed(), KEY, { now });
    const job = { source: null, model: null, createdAt: null, archivedAt: null, ...EVENT.data };
    assert.deepEqual(event, { id: ID, ...EVENT, data: job });
  });

  test("returns the deployment of an event about one, and whether it is live", async () => {
    const data = { _id: "s1", status: "failure", logs: ["Failed to build"] };
    for (const [type, given, isLive] of [
      ["deployment.ended", false, false],
      ["deployment.ended", true, true],
      ["deployment.unfinished", undefined, null],
    ]) {
      const body = JSON.stringify({ ...EVENT, type, isLive: given, data });
      const event = await unwrap(body, signed(body), KEY, { now });
      assert.deepEqual([event.type, event.isLive], [type, isLive]);
      assert.deepEqual([event.data._id, event.data.summary], ["s1", null]);
    }
    const body = JSON.stringify({ ...EVENT, type: "deployment.ended", data: { logs: "x" } });
    await assert.rejects(unwrap(body, signed(body), KEY, { now }), /data\.logs must be an array/);
  });

  test("reads a webhook from a string, bytes and a view into a larger buffer", async () => {
    const buffer = Buffer.from(`--${BODY}--`);
    const view = buffer.subarray(2, -2);
    const copy = Uint8Array.from(view);
    for (const body of [BODY, view, copy, copy.buffer]) {
      assert.equal((await unwrap(body, signed(), KEY, { now })).data.id, "j1");
    }
  });

  test("reads a webhook with Headers, and with Node's headers in any case", async () => {
    const fields = signed();
    const { "webhook-timestamp": time, "webhook-signature": signature } = fields;
    const capitals = { "Webhook-Id": ID, "WEBHOOK-TIMESTAMP": [time] };
    const mixed = { ...capitals, "Webhook-Signature": signature, host: undefined };
    for (const headers of [new Headers(fields), fields, mixed]) {
      assert.equal((await unwrap(BODY, headers, KEY, { now })).id, ID);
    }
  });

  test("accepts a webhook at the edge of the tolerance and rejects it beyond", async () => {
    for (const age of [TOLERANCE, -TOLERANCE]) {
      assert.ok(await unwrap(BODY, signed(), KEY, { now: () => now() + age }));
    }
    const at = (age, tolerance) => ({ now: () => now() + age, tolerance });
    await assertRejected("too-old", BODY, signed(), KEY, at(TOLERANCE + 1));
    await assertRejected("too-new", BODY, signed(), KEY, at(-TOLERANCE - 1));
    await assertRejected("too-old", BODY, signed(), KEY, at(1001, 1000));
    assert.ok(await unwrap(BODY, signed(), KEY, at(600_000, 600_000)));
    await assertRejected("too-old", BODY, signed(), KEY, at(1, Number.NaN));
  });

  test("verifies a webhook with the old and the new key during a rotation", async () => {
    const [before, after] = [newKey(), newKey()];
    const oldHeaders = signed(BODY, { key: before });
    const newHeaders = signed(BODY, { key: after });
    const both = { ...newHeaders };
    both["webhook-signature"] += ` ${oldHeaders["webhook-signature"]}`;
    for (const headers of [oldHeaders, newHeaders, both]) {
      assert.ok(await unwrap(BODY, headers, [after, before], { now }));
    }
    assert.ok(await unwrap(BODY, both, before, { now }));
    await assertRejected("signature", BODY, newHeaders, before);
    await assertRejected("key", BODY, newHeaders, [after, "whsec_%"]);
  });

  test("rejects a webhook with a forged, truncated or replayed signed part", async () => {
    const fields = signed();
    await assertRejected("signature", BODY.replace("completed", "failed"), fields);
    await assertRejected("signature", BODY.slice(0, -1), fields);
    await assertRejected("signature", `${BODY} `, fields);
    await assertRejected("signature", "", fields);
    await assertRejected("signature", BODY, { ...fields, "webhook-id": "msg_other" });
    // A replay that only refreshes the timestamp.
    const later = String(SECONDS + 3600);
    await assertRejected("signature", BODY, { ...fields, "webhook-timestamp": later }, KEY, {
      now: () => now() + 3_600_000,
    });
    await assertRejected("signature", BODY, signed(BODY, { key: newKey() }));
  });

  test("rejects a webhook whose signed body is not an event", async () => {
    const bodies = ["", "null", "[]", '"text"', "{", "{}", "\ufeff"];
    for (const change of [{ project: 5 }, { data: null }, { data: { id: 5 } }])
      bodies.push(JSON.stringify({ ...EVENT, ...change }));
    for (const body of bodies) await assertRejected("event", body, signed(body));
    const notText = Buffer.from([0x7b, 0xff, 0x7d]);
    await assertRejected("event", notText, signed(notText));
  });

  test("returns an event of a later gateway with its unknown type", async () => {
    const body = JSON.stringify({ ...EVENT, type: "agent_job.paused", extra: true });
    const { type } = await unwrap(body, signed(body), KEY, { now });
    assert.equal(type, "agent_job.paused");
  });

  test("throws a TypeError for a body that was already parsed", async () => {
    await assert.rejects(unwrap(EVENT, signed(), KEY, { now }), TypeError);
  });
});

test("verifies a webhook of a running gateway with every key of its receiver", async (t) => {
  const receiver = await startReceiver();
  t.after(() => receiver.stop());
  const secrets = [newKey(), newKey()].join(",");
  const vars = { WEBHOOK_SECRET: secrets, WEBHOOK_HOSTS: receiver.host, JOB_POLL_SECONDS: "1" };
  const gate = await startGate("package-webhooks", {
    upstream: { jobDurationMs: 50 },
    gateway: { vars: { ...vars, JOB_POLLS_PER_HOUR: "100000" } },
  });
  t.after(() => gate.stop());
  const url = `${receiver.url}/hook?a=1`;
  const options = { headers: [["Webhook-Url", url]] };
  const created = await gate.post(JOBS, { prompt: "Write é 😀 down" }, options);
  assert.equal(created.status, 201);
  const { raw, headers } = await receiver.next();
  const keys = deriveKeys({ project: PROJECT, url }, secrets);
  for (const key of [...keys, keys]) {
    const event = await unwrap(raw, headers, key);
    assert.equal(event.id, headers["webhook-id"]);
    assert.deepEqual(
      [event.type, event.project, event.webhookUrl, event.data.id, event.data.status],
      ["agent_job.completed", PROJECT, url, created.json.id, "completed"],
    );
  }
  const other = deriveKeys({ project: "other", url }, secrets);
  await assertRejected("signature", raw, headers, other, {});
});

describe("the documented receiver", () => {
  async function receiverIn(file) {
    const text = await readFile(join(ROOT, "pkg", file), "utf8");
    const [, example] = /^import \{ unwrap.*?\n(.*?)^```/ms.exec(text.replace(/^ \* ?/gm, ""));
    const { code } = await transform(example.replace("export ", ""), { loader: "ts" });
    const names = ["unwrap", "WebhookVerificationError"];
    return new Function(...names, `${code}\nreturn POST;`)(unwrap, WebhookVerificationError);
  }
  const request = (body, headers) =>
    new Request("https://hooks.example/", { method: "POST", body, headers });

  for (const file of ["README.md", "src/webhooks.ts"]) {
    test(`the receiver in ${file} rejects a forged webhook and throws for an invalid key`, async (t) => {
      const receive = await receiverIn(file);
      const headers = signed(BODY, { seconds: Math.floor(Date.now() / 1000) });
      t.after(() => delete process.env.WEBHOOK_KEY);
      process.env.WEBHOOK_KEY = KEY;
      assert.equal((await receive(request(BODY, headers))).status, 204);
      assert.equal((await receive(request("{}", headers))).status, 400);
      process.env.WEBHOOK_KEY = "";
      await assert.rejects(receive(request(BODY, headers)), { rule: "key" });
    });
  }
});

describe("other runtimes", () => {
  const entry = (end) => `
import * as webhooks from "quillgate/webhooks";
import { checkWebhooks } from "./tests/package/webhooks/checks.mjs";
${end}`;
  const bundle = async (end) => {
    const stdin = { contents: entry(end), resolveDir: ROOT };
    const options = { bundle: true, write: false, format: "esm", target: "es2022" };
    const { outputFiles } = await build({ stdin, ...options });
    return outputFiles[0].text;
  };

  test("Node.js verifies webhooks", async () => {
    assert.deepEqual(await checkWebhooks({ unwrap, WebhookVerificationError }), []);
  });

  test("workerd verifies webhooks", async (t) => {
    const script = await bundle(
      "export default { fetch: async () => Response.json(await checkWebhooks(webhooks)) };",
    );
    const compatibilityDate = "2026-04-01";
    const worker = new Miniflare({ modules: true, script, compatibilityDate, log: new NoOpLog() });
    t.after(() => worker.dispose());
    const response = await worker.dispatchFetch("http://worker/");
    assert.deepEqual(await response.json(), []);
  });

  test("Chromium verifies webhooks", async (t) => {
    const script = await bundle("globalThis.result = checkWebhooks(webhooks);");
    const browser = await launchBrowser();
    t.after(() => browser.close());
    const page = await browser.newPage();
    // WebCrypto needs a secure context.
    await page.route("https://page.test/", (route) => route.fulfill({ body: "<!doctype html>" }));
    await page.goto("https://page.test/");
    await page.addScriptTag({ content: script, type: "module" });
    assert.deepEqual(await page.evaluate(() => globalThis.result), []);
  });
});
