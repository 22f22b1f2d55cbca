/** `quillgate archive plan` and `quillgate archive backfill`: estimate and start a backfill. */

import type { Backfill } from "../index.js";
import { type Context, readSwitch, readText } from "./command.js";
import { connectToGateway } from "./connection.js";
import { UsageError } from "./errors.js";
import { confirm } from "./question.js";
import { showValue, writeFields } from "./table.js";

/** Prints the estimate of a backfill. */
export async function plan(context: Context): Promise<undefined> {
  const { client, dateFrom } = await readArguments(context);
  const { signal } = context;
  await print(context, dateFrom, await client.analytics.estimateBackfill({ dateFrom }, { signal }));
}

/** Starts a backfill and prints its estimate. Asks first, because it can use budget for hours. */
export async function backfill(context: Context): Promise<undefined> {
  const { client, dateFrom } = await readArguments(context);
  const { signal, output } = context;
  if (!readSwitch(context, "yes") && output.interactive) {
    const { days, requests } = await client.analytics.estimateBackfill({ dateFrom }, { signal });
    const [shownDays, shownRequests] = [days, requests].map(showValue);
    output.note(
      `quillgate: ${shownDays} days, ${shownRequests} requests of the organization's budget`,
    );
  }
  await confirm(context, "Start the backfill?", "the backfill was not started");
  await print(context, dateFrom, await client.analytics.beginBackfill({ dateFrom }, { signal }));
}

async function readArguments(context: Context) {
  const dateFrom = readText(context, "from");
  if (dateFrom === undefined) throw new UsageError("--from is missing: the first day, YYYY-MM-DD");
  const { client } = await connectToGateway(context);
  return { client, dateFrom };
}

async function print({ output }: Context, wanted: string, estimate: Backfill): Promise<undefined> {
  if (output.json) {
    await output.printJson(estimate);
    return;
  }
  if (estimate.dateFrom > wanted) {
    output.note(
      "quillgate: the archive keeps no day before the first one (ARCHIVE_RETENTION_DAYS)",
    );
  }
  await output.write(
    writeFields([
      ["first day", estimate.dateFrom],
      ["days that are missing", estimate.days],
      ["requests", estimate.requests],
      ["hours", estimate.hours ?? "never: the archive's share of the budget is too small"],
      ["complete at", estimate.completeAt],
    ]),
  );
}
