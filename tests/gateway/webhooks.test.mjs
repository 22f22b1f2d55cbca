/** Webhooks: a job's end is told once, signed, to where it may be told, however long that takes. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { deriveKeys } from "../../scripts/webhook_key.mjs";
import { signatureProblem, startReceiver, verify } from "../harness/receiver.mjs";
import { assertInvalid, assertProblem, PROJECT } from "./gate.mjs";
import { startJobs } from "./jobs.mjs";

const newWebhookSecret = () => `whsec_${randomBytes(32).toString("base64")}`;
const SECRETS = [newWebhookSecret(), newWebhookSecret()];
/** In the address of a webhook, as a receiver's own secret often is. */
const HIDDEN = "hidden-in-the-address-5c1d";
/** How long after a failure it is tried again first, by Standard Webhooks. */
const FIRST_RETRY_MS = 5000;
/** Two programs' clocks, and the way of a request between them. */
const CLOCK_TOLERANCE_MS = 50;
/** For what comes after the first retry, or after a look at a job that nobody watches. */
const PATIENCE_MS = 60_000;
/** How long a receiver may take. */
const RECEIVER_TIMEOUT_MS = 20_000;

const RECEIVERS = ["good", "standard", "flaky", "resetting", "gone", "redirecting", "target"];
RECEIVERS.push("hanging", "silent", "late", "crash");
/** With gates of their own: nothing else sets their alarms. */
const PROJECTS = ["followed-up", "looked-at", "with-watchers", "with-others"];

const TAKEN = [
  "https://hooks.example/x",
  "https://hooks.example:8443/x?y",
  "HTTPS://Hooks.Example/x",
  "https://93.184.215.14/x",
  "https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/x",
  `https://hooks.example/${"x".repeat(2048 - "https://hooks.example/".length)}`,
];
/** Addresses that no webhook may have, wherever the operator lists their hosts. */
const UNFIT = [
  ["an empty one", [""]],
  ["no URL", ["x", "hooks.example/x", "/x", "https:hooks.example", "https:/hooks.example/x"]],
  ["no https", ["http://hooks.example/x", "ws://hooks.example/x", "ftp://hooks.example/x"]],
  ["a script or file", ["javascript:alert(1)", "data:text/plain,x", "file:///etc/passwd"]],
  ["no host", ["https://", "https:///x", "https://?x", "https://:443/x", "https://./x"]],
  ["loopback", ["https://127.0.0.1/x", "https://127.255.255.254/x", "http://127.0.0.1/x"]],
  ["10/8", ["https://10.0.0.1/x", "https://10.255.255.255/x"]],
  ["172.16/12", ["https://172.16.0.1/x", "https://172.31.255.255/x"]],
  ["192.168/16", ["https://192.168.0.1/x"]],
  ["link-local", ["https://169.254.0.1/x", "https://[fe80::1]/x", "https://[febf::1]/x"]],
  ["metadata", ["http://169.254.169.254/latest/", "https://169.254.169.254/latest/"]],
  ["metadata by name", ["https://metadata.google.internal/x", "https://metadata/x"]],
  ["shared address space", ["https://100.64.0.1/x", "https://100.127.255.255/x"]],
  ["this network", ["https://0.0.0.0/x", "https://0.1.2.3/x"]],
  ["multicast and beyond", ["https://224.0.0.1/x", "https://255.255.255.255/x"]],
  ["a decimal address", ["https://2130706433/x", "https://3232235521/x"]],
  ["a hexadecimal address", ["https://0x7f000001/x", "https://0x7f.0.0.1/x", "https://0x7f.1/"]],
  ["an octal address", ["https://0177.0.0.1/x", "https://017700000001/x", "https://010.0.0.1/"]],
  ["a short address", ["https://127.1/x", "https://10.1/x", "https://127.0.1/x", "https://0/x"]],
  ["an address with a final dot", ["https://127.0.0.1./x", "https://10.0.0.1./x"]],
  ["IPv6 loopback", ["https://[::1]/x", "https://[::]/x", "https://[0:0:0:0:0:0:0:1]/x"]],
  ["mapped IPv4", ["https://[::ffff:127.0.0.1]/x", "https://[::ffff:7f00:1]/x"]],
  ["mapped public IPv4", ["https://[::ffff:93.184.215.14]/x"]],
  ["compatible IPv4", ["https://[::127.0.0.1]/x"]],
  ["translated IPv4", ["https://[64:ff9b::7f00:1]/x", "https://[2002:7f00:1::]/x"]],
  ["unique local", ["https://[fc00::1]/x", "https://[fd12:3456::1]/x"]],
  ["IPv6 with a zone", ["https://[fe80::1%25eth0]/x", "https://[2606:2800::1%251]/x"]],
  ["localhost", ["https://localhost/x", "https://LOCALHOST/x", "https://a.localhost/x"]],
  ["localhost with a final dot", ["https://localhost./x", "https://a.internal./x"]],
  ["a name without a dot", ["https://intranet/x", "https://router:8443/x"]],
  ["a local name", ["https://a.internal/x", "https://a.local/x", "https://a.home.arpa/x"]],
  ["credentials", ["https://a@hooks.example/x", "https://a:b@hooks.example/x"]],
  ["a fragment", ["https://hooks.example/x#y", "https://hooks.example#"]],
  ["a bad port", ["https://hooks.example:0/", "https://hooks.example:65536/", "https://h.ex:a/"]],
  ["spaces", ["https://hooks.example/a b", "https://hooks .example/", "https://a.ex\t/x"]],
  ["backslashes", ["https:\\\\hooks.example\\x", "https://hooks.example\\@127.0.0.1/"]],
  ["two in one", ["https://hooks.example/x, https://hooks.example/y"]],
  ["escapes in the host", ["https://127%2e0%2e0%2e1/x", "https://%6cocalhost/x"]],
  ["wide characters", ["https://\u3002\uff11/x", "https://\u24bb.example/x"]],
  ["too long", [`https://hooks.example/${"x".repeat(2049 - 22)}`]],
];
const UNFIT_URLS = UNFIT.flatMap(([, urls]) => urls);

