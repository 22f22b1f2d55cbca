/**
 * `quillgate doctor --live`: sends a few requests to Mintlify with the operator's admin key, and
 * reports the shapes of the responses.
 */

import { isPrivate } from "../base_url.js";
import { type Context, readText } from "./command.js";
import { UsageError } from "./errors.js";
import { getExitCode } from "./exit_codes.js";
import { isSuccess } from "./live_facts.js";
import { makeReport, writeReport } from "./live_report.js";
import { planRequests, sendRequests, type Target } from "./live_requests.js";
import { confirm } from "./question.js";
import { toUrl } from "./raw_request.js";
import { readSettings } from "./settings.js";
import { toLine } from "./table.js";
import { openTarget, writeToTarget } from "./target.js";

const MINTLIFY = "https://api.mintlify.com";

export async function run(context: Context): Promise<number> {
  const { output } = context;
  const target = await readTarget(context);
  const file = await openTarget(context);
  for (const line of describePlan(target)) output.note(line);
  await confirm(context, "Send these requests?", "no request was sent");
  const seen = await sendRequests(target);
  const report = makeReport(seen, target);
  const text = output.json ? `${output.toJson(report)}\n` : writeReport(report);
  await writeToTarget(file, text);
  const contradicted = report.facts.filter(({ verdict }) => verdict === "contradicted").length;
  output.note(`quillgate: ${seen.length} requests, ${contradicted} facts contradicted`);
  output.note("quillgate: please read the report before you share it");
  return getExitCode(seen.some(isSuccess) ? "ok" : "findings");
}

/** @throws {UsageError} if the project or the admin key is missing, or the key would be readable */
async function readTarget(context: Context): Promise<Target> {
  const { baseUrl = MINTLIFY, projectId, credential } = await readSettings(context);
  if (projectId === undefined)
    throw new UsageError("no project: set --project or QUILLGATE_PROJECT_ID");
  if (credential?.kind !== "adminKey") {
    throw new UsageError("--live needs Mintlify's admin key: set --admin-key-file");
  }
  // Also validates the base URL.
  if (!isPrivate(toUrl(baseUrl, ""))) {
    throw new UsageError("the base URL is not https: others could read the admin key");
  }
  const jobId = readText(context, "job");
  const adminKey = credential.value;
  return { baseUrl, projectId, adminKey, jobId, now: Date.now(), signal: context.signal };
}

function describePlan(target: Target): string[] {
  const requests = planRequests(target).map(([, path]) => `  GET ${toLine(path)}`);
  return [
    `quillgate sends these requests to ${toLine(target.baseUrl)}, with the admin key:`,
    ...requests,
    "  GET the second page of searches, once or twice",
    "They change nothing. They use at most 8 of the organization's 100 analytics requests an hour.",
    "The report has names of properties, types, formats, counts of rows and the range of ctr, but no other values.",
  ];
}
