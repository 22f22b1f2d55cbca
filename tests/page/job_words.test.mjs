import assert from "node:assert/strict";
import { test } from "node:test";
import { column, columns } from "./columns.mjs";
import { importSource } from "./source.mjs";

const { titleOf } = await importSource("jobs/job_state.ts");
const { buildThread } = await importSource("jobs/thread.ts");
const { buildTimeline, lastWorkSpan } = await importSource("jobs/timeline.ts");
const { describeJobTime } = await importSource("jobs/job_time.ts");
const { groupByDay } = await importSource("live/days.ts");
const { noticeOf, titleMark } = await importSource("jobs/notices.ts");

const { currentTime, noteGatewayDate } = await importSource("shell/clock_skew.ts");
const { relativeTime } = await importSource("shell/relative_time.ts");

const START = Date.parse("2026-11-20T09:00:00Z");
const at = (seconds) => new Date(START + seconds * 1000).toISOString();
const LINK = "https://github.com/acme/docs/pull/12";
const NOTHING_KNOWN = { startedAt: null, finishedAt: null };
const NOTHING_SENT = { prompt: null, messages: [] };

test("a job’s title is the shortened first line of its prompt", () => {
  assert.equal(titleOf("\n Fix the typos\nin all pages"), "Fix the typos");
  const paragraph = "Rewrite the guide so that it is clear, complete and short. ".repeat(12);
  const title = titleOf(paragraph);
  assert.ok(title.length <= 101, `${title.length} characters`);
  assert.match(title, /\w…$/);
  assert.ok(paragraph.startsWith(title.slice(0, -1)));
  assert.equal(titleOf("x".repeat(300)), `${"x".repeat(100)}…`);
  assert.equal(titleOf("## Fix the typos\nin all pages"), "Fix the typos");
  assert.equal(titleOf("#42 is broken"), "#42 is broken");
});

const job = { id: "a", prompt: "Fix", createdBy: "zoë", createdAt: at(0) };
const record = (prompt, ...messages) => ({ job, prompt, messages, changes: [] });

test("a thread marks how much of each text the gateway stores", () => {
  const stored = record(
    "Fix\nall of it",
    { prompt: "Also the images", author: "ada", sentAt: at(60) },
    { prompt: null, author: "bot", sentAt: at(90) },
  );
  assert.deepEqual(buildThread(stored, NOTHING_SENT, null, "first-line"), [
    { kind: "prompt", text: "Fix\nall of it", extent: "whole", author: "zoë", sentAt: START },
    {
      kind: "follow-up",
      text: "Also the images",
      extent: "start",
      author: "ada",
      sentAt: START + 60_000,
    },
    { kind: "follow-up", text: "", extent: "nothing", author: "bot", sentAt: START + 90_000 },
  ]);
});

test("a thread shows the full texts that this browser sent, each once", () => {
  const sent = {
    prompt: "Fix\nall of it",
    messages: [
      { text: "Also the images\nand their captions", sentAt: START + 59_000 },
      { text: "Not recorded yet", sentAt: START + 100_000 },
    ],
  };
  const stored = record("Fix", { prompt: "Also the images", author: "zoë", sentAt: at(60) });
  const thread = buildThread(stored, sent, null, "first-line");
  assert.deepEqual(columns(thread, "text", "extent"), [
    ["Fix\nall of it", "whole"],
    ["Also the images\nand their captions", "whole"],
    ["Not recorded yet", "whole"],
  ]);
});

test("a follow-up appears once even if the browser’s clock is wrong", () => {
  const stored = record("Fix", { prompt: "Also the images", author: "zoë", sentAt: at(600) });
  const sent = { prompt: null, messages: [{ text: "Also the images", sentAt: START }] };
  assert.equal(buildThread(stored, sent, null, "first-line").length, 2);
});

test("the same follow-up sent twice appears twice", () => {
  const twice = [60, 80].map((s) => ({ prompt: "Once more", author: "zoë", sentAt: at(s) }));
  const sent = {
    prompt: null,
    messages: [60, 80].map((s) => ({ text: "Once more", sentAt: START + s * 1000 })),
  };
  assert.equal(buildThread(record("Fix", ...twice), sent, null, "first-line").length, 3);
  assert.equal(buildThread(null, sent, job, "first-line").length, 3);
});

