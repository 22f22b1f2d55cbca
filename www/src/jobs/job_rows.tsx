import type { RefObject } from "preact";
import type { ListedJob } from "quillgate";
import { readPullRequest } from "quillgate/values";
import { type LiveRow, LiveRows } from "../live/live_rows.tsx";
import { jobState, titleOf } from "./job_state.ts";
import { PullRequestLink } from "./pull_request_link.tsx";
import { LIST_WORDS } from "./words.ts";

interface JobRowsProps {
  jobs: readonly ListedJob[];
  isBusy: boolean;
  /** Receives the id of the focused row. It stays when the row is removed. */
  focused?: RefObject<string | null> | undefined;
}

/** The rows of a job list, grouped by day. */
export function JobRows({ jobs, ...props }: JobRowsProps) {
  return <LiveRows rows={jobs.map(toRow)} {...props} />;
}

function toRow(job: ListedJob): LiveRow {
  const { id, prompt, createdBy, createdAt } = job;
  const request = readPullRequest(job.prLink);
  return {
    id,
    state: jobState(job),
    title: titleOf(prompt ?? "") || LIST_WORDS.untitled(id),
    change: { route: "jobs", jobs: { id } },
    createdBy,
    createdAt,
    isRunning: job.status === "active",
    link: request !== null && <PullRequestLink request={request} />,
  };
}
