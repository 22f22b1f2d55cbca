/** `quillgate deployment show`: prints a deployment and its log. */

import type { Deployment } from "../index.js";
import { isLive } from "../live.js";
import type { Context } from "./command.js";
import { connect } from "./connection.js";
import type { Output } from "./output.js";
import { showValue, toLine, writeFields } from "./table.js";

export async function run(context: Context): Promise<undefined> {
  const { output, signal } = context;
  const { client } = await connect(context);
  const deployment = await client.deployments.get(context.arguments[0] ?? null, { signal });
  if (output.json) {
    await output.printJson({ ...deployment, isLive: readLive(deployment) });
    return;
  }
  await output.write(writeDeployment(deployment, output));
  const logs = deployment.logs ?? [];
  if (logs.length > 0) {
    await output.write(`\nlog:\n${logs.map((line) => `  ${toLine(line)}\n`).join("")}`);
  }
}

/** Returns whether the content is live, or `null` if the deployment has not ended. */
function readLive(deployment: Deployment): boolean | null {
  const hasEnded = deployment.status === "success" || deployment.status === "failure";
  return hasEnded ? isLive(deployment) : null;
}

function writeDeployment(deployment: Deployment, output: Output): string {
  const { _id, status, summary, createdAt, endedAt, source, author, commit } = deployment;
  const live = readLive(deployment);
  return writeFields([
    ["id", _id],
    ["status", status],
    ["live", live === null ? null : live ? "yes" : "no"],
    ["summary", summary],
    ["started", output.showTime(createdAt)],
    ["ended", output.showTime(endedAt)],
    ["source", source],
    ["author", author?.name ?? null],
    ["commit", commit?.sha ?? null],
    ["ref", commit?.ref ?? null],
    ["message", commit?.message == null ? null : showValue(commit.message)],
  ]);
}
