import { useSignal } from "@preact/signals";
import type { Client } from "quillgate";
import type { TrendQuery } from "./daily_trend.ts";
import { today } from "./today.ts";

export interface TrendProps extends TrendQuery {
  client: Client;
  ended: AbortSignal;
}

/** Explains how to turn on the archive. Asks the gateway for its reason only when opened. */
export function TrendOff({ client, ended, ...query }: TrendProps) {
  const answer = useSignal<string | null>(null);
  async function ask() {
    if (answer.peek() !== null) return;
    const { readTrend } = await import("./daily_trend.ts");
    const read = await readTrend(client, query, today.peek(), ended);
    answer.value =
      read.state === "off" ? `The gateway says: ${read.detail}` : "It is on now. Reload this page.";
  }
  return (
    <details
      class="trend-off hint"
      onToggle={({ currentTarget }) => {
        // If the code does not load, the gateway's reason is missing.
        if (currentTarget.open) ask().catch(() => {});
      }}
    >
      <summary>Daily data is off. How to turn it on</summary>
      <p>
        Ask your gateway admin to add this project to <code>ARCHIVE_PROJECTS</code>. See “The daily
        archive” in the deployment guide.
      </p>
      {answer.value !== null && <p>{answer.value}</p>}
    </details>
  );
}
