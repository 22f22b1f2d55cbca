/** Runs tasks of the parent process, which arrive over IPC one after another. */

/** Replies to each task with the result of `run`, or with its error. */
export function serveTasks(run) {
  process.on("message", async (task) => {
    try {
      process.send(await run(task));
    } catch (error) {
      process.send({ error: error.message });
    }
  });
  process.on("disconnect", () => process.exit());
}