/**
 * The hosts of addresses as far as WEBHOOK_HOSTS takes them, so that it is another rule that refuses
 * them. Those of this very machine are left out: listed, they may be named.
 */
function listable(urls) {
  const hosts = urls.map((url) => /:\/\/([^/?#]*)/.exec(url)?.[1].toLowerCase() ?? "");
  const isListable = (host) => /^(?:[a-z0-9.-]+|\[[a-f0-9:.]+\])(?::[1-9]\d{0,3})?$/.test(host);
  const isHere = (host) => /^(?:localhost|127\.0\.0\.1|\[::1\])(?::|$)/.test(host);
  return [...new Set(hosts)].filter((host) => isListable(host) && !isHere(host)).join(",");
}

let jobs;
/** A gateway on which many hosts are listed, also such as can never be named. */
let open;
/** Each for one purpose. */
const receivers = {};

before(async () => {
  for (const name of RECEIVERS) receivers[name] = await startReceiver();
  const hosts = Object.values(receivers).map(({ host }) => host);
  const vars = {
    WEBHOOK_SECRET: SECRETS.join(","),
    WEBHOOK_HOSTS: hosts.join(","),
    WEBHOOK_URL: `${receivers.standard.url}/default`,
  };
  [jobs, open] = await Promise.all([
    startJobs("webhooks", { vars, projects: [PROJECT, ...PROJECTS] }),
    startJobs("webhooks-open", {
      vars: { WEBHOOK_SECRET: SECRETS[0], WEBHOOK_HOSTS: listable([...TAKEN, ...UNFIT_URLS]) },
    }),
  ]);
});
after(async () => {
  await Promise.all([jobs?.stop(), open?.stop()]);
  for (const receiver of Object.values(receivers)) await receiver.stop();
});

const hook = (url) => [["Webhook-Url", url]];
let lastNumber = 0;

/** Creates a job whose end is told at a path of its own; `end` ends it, seen by a watcher. */
async function hooked(receiver, { project, path = "" } = {}) {
  lastNumber += 1;
  const hookPath = `/${HIDDEN}/${lastNumber}${path}`;
  const { id } = await jobs.create("tell me", { project, headers: hook(receiver.url + hookPath) });
  const here = ({ path: own }) => own === hookPath;
  return {
    id,
    next: async (timeoutMs) => {
      const delivery = await receiver.next(here, timeoutMs ?? PATIENCE_MS);
      return Object.assign(delivery, { project: project ?? PROJECT });
    },
    all: () => receiver.deliveries.filter(here),
    async end(status = "completed", fields = {}) {
      const stream = await jobs.watching(id, { project });
      await jobs.upstream.setJob(id, { status, ...fields });
      await stream.ended;
    },
  };
}

/** Checks what every delivery has to be, and gives its body. */
function assertDelivery(delivery, type) {
  assert.equal(delivery.method, "POST");
  const { headers, json } = delivery;
  assert.match(headers["content-type"], /^application\/json/);
  assert.match(headers["webhook-id"], /^msg_[0-9A-Za-z]+$/);
  assert.match(headers["webhook-timestamp"], /^\d{10}$/);
  const { project = PROJECT } = delivery;
  const webhookUrl = `http://${headers.host}${delivery.path}`;
  for (const key of deriveKeys({ project, url: webhookUrl }, SECRETS.join(","))) {
    assert.equal(signatureProblem(delivery, key), undefined);
  }
  for (const other of [newWebhookSecret(), ...SECRETS]) {
    assert.equal(verify(delivery, other), false, "no other key fits");
  }
  for (const name of ["authorization", "cookie", "traceparent"]) {
    assert.equal(headers[name], undefined, name);
  }
  assert.deepEqual(Object.keys(json), ["type", "timestamp", "project", "webhookUrl", "data"]);
  assert.deepEqual([json.project, json.webhookUrl], [project, webhookUrl]);
  assert.equal(json.type, type);
  assert.match(json.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  return json;
}

/** The job as the platform has it, without what the simulator's control adds. */
async function platformJob(id) {
  const { projectId, prompt, messages, origin, reads, ...job } = await jobs.upstream.job(id);
  return job;
}

describe("a job's end", () => {
  for (const status of ["completed", "failed", "archived"]) {
    test(`is told when it is ${status}: signed, with the job`, async () => {
      const job = await hooked(receivers.good);
      await job.end(status, { prLink: "https://example.com/pull/1" });
      const { data } = assertDelivery(await job.next(), `agent_job.${status}`);
      assert.deepEqual(data, await platformJob(job.id));
    });
  }

  test("is told at the address as it was given, with its query", async () => {
    const job = await hooked(receivers.good, { path: "/a%20b/;c?token=x%2Fy&empty=" });
    await job.end();
    assertDelivery(await job.next(), "agent_job.completed");
  });

  test("is told once, however many watch", async () => {
    const job = await hooked(receivers.good);
    const streams = await Promise.all(Array.from({ length: 50 }, () => jobs.watching(job.id)));
    await job.end();
    await Promise.all(streams.map(({ ended }) => ended));
    assertDelivery(await job.next(), "agent_job.completed");
    // Another job's, from its creation on, is long enough for a second one to come.
    const other = await hooked(receivers.good);
    await other.end();
    await other.next();
    assert.equal(job.all().length, 1);
  });

  test("is not told while it goes on", async () => {
    const job = await hooked(receivers.good);
    const stream = await jobs.watching(job.id);
    await jobs.upstream.setJob(job.id, { status: "planning", prLink: "https://example.com/1" });
    await stream.event(({ data }) => data.includes("planning"));
    await job.end();
    await job.next();
    assert.deepEqual(
      job.all().map(({ json }) => json.type),
      ["agent_job.completed"],
    );
  });

  test("is told at the gateway's own address when its creator names none", async () => {
    const { id } = await jobs.create("tell the operator");
    const stream = await jobs.watching(id);
    await jobs.upstream.setJob(id, { status: "failed" });
    await stream.ended;
    const delivery = await receivers.standard.next(({ json }) => json.data.id === id);
    assertDelivery(delivery, "agent_job.failed");
    assert.equal(delivery.path, "/default");
  });

  test("is told at the creator's address instead of the gateway's", async () => {
    const job = await hooked(receivers.good);
    await job.end();
    await job.next();
    const ids = receivers.standard.deliveries.map(({ json }) => json.data.id);
    assert.ok(!ids.includes(job.id));
  });

  test("is not told of a job that was created elsewhere", async () => {
    const { id } = await jobs.directly("from elsewhere");
    const stream = await jobs.watching(id);
    await jobs.upstream.setJob(id, { status: "completed" });
    await stream.ended;
    const job = await hooked(receivers.good);
    await job.end();
    await job.next();
    const all = Object.values(receivers).flatMap(({ deliveries }) => deliveries);
    assert.ok(!all.some(({ json }) => json.data.id === id));
  });

  test("is told again, as a message of its own, when a follow-up has come to its end", async () => {
    const job = await hooked(receivers.good);
    await job.end();
    const first = await job.next();
    await jobs.followUp(job.id);
    await job.end("failed");
    const second = await job.next();
    assertDelivery(second, "agent_job.failed");
    assert.notEqual(second.headers["webhook-id"], first.headers["webhook-id"]);
  });

  test("is told once of a creation that was repeated with its idempotency key", async () => {
    const { url } = receivers.good;
    const headers = (path) => [...hook(url + path), ["Idempotency-Key", "told-once"]];
    const first = await jobs.create("once", { headers: headers("/told-once") });
    assert.equal((await jobs.create("once", { headers: headers("/told-once") })).id, first.id);
    const { authorization } = jobs;
    const other = { headers: headers("/elsewhere"), authorization };
    const answer = await jobs.gate.post(jobs.path(), { prompt: "once" }, other);
    assertProblem(answer, 422, "idempotency-key-reused");
    const stream = await jobs.watching(first.id);
    await jobs.upstream.setJob(first.id, { status: "completed" });
    await stream.ended;
    await receivers.good.next(({ path }) => path === "/told-once");
    const paths = receivers.good.deliveries.map(({ path }) => path);
    assert.equal(paths.filter((path) => path === "/told-once").length, 1);
    assert.ok(!paths.includes("/elsewhere"));
  });

  test("leaves nothing waiting once it was told", async () => {
    await jobs.untilHealth(({ webhooksWaiting }) => webhooksWaiting === 0);
    const all = receivers.good.deliveries.map(({ headers }) => headers["webhook-id"]);
    assert.equal(new Set(all).size, all.length, "each message has its own id");
  });
});

describe("side by side", { concurrency: true }, () => {
  describe("what takes its time", { concurrency: true }, () => {
    /** The first attempt failed, the next has the same id and a fresh signature. */
    function assertRepeated([first, second], type) {
      for (const delivery of [first, second]) assertDelivery(delivery, type);
      assert.equal(second.headers["webhook-id"], first.headers["webhook-id"]);
      assert.equal(second.text, first.text);
      const signedAt = ({ headers }) => Number(headers["webhook-timestamp"]);
      assert.ok(second.at - first.at >= FIRST_RETRY_MS - CLOCK_TOLERANCE_MS);
      assert.ok(signedAt(second) > signedAt(first), "it is signed again");
      assert.notEqual(second.headers["webhook-signature"], first.headers["webhook-signature"]);
    }

    for (const [name, answer] of [
      ["flaky", 500],
      ["resetting", { reset: true }],
    ]) {
      test(`a receiver that fails (${name}) is told again some 5 s later`, async () => {
        const receiver = receivers[name];
        receiver.answer(answer, 204);
        const job = await hooked(receiver);
        await job.end("failed");
        const attempts = [await job.next()];
        const { webhooksWaiting } = await jobs.health();
        assert.ok(webhooksWaiting >= 1, `${webhooksWaiting} wait`);
        attempts.push(await job.next());
        assertRepeated(attempts, "agent_job.failed");
      });
    }

    test("a receiver that is gone, 410, is told nothing again", async () => {
      receivers.gone.answerAlways(410);
      const job = await hooked(receivers.gone);
      await job.end();
      const { headers } = await job.next();
      // Whatever has failed since would have been sent again by the time that this one is.
      receivers.late.answer(500, 204);
      const clock = await hooked(receivers.late);
      await clock.end();
      await clock.next();
      await clock.next();
      assert.equal(job.all().length, 1);
      const given = new RegExp(`\\{.*"webhook":"${headers["webhook-id"]}".*\\}`);
      const [line] = given.exec(jobs.gate.gateway.log()) ?? [];
      assert.ok(line, "the log says that it was given up");
      const { givenUp, status } = JSON.parse(line);
      assert.deepEqual([givenUp, status], [true, 410]);
    });

    test("a redirect is a failure, and not followed", async () => {
      const statuses = [301, 302, 303, 307, 308];
      const location = `${receivers.target.url}/redirected`;
      receivers.redirecting.answer(
        ...statuses.map((status) => ({ status, headers: { location }, body: "elsewhere" })),
      );
      const told = [];
      for (const _ of statuses) {
        const job = await hooked(receivers.redirecting);
        await job.end();
        told.push({ job, first: await job.next() });
      }
      for (const { job, first } of told) {
        assertRepeated([first, await job.next()], "agent_job.completed");
      }
      assert.deepEqual(receivers.target.deliveries, []);
      assert.equal(receivers.target.connections, 0);
    });

    test("a job's end that nobody watches is told, too", async () => {
      const job = await hooked(receivers.good);
      await jobs.upstream.setJob(job.id, { status: "completed" });
      assertDelivery(await job.next(), "agent_job.completed");
      assert.equal(job.all().length, 1);
    });

    test("a follow-up's end that nobody watches is told, too", async () => {
      const project = "followed-up";
      const job = await hooked(receivers.good, { project });
      await job.end("completed");
      await job.next();
      await jobs.untilHealth(({ webhooksWaiting }) => webhooksWaiting === 0, project);
      await jobs.followUp(job.id, "and more", { project });
      await jobs.upstream.setJob(job.id, { status: "failed" });
      assertDelivery(await job.next(), "agent_job.failed");
    });

    test("an end that is noticed by who begins to watch a finished job is told at once", async () => {
      const project = "looked-at";
      const job = await hooked(receivers.good, { project });
      await job.end();
      await job.next();
      await jobs.untilHealth(({ webhooksWaiting }) => webhooksWaiting === 0, project);
      await jobs.upstream.setJob(job.id, { status: "archived" });
      // The other gate's interval passes.
      const clock = await jobs.create("tick");
      const ticking = await jobs.watching(clock.id);
      await jobs.untilReads(clock.id, 2);
      ticking.leave();
      const fresh = jobs.watch(job.id, { project });
      await fresh.event(({ data }) => JSON.parse(data).status === "archived");
      assertDelivery(await job.next(PATIENCE_MS / 2), "agent_job.archived");
    });

    test("a receiver that gives no answer does not hold up those who watch a job", async () => {
      const project = "with-watchers";
      receivers.hanging.answer({ hang: true });
      const stuck = await hooked(receivers.hanging, { project });
      const lively = await jobs.create("change", { project });
      const stream = await jobs.watching(lively.id, { project });
      await stuck.end();
      await stuck.next();
      await jobs.upstream.setJob(lively.id, { status: "planning" });
      const isPlanning = ({ data }) => JSON.parse(data).status === "planning";
      await stream.event(isPlanning, RECEIVER_TIMEOUT_MS / 2);
      stream.leave();
    });

    test("a receiver that gives no answer does not hold up what others are told", async () => {
      const project = "with-others";
      receivers.silent.answer({ hang: true });
      const stuck = await hooked(receivers.silent, { project });
      const other = await hooked(receivers.good, { project });
      await stuck.end();
      const first = await stuck.next();
      await other.end();
      const { at } = await other.next();
      const second = await stuck.next();
      assertRepeated([first, second], "agent_job.completed");
      assert.ok(second.at - first.at >= RECEIVER_TIMEOUT_MS + FIRST_RETRY_MS - CLOCK_TOLERANCE_MS);
      assert.ok(at - first.at < RECEIVER_TIMEOUT_MS / 2, `told ${at - first.at} ms later`);
    });
  });

  describe("a webhook that may not be", { concurrency: 1 }, () => {
    /** Asks for a job with this header; it must be refused, and no job be created. */
    async function assertRefused(gateJobs, headers, rule = "webhook-url") {
      const { authorization } = gateJobs;
      const prompt = randomBytes(8).toString("hex");
      const answer = await gateJobs.gate.post(
        gateJobs.path(),
        { prompt },
        { headers, authorization },
      );
      assertInvalid(answer, "Webhook-Url", rule);
      const created = (await gateJobs.upstream.jobs()).map((job) => job.prompt);
      assert.ok(!created.includes(prompt), "nothing was created");
      for (const [, url] of headers) {
        const [, rest] = url.split("://");
        if (rest?.length > 12) assert.ok(!answer.raw.includes(rest), "it is not repeated");
      }
    }

    for (const [what, url] of [
      ["a host that is not listed", "https://hooks.example/x"],
      ["a loopback port that is not listed", "http://127.0.0.1:1/x"],
      ["a loopback name that is not listed", "http://localhost:1/x"],
    ]) {
      test(`${what} is refused where hosts are listed`, async () => {
        await assertRefused(jobs, hook(url));
      });
    }

    test("a listed host in disguise is refused", async () => {
      const { host } = receivers.good;
      const port = host.split(":")[1];
      for (const url of [
        `http://${host}@evil.example/`,
        `http://evil.example#@${host}/`,
        `http://evil.example/${host}`,
        `http://evil.example?${host}`,
        `http://${host}.evil.example/`,
        `http://localhost:${port}/`,
        `http://127.1:${port}/`,
        `http://[::ffff:127.0.0.1]:${port}/`,
        `http:\\\\${host}/`,
        `http://${host}\\@evil.example/`,
        `ftp://${host}/`,
        `//${host}/`,
        host,
      ]) {
        await assertRefused(jobs, hook(url));
      }
    });

    test("of a follow-up is refused", async () => {
      const { id } = await jobs.create();
      const { authorization } = jobs;
      const target = jobs.path(id, { rest: "/message" });
      const options = { headers: hook(`${receivers.good.url}/x`), authorization };
      const answer = await jobs.gate.post(target, { prompt: "x" }, options);
      assertInvalid(answer, "Webhook-Url", "create-only");
      assert.deepEqual((await jobs.upstream.job(id)).messages, []);
    });

    describe("where its host is listed", () => {
      for (const url of TAKEN) {
        test(`${url.slice(0, 60)} is taken`, async () => {
          assert.ok((await open.create("x", { headers: hook(url) })).id);
        });
      }

      for (const [what, urls] of UNFIT) {
        test(`${what} is refused`, async () => {
          for (const url of urls) {
            await assertRefused(open, hook(Buffer.from(url).toString("latin1")));
          }
        });
      }

      test("two of them are refused", async () => {
        await assertRefused(open, [
          ...hook("https://hooks.example/x"),
          ...hook("https://hooks.example/y"),
        ]);
      });

      test("a gateway without a secret takes none", async () => {
        open.vars = { ...open.vars, WEBHOOK_SECRET: "" };
        await open.restart("kill");
        await assertRefused(open, hook("https://hooks.example/x"), "webhooks-off");
        assert.ok((await open.create()).id);
      });

      test("nothing secret is said", () => open.assertDiscreet());
    });
  });
});

test("what was to be told before a crash of the gateway is told after it", async () => {
  receivers.crash.answerAlways({ reset: true });
  const job = await hooked(receivers.crash);
  await job.end("failed");
  const first = await job.next();
  assert.ok((await jobs.health()).webhooksWaiting >= 1);
  await jobs.restart("kill", async () => receivers.crash.answerAlways(204));
  const second = await job.next();
  assertDelivery(second, "agent_job.failed");
  assert.equal(second.headers["webhook-id"], first.headers["webhook-id"]);
  assert.equal(second.text, first.text);
});

test("what waits is told in the end, and each message once with success", async () => {
  for (const project of jobs.projects) {
    await jobs.untilHealth(({ webhooksWaiting }) => webhooksWaiting === 0, project);
  }
  for (const name of ["good", "standard"]) {
    const ids = receivers[name].deliveries.map(({ headers }) => headers["webhook-id"]);
    assert.equal(new Set(ids).size, ids.length, name);
  }
});

test("nothing secret is said, neither where a webhook goes nor its secret", async () => {
  await jobs.assertDiscreet();
  const log = jobs.gate.gateway.log();
  assert.ok(!log.includes(HIDDEN), "an address is in the log");
  for (const secret of SECRETS) assert.ok(!log.includes(secret.replace("whsec_", "")));
  for (const { headers, text } of Object.values(receivers).flatMap((one) => one.deliveries)) {
    const said = JSON.stringify(headers) + text;
    for (const secret of [...SECRETS, jobs.gate.key, jobs.gate.secret]) {
      assert.ok(!said.includes(secret), "a delivery says a secret");
    }
  }
});
