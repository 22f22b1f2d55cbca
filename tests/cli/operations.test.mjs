/** Checks the operation of every command. */

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { COMMANDS } from "../../pkg/dist/cli/commands.js";
import { ROOT } from "../../scripts/versions.mjs";
import { quillgate, server, useStandIn } from "./session.mjs";
import { PROJECT } from "./stand_in.mjs";

const types = await readFile(join(ROOT, "pkg", "dist", "types.d.ts"), "utf8");
const [, operations] = types.split("export interface Operations {");
const NAMES = [...operations.split("\n}")[0].matchAll(/^ {2}"([\w.]+)": \{/gm)].map(
  ([, name]) => name,
);

const reference = await readFile(join(ROOT, "docs", "reference", "operations.md"), "utf8");

/** Returns the path of an operation for {@link PROJECT} and {@link ID}, as the reference has it. */
function pathOf(operation) {
  const [, section = ""] = reference.split(`\n## ${operation}\n`);
  const [, template] = /^\| request \| `[A-Z]+ (\S+)` \|$/m.exec(section) ?? [];
  assert.ok(template, `the reference has no path of ${operation}`);
  return template.replace("{projectId}", PROJECT).replace(/\{\w+\}/, ID);
}

// Each paginated report has two rows.
useStandIn({ rows: 2 });

test("every operation has a command", () => {
  assert.ok(NAMES.length >= 18, `only ${NAMES.length} operations were found`);
  const offered = COMMANDS.flatMap(({ operations = [] }) => operations);
  const missing = NAMES.filter((name) => !offered.includes(name));
  assert.deepEqual(missing, []);
  const undeclared = offered.filter((name) => !NAMES.includes(name));
  assert.deepEqual(undeclared, [], "commands name operations that are not declared");
});

const ID = "01J9Z3K4M5N6P7Q8R9S0T1V2W3";

test("every command of a report calls the operation that it names", async () => {
  const declarations = COMMANDS.filter(({ operations: [name = ""] = [] }) =>
    name.startsWith("analytics."),
  );
  for (const command of declarations) {
    const positional = command.arguments.map(() => ID);
    const range = Object.entries({ from: "2026-01-01", to: "2026-02-01" });
    const known = range.filter(([name]) => name in command.options);
    const flags = known.flatMap(([name, day]) => [`--${name}`, day]);
    server.requests.length = 0;
    const args = [...command.name.split(" "), ...positional, ...flags, "--json"];
    if ("yes" in command.options) args.push("--yes");
    const { code, stdout, stderr } = await quillgate(args);
    assert.equal(code, 0, `${command.name}: ${stderr}`);
    assert.equal(typeof JSON.parse(stdout), "object");
    const { pathname } = new URL(server.requests[0].path, server.url);
    assert.equal(pathname, pathOf(command.operations[0]), command.name);
  }
});

test("a flag of a report becomes the parameter of its operation", async () => {
  const filters = ["--from", "2026-01-01", "--source", "contextual", "--status", "pending"];
  await quillgate(["feedback-by-page", ...filters, "--rows", "7"]);
  await quillgate(["conversation", ID]);
  const [byPage, conversation] = server.requests.map(({ path }) => new URL(path, server.url));
  assert.equal(byPage.pathname, `/v1/analytics/${PROJECT}/feedback/by-page`);
  const filter = { source: "contextual", status: "pending" };
  const expected = { dateFrom: "2026-01-01", limit: "7", ...filter };
  assert.deepEqual(Object.fromEntries(byPage.searchParams), expected);
  assert.ok(conversation.pathname.endsWith(`/${ID}`), conversation.pathname);
});

test("reports without pages print their fields or a table", async () => {
  const stats = "ORIGIN  COUNT\nweb     1,200\napi        30\nother       -\ntotal   1,230\n";
  assert.equal((await quillgate(["caller-stats"])).stdout, stats);
  const byPage = await quillgate(["feedback-by-page"]);
  assert.equal(
    byPage.stdout,
    "PATH           THUMBS UP  THUMBS DOWN  CODE  TOTAL\n/guides/start         12            3  -        15\n",
  );
  assert.match(byPage.stderr, /there are more rows than the 1 shown/);
});
