import { useSignal } from "@preact/signals";
import type { Client } from "quillgate";
import type { DayRange } from "./range.ts";
import { today } from "./today.ts";

export interface TrendProps {
  client: Client;
  range: DayRange;
  /** The folder that is shown; null for the whole site. */
  prefix: string | null;
  ended: AbortSignal;
}

/** That there is no trend, and what can be done about it: the gateway is asked once that is read. */
export function TrendOff({ client, range, prefix, ended }: TrendProps) {
  const answer = useSignal<string | null>(null);
  async function ask() {
    if (answer.peek() !== null) return;
    const { readTrend } = await import("./daily_trend.ts");
    const read = await readTrend(client, range, prefix, today.peek(), ended);
    answer.value =
      read.state === "off"
        ? `The gateway says: ${read.detail}`
        : "The gateway says nothing against it now. Reload this page to see the trend.";
  }
  return (
    <details
      class="trend-off hint"
      onToggle={({ currentTarget }) => {
        // What cannot be asked for is only left out.
        if (currentTarget.open) ask().catch(() => {});
      }}
    >
      <summary>Daily trend is off. How to turn it on</summary>
      <p>
        Whoever runs the gateway can: “The daily archive” in the deployment guide has the steps, of
        which one is to name this project in <code>ARCHIVE_PROJECTS</code>.
      </p>
      {answer.value !== null && <p>{answer.value}</p>}
    </details>
  );
}
