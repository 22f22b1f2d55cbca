/** The order in which a test run starts its tasks. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { runTasks } from "../../scripts/test/scheduler.mjs";

/**
 * Runs tasks that take two turns of the event loop. Returns each started task with the tasks that
 * were running at that time, and the results.
 */
async function startsOf(tasks, slots) {
  const running = new Set();
  const starts = [];
  const withRun = tasks.map((task) => ({
    slots: 1,
    ...task,
    async run() {
      starts.push([task.name, ...running].join(" beside "));
      running.add(task.name);
      await setImmediate();
      await setImmediate();
      running.delete(task.name);
      return { passed: 1, failed: 0, problem: task.problem };
    },
  }));
  const results = {};
  await runTasks(withRun, slots, ({ name }, { problem }) => {
    results[name] = problem;
  });
  return { starts, results };
}

test("smaller tasks fill the slots beside a large one", async () => {
  const tasks = [{ name: "a", slots: 2 }, { name: "b", slots: 2 }, { name: "c" }, { name: "d" }];
  const { starts } = await startsOf(tasks, 3);
  assert.deepEqual(starts, ["a", "c beside a", "b beside c", "d beside b"]);
});

test("tasks with the same lock never run side by side, and others pass them", async () => {
  const tasks = [{ name: "a", lock: "x" }, { name: "b", lock: "x" }, { name: "c" }];
  const { starts } = await startsOf(tasks, 3);
  assert.deepEqual(starts.slice(0, 2), ["a", "c beside a"]);
  assert.ok(!starts[2].includes("beside a"));
});

test("a task that runs alone has nothing beside it and runs before the last tasks only", async () => {
  const tasks = [
    { name: "a", alone: true },
    { name: "b" },
    { name: "c" },
    { name: "d", last: true },
  ];
  const { starts } = await startsOf(tasks, 4);
  assert.deepEqual(starts, ["b", "c beside b", "a", "d"]);
});

test("a task does not run when a task that it needs has failed", async () => {
  const tasks = [
    { name: "a", problem: "broken" },
    { name: "b", after: ["a"] },
  ];
  const { starts, results } = await startsOf(tasks, 2);
  assert.deepEqual(starts, ["a"]);
  assert.equal(results.b, "a failed");
});
