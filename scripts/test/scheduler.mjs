/**
 * @typedef {object} Task
 * @property {string} name unique
 * @property {number} slots its share of the machine; a task that keeps all cores busy takes
 *   one slot for each
 * @property {string[]} [after] names of tasks that must succeed first; names that are not in the
 *   list are ignored
 * @property {boolean} [last] whether it starts only when every task before it in the list has
 *   ended, and runs with nothing beside it
 * @property {string} [lock] tasks with the same lock never run at the same time
 * @property {boolean} [alone] whether it runs with nothing beside it, at the end
 * @property {() => Promise<Result>} run
 *
 * @typedef {object} Result
 * @property {number} passed
 * @property {number} failed
 * @property {number} [skipped]
 * @property {string} [problem] why the task failed, if it did
 * @property {string} [log] path of its output
 */

/**
 * Runs tasks side by side. Tasks earlier in the list start first, and smaller ones behind them fill
 * the slots that are left. Put large tasks first, or smaller ones will keep them waiting.
 *
 * @param {Task[]} tasks
 * @param {number} slots how many slots the machine has
 * @param {(task: Task, result: Result & { seconds: number }) => void} onResult
 */
export async function runTasks(tasks, slots, onResult) {
  const waiting = [...tasks];
  const running = new Set();
  const results = new Map();

  while (waiting.length > 0 || running.size > 0) {
    for (let next = findReady(); next; next = findReady()) start(next);
    if (running.size === 0) throw new Error(`no task can start: ${waiting.map(nameOf).join(", ")}`);
    await Promise.race([...running].map(({ ended }) => ended));
  }

  function findReady() {
    return waiting.find((task, index) => {
      return isReady(task) && isAllowed(task, index) && hasSlots(task);
    });
  }

  function isReady({ after = [] }) {
    return after.every((name) => results.has(name) || !tasks.some((task) => task.name === name));
  }

  /** Whether a task may run beside those that are running, apart from the slots. */
  function isAllowed(task, index) {
    if (task.alone) return running.size === 0 && waiting.every(({ alone, last }) => alone || last);
    if (task.last) return running.size === 0 && index === 0;
    const others = [...running].map(({ task: other }) => other);
    if (others.some(({ alone, last }) => alone || last)) return false;
    return !task.lock || others.every(({ lock }) => lock !== task.lock);
  }

  function hasSlots(task) {
    const used = [...running].reduce((sum, { task: other }) => sum + other.slots, 0);
    return used === 0 || used + task.slots <= slots;
  }

  function start(task) {
    waiting.splice(waiting.indexOf(task), 1);
    const entry = { task };
    running.add(entry);
    entry.ended = runOne(task).then((result) => {
      running.delete(entry);
      results.set(task.name, result);
      onResult(task, result);
    });
  }

  async function runOne(task) {
    const started = performance.now();
    const failed = (task.after ?? []).find((name) => results.get(name)?.problem);
    const result = failed
      ? { passed: 0, failed: 1, problem: `${failed} failed` }
      : await task.run().catch((error) => ({ passed: 0, failed: 1, problem: error.message }));
    return { ...result, seconds: (performance.now() - started) / 1000 };
  }
}

function nameOf({ name }) {
  return name;
}