test("a thread without a record starts with the prompt of the list", () => {
  const [prompt] = buildThread(null, NOTHING_SENT, job, "first-line");
  assert.deepEqual([prompt.text, prompt.extent, prompt.author], ["Fix", "start", "zoë"]);
  assert.equal(buildThread(null, NOTHING_SENT, null, "whole")[0].extent, "nothing");
});

const extentOf = (line, prompt, keeps) => {
  const stored = { job: { ...job, prompt: line }, prompt, messages: [], changes: [] };
  return buildThread(stored, NOTHING_SENT, null, keeps)[0].extent;
};

test("a prompt of one line is whole if the gateway stores whole prompts", () => {
  const cut = "Stored before the setting cha…";
  assert.equal(extentOf("Fix the typos", "Fix the typos", "whole"), "whole");
  assert.equal(extentOf("Fix the typos", "Fix the typos", "first-line"), "start");
  assert.equal(extentOf(cut, cut, "whole"), "start");
});

test("a prompt longer than its line in the list is marked as whole", () => {
  assert.equal(extentOf("Fix the…", "Fix the typos in all pages", "first-line"), "whole");
  assert.equal(extentOf("Fix the…", "Fix the…", "first-line"), "start");
});

const messageAt = (kind, seconds, author = null) => ({
  kind,
  author,
  sentAt: START + seconds * 1000,
});
const thread = [messageAt("prompt", 0, "zoë"), messageAt("follow-up", 600)];
const changes = [
  { at: at(1), status: "active", prLink: null },
  { at: at(120), status: "completed", prLink: LINK },
  { at: at(601), status: "active", prLink: LINK },
  { at: at(660), status: "failed", prLink: LINK },
];

test("a timeline orders messages and changes, each once", () => {
  const entries = buildTimeline(thread, changes).map(({ at, text, worked }) => [
    (at - START) / 1000,
    text,
    worked === null ? null : worked / 1000,
  ]);
  assert.deepEqual(entries, [
    [0, "Started by zoë", null],
    [120, "Pull request acme/docs#12", null],
    [120, "Completed", 120],
    [600, "Follow-up sent", null],
    [660, "Failed", 60],
  ]);
});

test("a follow-up to a running job does not shorten the time of its run", () => {
  const during = [thread[0], messageAt("follow-up", 60)];
  const ended = buildTimeline(during, changes.slice(0, 2)).at(-1);
  assert.deepEqual([ended.text, ended.worked], ["Completed", 120_000]);
  const { startedAt, finishedAt } = lastWorkSpan(during, changes.slice(0, 2));
  assert.equal(finishedAt - startedAt, ended.worked);
});

test("archiving a finished job does not extend the time of its run", () => {
  const archived = [...changes.slice(0, 2), { at: at(900), status: "archived", prLink: LINK }];
  const entries = buildTimeline(thread.slice(0, 1), archived);
  assert.deepEqual(columns(entries.slice(-2), "text", "worked"), [
    ["Completed", 120_000],
    ["Archived", null],
  ]);
  assert.equal(lastWorkSpan(thread.slice(0, 1), archived).finishedAt, START + 120_000);
});

test("a timeline includes work that another client started", () => {
  const elsewhere = buildTimeline(thread.slice(0, 1), changes);
  assert.deepEqual(column(elsewhere, "text"), [
    "Started by zoë",
    "Pull request acme/docs#12",
    "Completed",
    "Working",
    "Failed",
  ]);
});

test("a timeline leaves out entries without a time", () => {
  const unknown = [{ at: null, status: "completed", prLink: null }];
  assert.deepEqual(buildTimeline([{ ...thread[0], sentAt: null }], unknown), []);
});

