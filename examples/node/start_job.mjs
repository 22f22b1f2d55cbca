/** Starts a job, waits until it ends, and prints the URL of its pull request. */
import { Client } from "quillgate";

const [prompt] = process.argv.slice(2);
if (!prompt) {
  console.error('usage: node start_job.mjs "what to write"');
  process.exit(2);
}

// Reads QUILLGATE_BASE_URL, QUILLGATE_PROJECT_ID and QUILLGATE_TOKEN.
const client = new Client();

const { id } = await client.agentJobs.create({ prompt });
const job = await client.agentJobs.wait(id, {
  onUpdate: ({ status }) => console.error(`${id}: ${status}`),
});

if (job.status === "failed") {
  console.error("the job has failed");
  process.exitCode = 1;
} else {
  console.log(job.prLink ?? "no files were changed");
}
