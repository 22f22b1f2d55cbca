/** docs/github-actions.md: its tables are those of action.yml, its examples run. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { describeExamples, EXAMPLES, readWorkflowFile } from "./examples.mjs";
import { startStandIn } from "./gateway_stand_in.mjs";
import { metadata } from "./runner.mjs";
import { DOCS, readExample } from "./workflow.mjs";

/** The cells of the table that begins with this one. */
function tableOf(first) {
  const lines = DOCS.split("\n");
  const begin = lines.findIndex((line) => line.startsWith(`| ${first} |`));
  assert.ok(begin >= 0, `there is a table of ${first}`);
  const length = lines.slice(begin).findIndex((line) => !line.startsWith("|"));
  const rows = lines.slice(begin + 2, begin + length);
  return rows.map((row) =>
    row
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

test("every input is in the table, with its default", () => {
  const expected = Object.entries(metadata.inputs).map(([name, input]) => [
    `\`${name}\``,
    input.default ?? (input.required ? "required" : "none"),
  ]);
  const documented = tableOf("input").map(([name, usual]) => [name, usual.replaceAll("`", "")]);
  const made = ["`idempotency-key`", "made by the action"];
  assert.deepEqual(
    documented,
    expected.map((row) => (row[0] === made[0] ? made : row)),
  );
});

test("every output is in the table", () => {
  const names = Object.keys(metadata.outputs).map((name) => `\`${name}\``);
  assert.deepEqual(
    tableOf("output").map(([name]) => name),
    names,
  );
});

test("every whole workflow of the page is run below", () => {
  const workflows = Array.from(DOCS.matchAll(/^```yaml\nname: /gm));
  assert.equal(workflows.length, EXAMPLES.length);
});

test("the example of a push is the file of examples/workflow", () => {
  assert.equal(readExample("On a push that touches given paths").text, readWorkflowFile());
});

test("every rule names who may by what never changes", () => {
  for (const { heading } of EXAMPLES) {
    const { claims } = readExample(heading).rule;
    assert.ok(claims.repository_id && claims.repository_owner_id && claims.event_name, heading);
    assert.ok(claims.job_workflow_ref || claims.environment, heading);
    assert.ok(!claims.repository && !claims.sub && !claims.actor, heading);
  }
});

describeExamples("against a stand-in", startStandIn);