test("the last work span runs from the start of the last run to its result", () => {
  const seconds = ({ startedAt, finishedAt }) => [
    (startedAt - START) / 1000,
    finishedAt && (finishedAt - START) / 1000,
  ];
  assert.deepEqual(seconds(lastWorkSpan(thread, changes)), [600, 660]);
  assert.deepEqual(seconds(lastWorkSpan(thread, changes.slice(0, 3))), [600, null]);
  assert.deepEqual(seconds(lastWorkSpan(thread.slice(0, 1), changes.slice(0, 2))), [0, 120]);
  assert.deepEqual(lastWorkSpan([], []), NOTHING_KNOWN);
});

const HOUR = 3_600_000;
const describeAt = (status, span, age) =>
  describeJobTime({ status, createdAt: at(0) }, span, START + age)?.text;

test("an active job shows the time since the start of its run", () => {
  assert.equal(describeAt("active", NOTHING_KNOWN, 125_000), "Running for 2 min 05 s");
  assert.equal(describeAt("active", NOTHING_KNOWN, 1_000), "Just started");
  const again = { startedAt: START + 240 * HOUR, finishedAt: null };
  assert.equal(describeAt("active", again, 240 * HOUR + 5000), "Running for 5 s");
});

test("a job that has been active for days shows its start date", () => {
  const running = { startedAt: START, finishedAt: null };
  assert.match(describeAt("active", running, 50 * HOUR), /^Running since Nov 20, 2026/);
  assert.match(describeAt("active", NOTHING_KNOWN, 50 * HOUR), /^Started Nov 20, 2026/);
});

test("a finished job shows its duration and its date", () => {
  const span = { startedAt: START, finishedAt: START + 125_000 };
  assert.match(describeAt("completed", span, 50 * HOUR), /^Took 2 min 05 s · Nov 20, 2026/);
  assert.match(describeAt("failed", NOTHING_KNOWN, 50 * HOUR), /^Started Nov 20, 2026/);
  const days = { startedAt: START, finishedAt: START + 70 * HOUR };
  assert.match(describeAt("completed", days, 80 * HOUR), /^Started Nov 20, 2026/);
});

test("a job without a known start shows no running time", () => {
  assert.equal(describeJobTime(null, NOTHING_KNOWN, START), null);
  assert.equal(describeJobTime({ status: "active", createdAt: null }, NOTHING_KNOWN, START), null);
  assert.match(describeAt("needs review", NOTHING_KNOWN, 50 * HOUR), /^Started /);
});

const active = { status: "active", prLink: null };

test("a notice announces the end of a job that was seen active", () => {
  const done = { status: "completed", prLink: LINK };
  const { word, isFailure } = noticeOf("a", active, done, "Fix");
  assert.deepEqual([word, isFailure], ["Pull request ready", false]);
  assert.equal(noticeOf("a", active, { status: "failed", prLink: null }, "Fix").isFailure, true);
  assert.equal(noticeOf("a", undefined, done, "Fix"), null);
  assert.equal(noticeOf("a", done, { ...done, prLink: null }, "Fix"), null);
  assert.equal(noticeOf("a", active, active, "Fix"), null);
});

test("the title mark shows unseen results before the number of active jobs", () => {
  assert.equal(titleMark([], 0), "");
  assert.equal(titleMark([], 2), "(2) ");
  assert.equal(titleMark([{ isFailure: false }], 2), "✓ ");
  assert.equal(titleMark([{ isFailure: false }, { isFailure: true }], 0), "✗ ");
});

test("a relative time counts minutes, hours and days, then names the date", () => {
  const ago = (milliseconds) => relativeTime(START, START + milliseconds);
  const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];
  assert.equal(ago(-5_000), "just now");
  assert.equal(ago(59_000), "just now");
  assert.equal(ago(5 * MINUTE), "5 min ago");
  assert.equal(ago(3 * HOUR), "3 h ago");
  assert.equal(ago(DAY), "1 day ago");
  assert.equal(ago(6 * DAY), "6 days ago");
  assert.equal(ago(8 * DAY), "Nov 20, 2026");
});

