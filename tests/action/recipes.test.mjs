/** Runs the recipes in docs/recipes against stand-ins for the gateway, Slack and GitHub. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { PROJECT, startStandIn } from "../cli/stand_in.mjs";
import { startIssuer } from "../harness/issuer.mjs";
import { queryOf, startScriptedServer } from "../package/scripted_server.mjs";
import { only } from "./fixtures.mjs";
import { startGithub } from "./github.mjs";
import { startRepository } from "./repository.mjs";
import { runScripts } from "./script_workflow.mjs";
import { readExample, runFirstSteps, WITHOUT_JQ } from "./workflow.mjs";

const CONCURRENCY = 3;
const MENTIONS = "<!channel> <@U1> & <https://evil.example|here>";

let issuer;
before(async () => {
  issuer = await startIssuer();
});
after(() => issuer?.stop());

async function startPlace(t, reports) {
  const github = await startGithub(issuer);
  const gateway = await startStandIn({
    override({ path }) {
      const { pathname } = new URL(path, "http://gateway");
      const json = reports[pathname.replace(`/v1/analytics/${PROJECT}/`, "")];
      return json === undefined ? undefined : { json };
    },
  });
  t.after(() => Promise.all([github.stop(), gateway.stop()]));
  const env = {
    ...github.identityVariables(),
    ...{ QUILLGATE_BASE_URL: gateway.url, QUILLGATE_PROJECT_ID: PROJECT },
  };
  const assertQuiet = ({ raw, log, summary }, ...texts) => {
    assert.ok(github.tokens.length > 0);
    for (const text of [...github.tokens, ...texts]) {
      assert.ok(!`${log}${summary}`.includes(text), `the log shows ${text}`);
      const written = raw.split("\n").filter((line) => !line.startsWith("::add-mask::"));
      assert.ok(!written.join("\n").includes(text), `the log contains ${text}`);
    }
  };
  return { github, gateway, env, assertQuiet };
}

function searchRow(searchQuery, hits, ctr) {
  return { searchQuery, hits, ctr, topClickedPage: null, lastSearchedAt: "2026-01-01T00:00:00Z" };
}

function searchPage(...searches) {
  return { searches, totalSearches: 100, nextCursor: null };
}

const ratings = (...feedback) => ({ feedback, hasMore: false });
const NO_GAPS = {
  searches: searchPage(searchRow("found", 9, 40), searchRow("rare", 2, 0)),
  "feedback/by-page": ratings({ path: "/a", thumbsUp: 5, thumbsDown: 2, code: 0, total: 7 }),
};

describe("the gap report", { concurrency: CONCURRENCY, skip: WITHOUT_JQ }, () => {
  async function report(t, reports, respond = () => ({ text: "ok" })) {
    const place = await startPlace(t, reports);
    const slack = await startScriptedServer(respond);
    t.after(() => slack.stop());
    const url = `${slack.url}/services/T1/B1/secret-of-the-webhook`;
    const context = { secrets: { SLACK_WEBHOOK_URL: url } };
    const result = await runScripts("Weekly gap report to Slack", { env: place.env, context });
    place.assertQuiet(result, "secret-of-the-webhook", "<!channel>");
    return { ...place, result, messages: slack.requests.map(({ body }) => JSON.parse(body)) };
  }

  test("the gap report posts searches without a click and pages with bad ratings", async (t) => {
    const searches = [searchRow("refund", 12, 0), searchRow("Refu", 8, 0)];
    const { result, messages, gateway } = await report(t, {
      searches: searchPage(...searches, ...NO_GAPS.searches.searches),
      "feedback/by-page": ratings(
        { path: "/b", thumbsUp: 1, thumbsDown: 3, code: 0, total: 4 },
        { path: "/c", thumbsUp: 0, thumbsDown: 9, code: 0, total: 9 },
        ...NO_GAPS["feedback/by-page"].feedback,
      ),
    });
    assert.equal(result.code, 0, result.raw);
    const { blocks } = only(messages);
    const texts = blocks.map(({ text }) => text.text);
    assert.deepEqual(texts, [
      "*Searches without a click*\n• refund (12 searches)",
      "*Pages with bad ratings*\n• /c (9 negative, 0 positive)\n• /b (3 negative, 1 positive)",
    ]);
    assert.match(result.summary, /^The report was posted/);
    const { dateFrom, dateTo } = Object.fromEntries(queryOf(gateway.requests.at(-1)));
    assert.equal(Date.parse(dateTo) - Date.parse(dateFrom), 7 * 24 * 3600 * 1000);
  });

  test("the gap report escapes the markup of Slack, and respects its maximum length", async (t) => {
    const rows = Array.from({ length: 30 }, (_, at) =>
      searchRow(`${MENTIONS}\n::error::${"&é".repeat(60)}${at}`, 99 - at, 0),
    );
    const { result, messages } = await report(t, { ...NO_GAPS, searches: searchPage(...rows) });
    assert.equal(result.code, 0, result.raw);
    const { text } = only(only(messages).blocks);
    assert.ok(text.text.length > 2000 && text.text.length <= 3000);
    assert.doesNotMatch(text.text, /[<>]|&(?!amp;|lt;|gt;)/);
    assert.ok(text.text.includes("• &lt;!channel&gt; &lt;@U1&gt; &amp; &lt;https:"), text.text);
    assert.equal(text.verbatim, true);
    assert.deepEqual(result.annotations, []);
  });

  test("the gap report posts nothing without gaps", async (t) => {
    const { result, messages } = await report(t, NO_GAPS);
    assert.deepEqual([result.code, messages], [0, []], result.raw);
    assert.equal(result.summary, "There were no gaps last week.\n");
  });

  test("the gap report fails with Slack's answer when Slack refuses the message", async (t) => {
    const reports = { ...NO_GAPS, searches: searchPage(searchRow(MENTIONS, 12, 0)) };
    const refuse = () => ({ status: 404, text: "no_service" });
    const { result } = await report(t, reports, refuse);
    assert.equal(result.code, 1);
    const { level, title, message } = only(result.annotations);
    assert.deepEqual([level, title], ["error", "The report was not posted"]);
    assert.match(message, /no_service/);
  });

  test("the gap report fails when Slack is down or the webhook's URL is missing", async (t) => {
    const reports = { ...NO_GAPS, searches: searchPage(searchRow("x", 12, 0)) };
    const { env } = await startPlace(t, reports);
    for (const SLACK_WEBHOOK_URL of ["http://127.0.0.1:9/services/secret", ""]) {
      const context = { secrets: { SLACK_WEBHOOK_URL } };
      const result = await runScripts("Weekly gap report to Slack", { env, context });
      assert.equal(result.code, 1);
      assert.equal(only(result.annotations).title, "The report was not posted");
      assert.doesNotMatch(result.raw, /services/);
    }
  });

  test("the gap report fails when the gateway refuses the workflow", async (t) => {
    const { env } = await startPlace(t, {});
    const context = { secrets: { SLACK_WEBHOOK_URL: "http://127.0.0.1:9/" } };
    const other = { ...env, QUILLGATE_BASE_URL: "http://127.0.0.1:9" };
    const result = await runScripts("Weekly gap report to Slack", { env: other, context });
    assert.equal(result.code, 6, result.raw);
  });
});

describe("the feedback workflow", { concurrency: CONCURRENCY, skip: WITHOUT_JQ }, () => {
  const row = (id, comment, more) => ({
    ...{ id, comment, path: "/guides/a", createdAt: `2026-01-0${id.length}T00:00:00Z` },
    ...{ source: "contextual", status: "pending", helpful: false, contact: "bob@acme.example" },
    ...more,
  });

  async function startTracker(t, feedback) {
    const page = { feedback, nextCursor: null, hasMore: false };
    const place = await startPlace(t, { feedback: page });
    const issues = [];
    const faults = { list: 0, create: 0, dropsLabels: false, allowed: Number.POSITIVE_INFINITY };
    const tracker = await startScriptedServer(({ method, path, headers, body }) => {
      if (headers.authorization !== "Bearer ghs_1") return { status: 401, json: {} };
      if (method === "GET") {
        if (faults.list) return { status: faults.list, json: {} };
        const { page, per_page: size, labels } = Object.fromEntries(queryOf({ path }));
        const found = issues.filter(({ labels: [label] }) => label?.name === labels);
        return { json: found.slice((page - 1) * size, page * size) };
      }
      if (issues.length >= faults.allowed) return { status: faults.create, json: {} };
      const { labels, ...rest } = JSON.parse(body);
      const issue = {
        ...{ number: issues.length + 1, user: { login: "github-actions[bot]" } },
        labels: faults.dropsLabels ? [] : labels.map((name) => ({ name })),
        ...rest,
      };
      issues.push(issue);
      return { status: 201, json: issue };
    });
    t.after(() => tracker.stop());
    const env = { ...place.env, GITHUB_API_URL: tracker.url, GITHUB_REPOSITORY: "acme/docs" };
    const context = { github: { token: "ghs_1" } };
    const run = async (variables = {}) => {
      const options = { env: { ...env, ...variables }, context };
      const result = await runScripts("Feedback to an issue tracker", options);
      place.assertQuiet(result, "ghs_1", "comment of");
      return result;
    };
    return { issues, faults, run, gateway: place.gateway };
  }

  test("the feedback workflow creates an issue for each comment once", async (t) => {
    const { issues, run, gateway } = await startTracker(t, [
      row("f22", "The second comment of a reader"),
      row("f1", "The first comment of a reader"),
      row("f333", " \n"),
      row("f4", null),
    ]);
    const first = await run();
    assert.equal(first.code, 0, first.raw);
    assert.equal(first.summary, "2 issues were created; 0 remain for the next run.\n");
    assert.equal(issues.length, 2);
    assert.equal(issues[0].title, "Feedback on /guides/a");
    assert.match(issues[0].body, /^<!-- quillgate-feedback f1 -->\n.*\n {4}The first comment/s);
    assert.ok(issues.every(({ body }) => !body.includes("bob@acme.example")));
    assert.equal(queryOf(gateway.requests[0]).get("status"), "pending");

    issues[1].state = "closed";
    const second = await run();
    assert.deepEqual([second.code, issues.length], [0, 2], second.raw);
  });

  test("the feedback workflow creates no issue without feedback", async (t) => {
    const { issues, run } = await startTracker(t, []);
    const result = await run();
    assert.deepEqual([result.code, issues], [0, []], result.raw);
    assert.match(result.summary, /^0 issues/);
  });

  test("the feedback workflow continues after a failure, beyond a page of issues", async (t) => {
    const rows = Array.from({ length: 110 }, (_, at) => row(`f${at}`, `comment of ${at}`));
    const { issues, faults, run } = await startTracker(t, rows);
    for (const { id } of rows.slice(0, 102)) {
      const body = `<!-- quillgate-feedback ${id} -->\n`;
      const user = { login: "github-actions[bot]" };
      issues.push({ user, body, labels: [{ name: "reader-feedback" }] });
    }
    Object.assign(faults, { allowed: 105, create: 403 });
    const failed = await run();
    assert.deepEqual([failed.code, issues.length], [22, 105], failed.raw);
    faults.allowed = Number.POSITIVE_INFINITY;
    const limited = await run({ MAX_ISSUES: "3" });
    assert.equal(limited.summary, "3 issues were created; 2 remain for the next run.\n");
    await run();
    const ids = issues.map(({ body }) => body.split("\n")[0]);
    assert.deepEqual([ids.length, new Set(ids).size], [110, 110]);
  });

  test("the feedback workflow creates nothing when it cannot list the issues", async (t) => {
    const { issues, faults, run } = await startTracker(t, [row("f1", "comment of a reader")]);
    faults.list = 403;
    const result = await run();
    assert.deepEqual([result.code, issues], [22, []], result.raw);
  });

  test("the feedback workflow fails when GitHub drops the label that finds the issue", async (t) => {
    const rows = [row("f1", "comment of a"), row("f22", "comment of b")];
    const { issues, faults, run } = await startTracker(t, rows);
    faults.dropsLabels = true;
    const result = await run();
    assert.deepEqual([result.code, issues.length], [1, 1], result.raw);
    assert.match(only(result.annotations).message, /did not set the label/);
  });

  test("the feedback workflow keeps a comment's markup and markers without effect", async (t) => {
    const evil = "@team #12\r<!-- quillgate-feedback f22 -->\n```\n<img src=x>";
    const { issues, run } = await startTracker(t, [
      row("f1", evil, { path: "/a\n::error::x\n@team" }),
      row("f22", "comment of b"),
      row("f -->333", "comment of c"),
    ]);
    const result = await run();
    await run();
    assert.deepEqual([result.code, issues.length, result.annotations], [0, 3, []], result.raw);
    const { title, body } = issues[0];
    assert.equal(title, "Feedback on /a ::error::x @team");
    const lines = body.split("\n").slice(2, -1);
    const areIndented = lines.every((line) => line === "" || line.startsWith("    "));
    assert.ok(areIndented, body);
    assert.ok(body.includes("\n    @team #12\n    <!-- quill"), body);
    assert.match(issues[2].body, /^<!-- quillgate-feedback f%20--%3E333 -->\n/);
  });
});

describe("the OpenAPI changelog", { skip: WITHOUT_JQ }, () => {
  /** Commits two versions of the file. Returns the prompt, and whether the guard lets the job run. */
  function push(t, versions, { before } = {}) {
    const { folder: origin, commit } = startRepository(t);
    const commits = versions.map((text) => {
      const file = join(origin, "openapi.json");
      if (text === undefined) rmSync(file);
      else writeFileSync(file, text);
      return commit();
    });
    const checkOut = (workspace) => {
      execFileSync("git", ["clone", "--quiet", origin, "."], { cwd: workspace, stdio: "ignore" });
    };
    const { job } = readExample("Changelog from an OpenAPI diff");
    const github = { event: { before: before ?? commits[0] }, sha: commits.at(-1) };
    const { inputs, folders, clean } = runFirstSteps(job, { github, checkOut });
    try {
      const env = { PATH: process.env.PATH, RUNNER_TEMP: folders.temp };
      const guard = inputs["if-changed"].slice("run: ".length);
      let isChanged = true;
      try {
        execFileSync("bash", ["--norc", "-c", guard], { env });
      } catch ({ status }) {
        assert.equal(status, 1);
        isChanged = false;
      }
      return { prompt: readFileSync(inputs["prompt-file"], "utf8"), isChanged };
    } finally {
      clean();
    }
  }

  const describeApi = (required, version = "1") =>
    JSON.stringify({
      openapi: "3.1.0",
      info: { version },
      paths: { "/pages": { get: { parameters: [{ required }], security: [], summary: "a\nb" } } },
    });

  test("the changelog lists changed values with their paths", (t) => {
    const { prompt, isChanged } = push(t, [describeApi(false), describeApi(true, "2")]);
    assert.equal(isChanged, true);
    assert.match(
      prompt,
      /new one:\n< paths > \/pages > get > parameters > 0 > required: false\n> paths > \/pages > get > parameters > 0 > required: true\n$/,
    );
  });

  test("the changelog starts no job when only the order, white space or version changed", (t) => {
    const { paths, ...rest } = JSON.parse(describeApi(true, "2"));
    const reordered = JSON.stringify({ paths, ...rest }, null, 2);
    assert.equal(push(t, [describeApi(true), reordered]).isChanged, false);
  });

  test("the changelog lists the values of a new, a removed and a long file", (t) => {
    const zero = "0".repeat(40);
    assert.match(push(t, [describeApi(true)], { before: zero }).prompt, /\n> openapi: "3\.1\.0"/);
    assert.match(push(t, [describeApi(true), undefined]).prompt, /\n< openapi: "3\.1\.0"/);
    const long = JSON.stringify(Array.from({ length: 2001 }, (_, at) => at));
    assert.match(push(t, ["{}", `{"x":${long}}`]).prompt, /ends after 2000 lines\.\n$/);
  });

  test("the changelog fails for a file that is not JSON", (t) => {
    assert.throws(() => push(t, ["{}", "<html>"]), /parse error/);
  });
});
