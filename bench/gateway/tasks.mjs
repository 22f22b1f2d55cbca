/** Tasks of a process of its own, which come over IPC, one after another. */

/**
 * Answers each task with what `run` makes of it, or with its error.
 *
 * @param {(task: object) => Promise<object>} run
 */
export function carryOut(run) {
  process.on("message", async (task) => {
    try {
      process.send(await run(task));
    } catch (error) {
      process.send({ error: error.message });
    }
  });
  process.on("disconnect", () => process.exit());
}