test("the current time is the gateway’s, apart from network delays", () => {
  const skewAfter = (ahead) => {
    const date = new Date(Date.now() - ahead).toUTCString();
    noteGatewayDate(new Headers({ date }), Date.now());
    return Date.now() - currentTime();
  };
  const isNear = (skew, expected) => assert.ok(Math.abs(skew - expected) < 1_500, `${skew}`);
  const DAYS = 172_800_000;
  isNear(skewAfter(DAYS), DAYS);
  const before = Date.now() - currentTime();
  isNear(skewAfter(DAYS + 500), before);
  noteGatewayDate(new Headers(), Date.now());
  const cached = { date: new Date(Date.now() - 3_600_000).toUTCString(), age: "3600" };
  noteGatewayDate(new Headers(cached), Date.now());
  isNear(Date.now() - currentTime(), before);
  isNear(skewAfter(-DAYS), -DAYS);
  assert.ok(Math.abs(skewAfter(1_000)) < 500, "a small difference counts as none");
});

/** Runs `work` in a time zone. */
function inZone(zone, work) {
  const before = process.env.TZ;
  process.env.TZ = zone;
  try {
    work();
  } finally {
    if (before === undefined) delete process.env.TZ;
    else process.env.TZ = before;
  }
}

test("times of jobs without a zone are UTC, in every time zone of the browser", () => {
  inZone("America/Los_Angeles", () => {
    for (const text of ["2026-11-20 09:00:00", "2026-11-20T09:00:00.000"]) {
      const job = { id: "a", status: "active", prompt: "Fix", createdBy: null, createdAt: text };
      const running = describeJobTime(job, NOTHING_KNOWN, START + 60_000);
      assert.equal(running.text, "Running for 1 min 00 s");
      assert.equal(buildThread(null, NOTHING_SENT, job, "whole")[0].sentAt, START);
      const changes = [{ at: text, status: "completed", prLink: null }];
      assert.equal(buildTimeline([], changes)[0].at, START);
      const [day] = groupByDay([job], new Date(2026, 10, 20).getTime());
      assert.equal(day.label, "Today");
    }
  });
});

test("a timeline names a merge request, and no link in words", () => {
  const changes = [
    { at: at(0), status: "active", prLink: "null" },
    { at: at(60), status: "completed", prLink: "https://gitlab.com/acme/docs/-/merge_requests/7" },
  ];
  assert.deepEqual(column(buildTimeline([], changes), "text"), [
    "Merge request acme/docs!7",
    "Completed",
  ]);
});

test("jobs are grouped by day in their order", () => {
  const today = new Date(2026, 10, 25).getTime();
  const listed = (id, ...date) => ({ id, createdAt: new Date(...date).toISOString() });
  const days = groupByDay(
    [
      listed("d", 2026, 10, 25, 0, 5),
      listed("c", 2026, 10, 24, 23, 55),
      listed("b", 2026, 10, 20),
      listed("a", 2025, 10, 20),
      { id: "x", createdAt: null },
    ],
    today,
  );
  assert.deepEqual(
    days.map(({ label, items }) => [label, items.map(({ id }) => id).join("")]),
    [
      ["Today", "d"],
      ["Yesterday", "c"],
      ["Fri, Nov 20", "b"],
      ["Thu, Nov 20, 2025", "a"],
      [null, "x"],
    ],
  );
});

for (const [zone, ...date] of [
  ["America/Santiago", 2026, 8, 6],
  ["Africa/Cairo", 2026, 3, 24],
  ["Asia/Beirut", 2026, 2, 29],
  ["America/Havana", 2026, 10, 1],
]) {
  test(`jobs are grouped by day where the clocks change at midnight, in ${zone}`, () => {
    inZone(zone, () => {
      const [year, month, day] = date;
      for (const shift of [0, 1, 2]) {
        const at = (days, hour) => new Date(year, month, day + shift + days, hour).toISOString();
        const listed = [at(0, 1), at(-1, 23), at(-1, 1), at(-2, 23)];
        const today = new Date(at(0, 12)).setHours(0, 0, 0, 0);
        const days = groupByDay(
          listed.map((createdAt) => ({ createdAt })),
          today,
        );
        const [first, second, third] = column(days, "label");
        assert.deepEqual([first, second], ["Today", "Yesterday"], `${shift} days later`);
        assert.doesNotMatch(third, /day$/);
        assert.deepEqual(column(column(days, "items"), "length"), [1, 2, 1]);
      }
    });
  });
}
