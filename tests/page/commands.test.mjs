import assert from "node:assert/strict";
import { test } from "node:test";
import { standInForWindow } from "./browser_stand_ins.mjs";
import { importSource } from "./source.mjs";

standInForWindow();
const { matchCommands } = await importSource("shell/commands.ts");

const group = (owner, ...labels) => ({
  owner,
  commands: labels.map((label) => ({ label, run: () => {} })),
});
const labelsOf = (groups) => groups.flatMap(({ commands }) => commands.map(({ label }) => label));

const fiftyJobs = group("Agent jobs", ...Array.from({ length: 50 }, (_, at) => `Job ${at}`));
const groups = [
  group("Go to", "Agent jobs", "Page views"),
  group("Analytics", "Last month", "Last 7 days"),
  group("Agent jobs", "View the typos", "New job"),
];

test("an empty query matches every command in order", () => {
  assert.equal(labelsOf(matchCommands(groups, " ")).length, 6);
  assert.equal(labelsOf(matchCommands(groups, ""))[0], "Agent jobs");
});

test("every word must occur in the label or the group, in any order and case", () => {
  assert.deepEqual(labelsOf(matchCommands(groups, "DAYS last")), ["Last 7 days"]);
  assert.deepEqual(labelsOf(matchCommands(groups, "analytics month")), ["Last month"]);
  assert.deepEqual(matchCommands(groups, "month days"), []);
});

test("groups with a label that begins with the query come first", () => {
  assert.deepEqual(labelsOf(matchCommands(groups, "view")), ["View the typos", "Page views"]);
});

test("at most 30 commands match", () => {
  assert.equal(labelsOf(matchCommands([fiftyJobs], "job")).length, 30);
});

test("long groups leave room for a group with a label that begins with the query", () => {
  const jobs = group("Agent jobs", ...Array.from({ length: 50 }, (_, at) => `Fix view ${at}`));
  const shown = labelsOf(matchCommands([jobs, group("Go to", "Views")], "view"));
  assert.deepEqual([shown.length, shown[0]], [30, "Views"]);
});

test("without a query, a long group leaves room for the next one", () => {
  const shown = labelsOf(matchCommands([fiftyJobs, group("Actions", "Copy link")], ""));
  assert.deepEqual([shown.length, shown.at(-1)], [7, "Copy link"]);
});

test("one of many similar commands is listed only for a query", () => {
  const show = group("Show", "All pages", "Folders");
  for (const command of show.commands) command.needsQuery = true;
  assert.deepEqual(labelsOf(matchCommands([show, group("Go to", "Views")], "")), ["Views"]);
  assert.deepEqual(labelsOf(matchCommands([show], "show")), ["All pages", "Folders"]);
});

test("labels that begin with the query come first, then labels with a word that does", () => {
  const goTo = group("Go to", "Previous", "Page views", "Visitors");
  const shown = labelsOf(matchCommands([goTo], "vi"));
  assert.deepEqual(shown, ["Visitors", "Page views", "Previous"]);
});
