/** `quillgate/values`: times, links and rate limits that are strings. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { parseInstant, readLimits, readPullRequest } from "../../pkg/dist/values.js";

const TIME = Date.parse("2026-11-27T22:30:00Z");

test("a time without a zone is UTC in every zone of the machine", () => {
  const entry = new URL("../../pkg/dist/values.js", import.meta.url).href;
  const program = `
    const { parseInstant } = await import(${JSON.stringify(entry)});
    const texts = ["2026-11-27 22:30:00", "2026-11-27T22:30:00", "2026-11-27T22:30", "2026-11-27"];
    console.log(texts.map(parseInstant).join());`;
  const expected = [TIME, TIME, TIME, Date.parse("2026-11-27T00:00:00Z")].join();
  for (const TZ of ["America/Los_Angeles", "Asia/Kolkata", "UTC"]) {
    const args = ["--input-type=module", "--eval", program];
    const env = { ...process.env, TZ };
    assert.equal(execFileSync(process.execPath, args, { env }).toString().trim(), expected, TZ);
  }
});

test("a time has a zone in every spelling of ISO 8601 and of databases", () => {
  for (const text of [
    ...["2026-11-27T22:30:00Z", "2026-11-27t22:30:00z", " 2026-11-27 22:30:00 \n"],
    ...["2026-11-27 22:30:00 UTC", "2026-11-27 22:30:00 GMT", "2026-11-27 22:30:00 +0000"],
    ...["2026-11-27T23:30:00+01:00", "2026-11-28 04:00:00+0530", "2026-11-27 14:30:00-08"],
    ...["2026-11-27T22:30:00.000000000Z", "2026-11-27T22:30:00,0", "2026-11-27 22:30:00.0000-00"],
  ]) {
    assert.equal(parseInstant(text), TIME, text);
  }
  assert.equal(parseInstant("2026-11-27 22:30:00.1239999"), TIME + 123);
  assert.equal(parseInstant("2026-11-27T22:30:00.5Z"), TIME + 500);
  assert.equal(parseInstant("2026-11-27T24:00:00Z"), Date.parse("2026-11-28T00:00:00Z"));
  assert.equal(parseInstant("2016-12-31T23:59:60Z"), Date.parse("2017-01-01T00:00:00Z"));
  assert.equal(parseInstant("0099-01-01"), Date.parse("0099-01-01"));
});

test("a value that is not a time is null", () => {
  for (const text of [
    ...[null, undefined, "", "null", "soon", "job-1", "1764282600", "22:30:00", "2026-11-27T"],
    ...["2026-02-30", "2026-13-01", "2026-11-27T25:00:00Z", "2026-11-27T24:00:01Z"],
    ...["2026-11-27T22:60:00Z", "2026-11-27T22:30:61Z", "2026-11-27T22:30:00+24:00"],
    ...["2026-11-27T22:30:00+01:60", "11/27/2026 22:30", "2026-11-27T22:30:00Z tomorrow"],
  ]) {
    assert.equal(parseInstant(text), null, String(text));
  }
});

const PULLS = "/pulls?q=is:pr+sort:created-desc";
const MERGES = "/-/merge_requests?scope=all&state=all";
const GIT = "git.acme.example";
for (const [host, repository, path, name, list] of [
  ["github.com", "acme/docs", "/pull/7/files?w=1#diff", "acme/docs#7", PULLS],
  [`${GIT}:8443`, "acme/docs", "/pull/7", `${GIT}:8443/acme/docs#7`, PULLS],
  ["gitlab.com", "group/sub/docs", "/-/merge_requests/7/diffs", "group/sub/docs!7", MERGES],
  [GIT, "group/docs", "/merge_requests/7#note_1", `${GIT}/group/docs!7`, MERGES],
  ["bitbucket.org", "acme/docs", "/pull-requests/7/overview", "acme/docs#7", "/pull-requests/"],
  [
    ...[GIT, "bitbucket/projects/KEY/repos/docs", "/pull-requests/7/diff"],
    ...[`${GIT}/KEY/docs#7`, "/pull-requests"],
  ],
  ["codeberg.org", "acme/docs", "/pulls/7", "codeberg.org/acme/docs#7", PULLS],
]) {
  const link = `https://${host}/${repository}${path}`;
  test(`the link ${link} is named ${name}`, () => {
    const request = readPullRequest(link);
    const noun = name.includes("!") ? "merge request" : "pull request";
    assert.deepEqual([request.href, request.name, request.noun], [link, name, noun]);
    assert.equal(request.listHref, `https://${host}/${repository}${list}`);
    assert.equal(request.number, name.includes("!") ? "!7" : "#7");
  });
}

test("a link of an unknown form is named by its host and path", () => {
  for (const link of [
    ...["https://git.example/a/pull/7", "https://github.com/a/b/pull/new/x"],
    ...["https://git.example/a/-/merge_requests/7", "https://git.example/a/merge_requests/7"],
    "https://dev.example/acme/docs/_git/docs/pullrequest/7",
  ]) {
    const { name, number, repository, listHref } = readPullRequest(link);
    assert.equal(`https://${name}`, link);
    assert.deepEqual([number, repository, listHref], [null, null, null]);
  }
});

test("a link that is not plain https has no address to open", () => {
  for (const link of [
    ...["http://github.com/acme/docs/pull/1", "javascript:alert(1)", "data:text/html,x"],
    ...["https://github.com@evil.example/a/b/pull/1", "//github.com/a/b/pull/1", "nonsense"],
  ]) {
    const { href, name } = readPullRequest(link);
    assert.deepEqual([href, name], [null, link]);
  }
});

test("an empty link and a missing value in words count as absent", () => {
  for (const link of [null, undefined, "", " \n", "null", "None", "undefined"]) {
    assert.equal(readPullRequest(link), null, String(link));
  }
});

test("rate limits are read in any order of parameters, that with the fewest requests first", () => {
  const read = (limit, policy) => {
    const fields = { ratelimit: limit, "ratelimit-policy": policy };
    return readLimits(new Headers(Object.entries(fields).filter(([, value]) => value)));
  };
  assert.deepEqual(read('"analytics";r=90;t=36, "token";t=5;r=2', '"token";w=3600;q=10'), [
    { policy: "token", left: 2, quota: 10, window: 3600, next: 5 },
    { policy: "analytics", left: 90, quota: null, window: null, next: 36 },
  ]);
  const named = [
    ['"a,\\"b;r=1";pk=:YWI=:;x="r=9;,";flag; r=7', 'a,"b;r=1', 7],
    ["token;r=3", "token", 3],
    ['"a" ; r=4 ; t=1', "a", 4],
    ['"a";r=1;r=5', "a", 5],
  ];
  for (const [field, policy, left] of named) {
    const [limit, ...others] = read(field);
    assert.deepEqual([limit?.policy, limit?.left, others.length], [policy, left, 0], field);
  }
  const invalid = ["", '"a"', '"a";r=-1', '"a";r=1.5', '"a";r="1"', "limit=5, remaining=1", ",;"];
  for (const field of [null, ...invalid]) {
    assert.deepEqual(read(field), [], field);
  }
});
