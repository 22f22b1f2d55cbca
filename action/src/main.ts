/** The action's entry point: runs one command, such as creating an agent job. */

import "./cancellation.js";

import { ProxyError, readProxies, useProxies } from "../../pkg/dist/proxy.js";
import { runAutomation } from "./automation.js";
import { cancellation } from "./cancellation.js";
import { runDeploy, runPreview } from "./deployment.js";
import { readPullRequest } from "./event.js";
import { findApi } from "./github_api.js";
import { decide, type Guard } from "./guard.js";
import { InputError } from "./input_error.js";
import { type Inputs, readInputs } from "./inputs.js";
import { runJob } from "./job.js";
import { escapeMarkdown } from "./markdown.js";
import { summarizeMistake } from "./report.js";
import { Runner, RunnerError } from "./runner.js";
import type { Step } from "./step.js";

const runner = new Runner(process.env, (line) => process.stdout.write(`${line}\n`));

try {
  const code = await run(cancellation);
  process.exitCode ??= code;
} catch (error) {
  if (!(error instanceof InputError || error instanceof RunnerError)) throw error;
  runner.annotate("error", "The step is set up wrongly", error.message);
  if (runner.env.GITHUB_STEP_SUMMARY) runner.appendSummary(summarizeMistake(error.message));
  process.exitCode = 1;
}

/** Runs the step and returns its exit code. */
async function run(signal: AbortSignal): Promise<number> {
  const inputs = readInputs(runner);
  await applyProxy();
  if (inputs.guard !== undefined && !(await passes(inputs.guard, inputs, signal))) return 0;
  const step: Step = { runner, signal, pull: readPullRequest(runner.env) };
  switch (inputs.command) {
    case "job":
      return await runJob(step, inputs);
    case "deploy":
      return await runDeploy(step, inputs);
    case "preview":
      return await runPreview(step, inputs);
    case "automation":
      return await runAutomation(step, inputs);
  }
}

/** Returns whether the step runs. If it cannot be decided, it runs. */
async function passes(guard: Guard, inputs: Inputs, signal: AbortSignal): Promise<boolean> {
  const api = findApi(runner.env, inputs.githubToken);
  let decision: Awaited<ReturnType<typeof decide>>;
  try {
    decision = await decide(guard, { runner, api, timeout: inputs.timeout, signal });
  } catch (error) {
    if (!signal.aborted) throw error;
    runner.annotate("warning", "The step was cancelled", "Nothing was started.");
    return false;
  }
  const { isChanged, reason } = decision;
  const isSkipped = isChanged === false;
  runner.setOutput("skipped", String(isSkipped));
  if (isSkipped) {
    runner.info(`Skipped: ${reason}.`);
    runner.appendSummary(`### Skipped\n\n${escapeMarkdown(reason)}`);
  } else if (isChanged) {
    runner.info(`if-changed: ${reason}.`);
  } else {
    runner.annotate("warning", "The step runs, because if-changed could not be decided", reason);
  }
  return !isSkipped;
}

/** Sends requests through the runner's proxy, or warns that this Node.js cannot. */
async function applyProxy(): Promise<void> {
  try {
    const proxies = readProxies(runner.env);
    if (proxies === undefined || (await useProxies(proxies, runner.env))) return;
  } catch (error) {
    if (error instanceof ProxyError) throw new InputError(error.message);
    throw error;
  }
  const text = `The runner's Node.js ${process.versions.node} needs NODE_USE_ENV_PROXY: 1 in the step's env, or a newer runner`;
  runner.annotate("warning", "The runner's proxy is not used", text);
}
