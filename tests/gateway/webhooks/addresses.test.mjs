import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, test } from "node:test";
import { Receiver } from "../../harness/receiver.mjs";
import { useJobs } from "../jobs_gateway.mjs";
import { assertInvalid, useServer } from "../recorded_gateway.mjs";

const WEBHOOK_SECRET = `whsec_${randomBytes(32).toString("base64")}`;

/** The gateway rejects these although their hosts are listed. Native tests cover more forms. */
const REJECTED = [
  ["a scheme other than https", "http://hooks.example/x"],
  ["a metadata service", "http://169.254.169.254/latest/"],
  ["a local name", "https://a.internal/x"],
  ["a URL with credentials", "https://a:b@hooks.example/x"],
];
const HOSTS = "hooks.example,169.254.169.254,a.internal";

const receiver = useServer(new Receiver());
/** A gateway that lists only the receiver's host. */
const listed = useJobs("webhooks-listed", () => ({
  vars: { WEBHOOK_SECRET, WEBHOOK_HOSTS: receiver.host },
}));
/** This gateway lists many hosts, including some that other rules always reject. */
const open = useJobs("webhooks-open", { vars: { WEBHOOK_SECRET, WEBHOOK_HOSTS: HOSTS } });

const hook = (url) => [["Webhook-Url", url]];

describe("rejected webhook addresses", { concurrency: 1 }, () => {
  /** Asserts that the gateway rejects a creation with these header fields and creates no job. */
  async function assertRejected(fixture, headers, rule = "webhook-url") {
    const { authorization } = fixture;
    const prompt = randomBytes(8).toString("hex");
    const options = { headers, authorization };
    const answer = await fixture.gate.post(fixture.path(), { prompt }, options);
    assertInvalid(answer, "Webhook-Url", rule);
    const created = (await fixture.upstream.jobs()).map((job) => job.prompt);
    assert.ok(!created.includes(prompt), "a job was created");
    for (const [, url] of headers) {
      const [, rest] = url.split("://");
      if (rest?.length > 12) assert.ok(!answer.raw.includes(rest), "the response repeats it");
    }
  }

  for (const [what, url] of [
    ["a host that is not listed", "https://hooks.example/x"],
    ["a loopback port that is not listed", "http://127.0.0.1:1/x"],
    ["a loopback name that is not listed", "http://localhost:1/x"],
  ]) {
    test(`rejects ${what} as Webhook-Url`, async () => {
      await assertRejected(listed, hook(url));
    });
  }

  for (const [what, url] of REJECTED) {
    test(`rejects ${what} as Webhook-Url, even if its host is listed`, () =>
      assertRejected(open, hook(url)));
  }
});
