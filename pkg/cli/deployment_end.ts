/** Waits for deployments to end, and reports their ends. */

import type { Client, Deployment, DeploymentId } from "../index.js";
import { isLive } from "../live.js";
import type { Context } from "./command.js";
import { getExitCode } from "./exit_codes.js";
import { toLine } from "./table.js";
import { watchToEnd } from "./wait.js";

/** The number of lines of the log that explain a failure. */
const LAST_LINES = 10;

/**
 * Watches a deployment until it ends.
 *
 * @param timeout in milliseconds
 * @param onChange called with the current deployment and its description, and again when the
 *   description changes, or with `--json` after every change
 * @throws {DeploymentWaitTimeoutError} if the timeout expires first; the deployment continues
 */
export async function watchDeployment(
  context: Context,
  client: Client,
  id: DeploymentId,
  timeout: number,
  onChange: (text: string, deployment: Deployment) => Promise<void> | void,
): Promise<Deployment> {
  const { signal } = context;
  let shown: string | undefined;
  const last = await watchToEnd(context, {
    noun: "deployment",
    id: String(id),
    timeout,
    changes: () => client.deployments.watch(id, { timeout, signal }),
    describe: ({ deployment }) => describeState(deployment),
    onChange: async ({ deployment }) => {
      const text = describeState(deployment);
      if (context.output.json || text !== shown) await onChange(text, deployment);
      shown = text;
    },
  });
  // A watch that succeeds yields at least one state.
  return (last as { deployment: Deployment }).deployment;
}

/** Returns the status and the last line of the log, such as `in_progress: Building`. */
function describeState({ status, summary, logs }: Deployment): string {
  const detail = logs?.at(-1) ?? summary;
  return toLine([status ?? "no status", detail ?? ""].filter(Boolean).join(": "));
}

/**
 * Reports how a deployment ended: a note if it is live, a warning if it is live despite its status, or
 * an error with the last lines of its log.
 *
 * @returns the exit code, and whether the content is live
 */
export function reportEnd(
  { output }: Context,
  id: DeploymentId,
  deployment: Deployment,
): { code: number; isLive: boolean } {
  const name = toLine(String(id));
  const { status, logs } = deployment;
  const summary = deployment.summary === null ? "" : `: ${toLine(deployment.summary)}`;
  if (isLive(deployment)) {
    if (status === "success") output.note(`quillgate: deployment ${name} is live${summary}`);
    else output.warn(`deployment ${name} is live, but a later step failed${summary}`);
    return { code: getExitCode("ok"), isLive: true };
  }
  const exitCode = getExitCode("jobFailed");
  output.fail({
    name: "DeploymentFailedError",
    message: `deployment ${name} failed${summary}`,
    exitCode,
    status: null,
    type: null,
    requestId: null,
    details: (logs ?? []).slice(-LAST_LINES),
    hints: [`to see the whole log: quillgate deployment show ${name}`],
  });
  return { code: exitCode, isLive: false };
}
