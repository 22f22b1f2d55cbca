/**
 * Webhook addresses of callers. The gateway accepts an address only if the operator lists the
 * address's host. It rejects private addresses other than loopback addresses, even if the operator
 * lists their hosts.
 */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { startReceiver } from "../../harness/receiver.mjs";
import { startJobs } from "../jobs_gateway.mjs";
import { assertInvalid } from "../recorded_gateway.mjs";

const WEBHOOK_SECRET = `whsec_${randomBytes(32).toString("base64")}`;

const ACCEPTED_URLS = [
  "https://hooks.example/x",
  "https://hooks.example:8443/x?y",
  "HTTPS://Hooks.Example/x",
  "https://93.184.215.14/x",
  "https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/x",
  `https://hooks.example/${"x".repeat(2048 - "https://hooks.example/".length)}`,
];
/**
 * Addresses that the gateway rejects. The gateway accepts a loopback address if the operator lists
 * the address's host, so {@link listable} omits loopback hosts.
 */
const REJECTED = [
  ["an empty value", [""]],
  ["an invalid URL", ["x", "hooks.example/x", "https:hooks.example", "https:///x"]],
  ["a scheme other than https", ["http://hooks.example/x", "javascript:alert(1)"]],
  ["a metadata service", ["http://169.254.169.254/latest/", "https://metadata.google.internal/x"]],
  ["an unusual address", ["https://2130706433/x", "https://0x7f.1/", "https://127.0.0.1./x"]],
  ["a mapped IPv4 address", ["https://[::ffff:127.0.0.1]/x", "https://[64:ff9b::7f00:1]/x"]],
  ["a local name", ["https://localhost/x", "https://intranet/x", "https://a.internal./x"]],
  ["a URL with credentials", ["https://a@hooks.example/x", "https://a:b@hooks.example/x"]],
  ["a URL with spaces or backslashes", ["https://a.ex\t/x", "https://hooks.example\\@127.0.0.1/"]],
  [
    "a host with escapes or wide characters",
    ["https://127%2e0%2e0%2e1/x", "https://\u3002\uff11/x"],
  ],
  ["a URL of 2,049 characters", [`https://hooks.example/${"x".repeat(2049 - 22)}`]],
];
const REJECTED_URLS = REJECTED.flatMap(([, urls]) => urls);

/**
 * Returns a value for WEBHOOK_HOSTS with the hosts of `urls`, so that the gateway can reject the
 * URLs only by its other rules. Omits hosts that the variable's syntax does not allow. Also omits
 * loopback hosts, because the gateway accepts them once they are listed.
 */
function listable(urls) {
  const hosts = urls.map((url) => /:\/\/([^/?#]*)/.exec(url)?.[1].toLowerCase() ?? "");
  const isListable = (host) => /^(?:[a-z0-9.-]+|\[[a-f0-9:.]+\])(?::[1-9]\d{0,3})?$/.test(host);
  const isHere = (host) => /^(?:localhost|127\.0\.0\.1|\[::1\])(?::|$)/.test(host);
  return [...new Set(hosts)].filter((host) => isListable(host) && !isHere(host)).join(",");
}

let receiver;
/** A gateway that lists only the receiver's host. */
let listed;
/** This gateway lists many hosts, including some that other rules always reject. */
let open;

before(async () => {
  receiver = await startReceiver();
  const hosts = listable([...ACCEPTED_URLS, ...REJECTED_URLS]);
  [listed, open] = await Promise.all([
    startJobs("webhooks-listed", { vars: { WEBHOOK_SECRET, WEBHOOK_HOSTS: receiver.host } }),
    startJobs("webhooks-open", { vars: { WEBHOOK_SECRET, WEBHOOK_HOSTS: hosts } }),
  ]);
});
after(async () => {
  await Promise.all([listed?.stop(), open?.stop()]);
  await receiver?.stop();
});

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

  describe("addresses whose host is listed", () => {
    for (const [what, urls] of REJECTED) {
      test(`rejects ${what} as Webhook-Url, even if its host is listed`, async () => {
        for (const url of urls) {
          await assertRejected(open, hook(Buffer.from(url).toString("latin1")));
        }
      });
    }
  });
});
