import * as styles from "./trend_off.module.css";

/** Explains how to turn on the archive. `detail` is the gateway's reason, if it was asked. */
export function TrendOff({ detail }: { detail?: string }) {
  return (
    <details class={`${styles.off} hint`}>
      <summary>Daily data is off. How to turn it on</summary>
      <p>
        Ask your gateway admin to add this project to <code>ARCHIVE_PROJECTS</code>. See “The daily
        archive” in the deployment guide.
      </p>
      {detail !== undefined && <p>The gateway says: {detail}</p>}
    </details>
  );
}
