/** `command: automation`: runs a scheduled automation. Mintlify does not report its end. */

import type { Noun } from "./explain.js";
import { deriveStartKey } from "./idempotency.js";
import type { AutomationInputs } from "./inputs.js";
import { escapeMarkdown, formatCode, formatRows } from "./markdown.js";
import { type Start, type Step, start } from "./step.js";

const NOUN: Noun = "run";

/** Runs the command and returns the exit code. */
export async function runAutomation(step: Step, inputs: AutomationInputs): Promise<number> {
  const { runner } = step;
  const { automation, project, matrix, idempotencyKey } = inputs;
  const parts = ["automation", project, automation, matrix];
  const started = await start(step, inputs, {
    noun: NOUN,
    key: idempotencyKey ?? deriveStartKey(runner.env, parts),
    send: (client, options) => client.automations.run(automation, options),
  });
  const id = started.connection === undefined ? null : started.data.instanceId;
  runner.setOutput("instance-id", id ?? "");
  const { words, failure } = describe(started);
  const details = [
    ["Project", formatCode(project)] as const,
    ["Automation", formatCode(automation)] as const,
    ...(id === null ? [] : [["Run", formatCode(id)] as const]),
  ];
  const quoted = failure === undefined ? [] : [`> ${escapeMarkdown(failure)}`];
  runner.appendSummary([`### ${words}`, ...quoted, formatRows(details)].join("\n\n"));
  if (failure === undefined) {
    runner.info(`${words}${id === null ? "" : ` (${id})`}; Mintlify's dashboard shows its result.`);
    return 0;
  }
  runner.annotate(
    started.connection === undefined && started.kind === "cancelled" ? "warning" : "error",
    words,
    failure,
  );
  return 1;
}

/** Describes the outcome in one sentence without a full stop, and explains a failure. */
function describe(started: Start<unknown>): { words: string; failure?: string } {
  if (started.connection !== undefined) {
    return {
      words: started.isReused
        ? "The automation was queued by an earlier attempt of this step"
        : "The automation is queued",
    };
  }
  const dashboard = "Mintlify's dashboard shows whether the automation runs";
  switch (started.kind) {
    case "cancelled":
      return {
        words: "The step was cancelled before the gateway confirmed the automation",
        failure: `${dashboard}.`,
      };
    case "unknown":
      return {
        words: "The Action cannot tell whether the automation started",
        failure: `${started.reason}. ${dashboard}. To start it again, start a new run or set another idempotency-key.`,
      };
    case "failed":
      return { words: "The automation was not started", failure: started.reason };
  }
}
