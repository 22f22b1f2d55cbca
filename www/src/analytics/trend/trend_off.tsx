import { useSignal } from "@preact/signals";
import type { Client } from "quillgate";
import { toastLoadFailure } from "../../shell/load_failure.tsx";
import { today } from "../period/today.ts";
import { archiveSentence } from "./archive_sentence.ts";
import type { Trend, TrendQuery } from "./daily_trend.ts";
import * as styles from "./trend_off.module.css";

export interface TrendProps extends TrendQuery {
  client: Client;
  ended: AbortSignal;
}

/** The states in which opening the explanation asks the gateway again. */
const UNANSWERED: readonly (Trend["state"] | undefined)[] = [undefined, "failed", "no day yet"];

/** Explains how to turn on the archive. Asks the gateway for its reason only when opened. */
export function TrendOff({ client, ended, ...query }: TrendProps) {
  const read = useSignal<Trend | null>(null);
  const answer = read.value && archiveSentence(read.value);
  async function ask() {
    if (!UNANSWERED.includes(read.peek()?.state)) return;
    const code = await import("./daily_trend.ts").catch(() => null);
    if (code === null) return toastLoadFailure("Couldn’t load the gateway’s reason.");
    read.value = await code.readTrend(client, query, today.peek(), ended);
  }
  return (
    <details
      class={`${styles.off} hint`}
      onToggle={({ currentTarget }) => {
        // The only error is the end of the session.
        if (currentTarget.open) ask().catch(() => {});
      }}
    >
      <summary>Daily data is off. How to turn it on</summary>
      <p>
        Ask your gateway admin to add this project to <code>ARCHIVE_PROJECTS</code>. See “The daily
        archive” in the deployment guide.
      </p>
      {answer !== null && <p>{answer}</p>}
    </details>
  );
}
