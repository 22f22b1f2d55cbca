/** The input `preview` of a job: starts a preview of the branch of the job's pull request. */

import type { AgentJob, StartedPreview } from "quillgate/inline";
import { readPullRequest } from "quillgate/values";
import { type Connection, sendWrite } from "./connection.js";
import { LIMIT_PERIOD } from "./deployment.js";
import { readDefaultBranch } from "./event.js";
import { explainStart } from "./explain.js";
import { callGithub, findApi, GithubError } from "./github_api.js";
import { derivePreviewKey } from "./idempotency.js";
import type { JobInputs } from "./inputs.js";
import type { Step } from "./step.js";

const NOT_STARTED = "The preview was not started";

/**
 * Starts the preview and does not wait for it. A failure is only a warning, because the job has
 * finished.
 */
export async function startJobPreview(
  step: Step,
  inputs: JobInputs,
  connection: Connection,
  job: AgentJob,
): Promise<StartedPreview | undefined> {
  const { runner, signal } = step;
  if (job.status === "failed" || readPullRequest(job.prLink) === null) return undefined;
  const branch = await findBranch(step, inputs, job);
  if (branch === undefined) {
    const text =
      "The branch of the pull request is not known: the input github-token cannot read it";
    runner.annotate("warning", NOT_STARTED, text);
    return undefined;
  }
  try {
    const { data } = await sendWrite(
      connection,
      (options) => connection.client.previews.create({ branch }, options),
      {
        key: derivePreviewKey(job.id ?? "", branch),
        ...{ timeout: inputs.timeout, limitPeriod: LIMIT_PERIOD, runner, signal },
      },
    );
    runner.info(`The preview ${data.statusId} of ${branch} has been started: ${data.previewUrl}`);
    return data;
  } catch (error) {
    if (signal.aborted) return undefined;
    const reason = explainStart(error, "preview", inputs, connection.reachability);
    runner.annotate("warning", NOT_STARTED, reason);
    return undefined;
  }
}

/** Returns the branch of the pull request as GitHub names it, or else that of the job. */
async function findBranch(
  { runner, signal }: Step,
  inputs: JobInputs,
  { prLink, source }: AgentJob,
): Promise<string | undefined> {
  const request = readPullRequest(prLink);
  const { GITHUB_SERVER_URL: server = "https://github.com" } = runner.env;
  const api = findApi(runner.env, inputs.githubToken);
  const { href, noun, repository, number } = request ?? {};
  const isHere = href?.startsWith(`${server}/`) && noun === "pull request";
  if (api !== undefined && isHere && repository && number) {
    const target = `/repos/${repository}/pulls/${number.slice(1)}`;
    try {
      const pull = await callGithub(api, "GET", target, { signal });
      const ref = (pull as { head?: { ref?: unknown } }).head?.ref;
      if (typeof ref === "string" && ref !== "") return ref;
    } catch (error) {
      if (!(error instanceof GithubError)) throw error;
      runner.info(`The pull request cannot be read: ${error.message}.`);
    }
  }
  const branch = source?.ref?.replace(/^refs\/heads\//, "");
  // A pull request never has the default branch.
  return branch === readDefaultBranch(runner.env) ? undefined : branch || undefined;
}
