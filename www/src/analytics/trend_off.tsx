import { useSignal } from "@preact/signals";
import type { Client } from "quillgate";
import type { TrendQuery } from "./daily_trend.ts";
import { today } from "./today.ts";

export interface TrendProps extends TrendQuery {
  client: Client;
  ended: AbortSignal;
}

/** That there is no trend, and what can be done about it: the gateway is asked once that is read. */
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
        // What cannot be asked for is only left out.
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
