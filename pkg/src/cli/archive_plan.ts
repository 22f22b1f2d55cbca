/** `quillgate archive plan` */

import { writeFields } from "./archive_status.js";
import { type Context, readText, UsageError } from "./command.js";
import { readGatewaySettings } from "./connection.js";
import { readRoute, toAnalyticsPath } from "./gateway_request.js";

export async function run(context: Context): Promise<undefined> {
  const { output, signal } = context;
  const dateFrom = readText(context, "from");
  if (dateFrom === undefined)
    throw new UsageError("--from is missing: the first day that is wanted");
  const settings = await readGatewaySettings(context);
  const path = toAnalyticsPath(settings.projectId, "views/daily/backfill");
  const plan = await readRoute(settings, path, { dateFrom }, signal);
  if (output.json) {
    await output.printJson(plan);
    return;
  }
  if (typeof plan.dateFrom === "string" && plan.dateFrom > dateFrom) {
    output.note(
      "quillgate: the archive keeps no day before the first one (ARCHIVE_RETENTION_DAYS)",
    );
  }
  await output.write(
    writeFields([
      ["first day", plan.dateFrom],
      ["days that are missing", plan.days],
      ["requests", plan.requests],
      ["hours", plan.hours ?? "never: the archive's share of the budget is too small"],
      ["complete at", plan.completeAt],
    ]),
  );
}
