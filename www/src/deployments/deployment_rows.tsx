import type { RefObject } from "preact";
import type { ListedDeployment } from "quillgate";
import * as styles from "../live/live_rows.module.css";
import { type LiveRow, LiveRows } from "../live/live_rows.tsx";
import { OutsideLink, safeHref } from "../shell/outside_link.tsx";
import { deploymentState, isRunning, targetOf } from "./deployment_state.ts";
import { DEPLOYMENT_WORDS } from "./words.ts";

interface DeploymentRowsProps {
  deployments: readonly ListedDeployment[];
  isBusy: boolean;
  focused: RefObject<string | null>;
}

/** The rows of the list of deployments, grouped by day. */
export function DeploymentRows({ deployments, ...props }: DeploymentRowsProps) {
  return <LiveRows rows={deployments.map(toRow)} {...props} />;
}

function toRow(deployment: ListedDeployment): LiveRow {
  const { statusId: id, status, summary, previewUrl, createdBy, createdAt } = deployment;
  return {
    id,
    state: deploymentState(deployment),
    title: targetOf(deployment),
    // A success has a sentence with the site's address, which is the same in every row.
    detail: status === "failure" ? summary : null,
    change: { route: "deployments", deployments: { id } },
    createdBy,
    createdAt,
    isRunning: isRunning(deployment),
    link: previewUrl !== null && <PreviewHost url={previewUrl} />,
  };
}

function PreviewHost({ url }: { url: string }) {
  const href = safeHref(url);
  if (href === null) return <p class={`hint ${styles.link}`}>{DEPLOYMENT_WORDS.unsafeLink}</p>;
  return (
    <OutsideLink class={styles.link} href={href}>
      {DEPLOYMENT_WORDS.openPreview}
    </OutsideLink>
  );
}
