/** Lists and reports of the simulated platform, including faulty pages. */
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { inspect } from "node:util";
import { startUpstream } from "../harness/upstream.mjs";
import { KEY, quillgate, rejectionOf } from "./behaviour/fixtures.mjs";
import { LISTS, namesOf, RANGE } from "./scripted_lists.mjs";

describe("Faulty pages of the simulated platform", () => {
  const REPORTS = {
    ...{ views: "views", visitors: "visitors", feedback: "feedback" },
    ...{ searches: "searches", conversations: "assistant" },
  };
  const PROJECT = { projectId: "demo-docs" };
  let upstream;
  let client;

  before(async () => {
    upstream = await startUpstream({ key: KEY, pages: 600, analyticsLimit: 1e6 });
    const options = { baseUrl: upstream.url, auth: { adminKey: KEY }, ...PROJECT };
    client = new quillgate.Client({ ...options, logLevel: "off" });
  });
  after(() => upstream?.stop());
  beforeEach(() => upstream.reset());

  const requestCount = async () => (await upstream.counters()).requests;

  for (const [name, report] of Object.entries(REPORTS)) {
    const list = LISTS[name];
    const wholeOf = async () =>
      (await upstream.report({ report, ...PROJECT, ...RANGE }))[list.rows];
    const walk = () => list.list(client, { ...RANGE, limit: 100 });
    /** Returns rows without the nulls that the package adds for absent properties. */
    const plain = (rows) =>
      rows.map((row) => Object.fromEntries(Object.entries(row).filter(([, it]) => it !== null)));

    test(`all() returns the rows of ${name} that the simulator has`, async () => {
      const whole = await wholeOf();
      const rows = await walk().all();
      assert.deepEqual(plain(rows), plain(whole));
      assert.equal(await requestCount(), Math.ceil(whole.length / 100));
    });

    test(`all() skips an empty page of ${name}`, async () => {
      const whole = await wholeOf();
      await upstream.fault({ after: 1, fault: { kind: "emptyPage" } });
      const rows = await walk().all();
      assert.deepEqual(namesOf(list, rows), namesOf(list, whole.toSpliced(100, 100)));
    });

    test(`all() rejects endless empty pages of ${name}`, async () => {
      await upstream.fault({ times: 0, fault: { kind: "emptyPage" } });
      const error = await rejectionOf(() => walk().all());
      assert.ok(error instanceof quillgate.DecodeError, inspect(error));
      assert.equal(error.path, list.hasMore ? "hasMore" : "nextCursor");
      assert.equal(await requestCount(), 5);
    });

    if (list.by === "cursor") {
      test(`all() rejects a repeated cursor of ${name}`, async () => {
        await upstream.fault({ after: 1, times: 0, fault: { kind: "repeatCursor" } });
        const error = await rejectionOf(() => walk().all());
        assert.ok(error instanceof quillgate.DecodeError, inspect(error));
        assert.equal(error.path, "nextCursor");
        assert.equal(await requestCount(), 2);
      });
    }

    if (list.hasMore) {
      test(`all() ends ${name} at \`hasMore: false\``, async () => {
        await upstream.fault({ after: 1, times: 0, fault: { kind: "hasMoreFalse" } });
        assert.equal((await walk().all()).length, 200);
        assert.equal(await requestCount(), 2);
      });
    }
  }

  test("reports that are not lists return what the simulator has", async () => {
    const { analytics } = client;
    const byPage = await analytics.feedbackByPage({ ...RANGE, limit: 100 });
    const { feedback } = await upstream.report({
      report: "feedback/by-page",
      ...PROJECT,
      ...RANGE,
    });
    assert.deepEqual(byPage, { feedback: feedback.slice(0, 100), hasMore: feedback.length > 100 });
    const stats = await analytics.callerStats(RANGE);
    const expected = await upstream.report({
      report: "assistant/caller-stats",
      ...PROJECT,
      ...RANGE,
    });
    assert.deepEqual(stats, expected);
    const { conversations } = await upstream.report({ report: "assistant", ...PROJECT, ...RANGE });
    const { id, query } = conversations[0];
    const { data, response } = await analytics.conversation(id).withResponse();
    assert.ok(data.messages.some(({ content, role }) => content === query && role === "user"));
    assert.equal(response.status, 200);
    const error = await rejectionOf(() => analytics.conversation("01ARZ3NDEKTSV4RRFFQ69G5FAV"));
    assert.ok(error instanceof quillgate.NotFoundError, inspect(error));
  });
});
