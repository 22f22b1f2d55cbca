/** Tests the bot without network requests and without real waits. */
import { Client } from "quillgate";
import { createFakeGateway } from "quillgate/testing";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { documentRelease, findUnreadPages, receiveWebhook } from "./bot.js";

const MINUTE = 60_000;

let gateway;
let client;

beforeEach(() => {
  vi.useFakeTimers({ now: new Date("2026-11-25T09:00:00Z") });
  gateway = createFakeGateway();
  client = new Client({ ...gateway.clientOptions, logLevel: "off" });
});
afterEach(() => vi.useRealTimers());

/** Waits until the bot has created its job. */
const untilCreated = () => vi.waitFor(() => expect(gateway.jobs).toHaveLength(1));

test("links the pull request when the job has completed", async () => {
  const comment = documentRelease(client, "2.0");
  await untilCreated();
  await vi.advanceTimersByTimeAsync(MINUTE);
  expect(await comment).toBe("Please review https://github.com/acme/docs/pull/1.");
  expect(gateway.requests[0].params).toEqual({ prompt: "Document release 2.0" });
});

test("reports a job that fails", async () => {
  const comment = documentRelease(client, "2.0");
  await untilCreated();
  gateway.updateJob(gateway.jobs[0].id, { status: "failed" });
  expect(await comment).toBe("The agent failed to document 2.0.");
});

test("documents a release once, even if the bot restarts", async () => {
  const comments = [documentRelease(client, "2.0"), documentRelease(client, "2.0")];
  await untilCreated();
  await vi.advanceTimersByTimeAsync(MINUTE);
  const [first, second] = await Promise.all(comments);
  expect(second).toBe(first);
  expect(gateway.jobs).toHaveLength(1);
});

test("tries again while the gateway is unavailable", async () => {
  gateway.fail("upstream-unavailable", { retryAfter: 30 });
  const comment = documentRelease(client, "2.0");
  await vi.waitFor(() => expect(gateway.requests).toHaveLength(1));
  await vi.advanceTimersByTimeAsync(30_000);
  await untilCreated();
  await vi.advanceTimersByTimeAsync(MINUTE);
  expect(await comment).toMatch(/^Please review/);
});

test("names the delay if the hourly limit is used up", async () => {
  gateway.fail("quota-exceeded", { operation: "agentJobs.create", retryAfter: 1800 });
  expect(await documentRelease(client, "2.0")).toBe("Try again in 1800 seconds.");
});

test("does not repeat a job whose outcome is unknown", async () => {
  gateway.fail("upstream-timeout", { operation: "agentJobs.create" });
  expect(await documentRelease(client, "2.0")).toBe("Check the dashboard before you try again.");
  expect(gateway.requests).toHaveLength(1);
});

test("posts the pull request of a webhook and rejects a forged one", async () => {
  const post = vi.fn();
  const { id } = gateway.addJob({ prompt: "Document release 2.0" });
  await vi.advanceTimersByTimeAsync(MINUTE);
  const options = { key: gateway.webhookKey, post };

  const webhook = await gateway.createWebhook(id);
  expect((await receiveWebhook(webhook, options)).status).toBe(204);
  expect(post).toHaveBeenCalledWith("Please review https://github.com/acme/docs/pull/1.");

  const { headers } = await gateway.createWebhook(id);
  const forged = new Request("https://bot.example/", { method: "POST", headers, body: "{}" });
  expect((await receiveWebhook(forged, options)).status).toBe(400);
  expect(post).toHaveBeenCalledTimes(1);

  const keyless = receiveWebhook(await gateway.createWebhook(id), { key: "", post });
  await expect(keyless).rejects.toMatchObject({ rule: "key" });
});

test("finds the pages that only AI agents read", async () => {
  gateway.reports.views = [
    { path: "/start", human: 12, ai: 3 },
    { path: "/forgotten", human: 0, ai: 7 },
  ];
  expect(await findUnreadPages(client, "2026-10-01")).toEqual(["/forgotten"]);
  expect(gateway.requests[0].params).toMatchObject({ dateFrom: "2026-10-01" });
});
