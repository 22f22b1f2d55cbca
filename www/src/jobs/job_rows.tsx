import { effect } from "@preact/signals";
import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { ListedJob } from "quillgate";
import { parseInstant, readPullRequest } from "quillgate/values";
import { now, today } from "../shell/clock.ts";
import { DAY_MS } from "../shell/durations.ts";
import { followLink, linkTo } from "../shell/navigation.ts";
import { TimeAgo } from "../shell/time_ago.tsx";
import { dayAndTime } from "../shell/wording.ts";
import { groupByDay } from "./job_days.ts";
import { wantedRow } from "./job_focus.ts";
import * as styles from "./job_rows.module.css";
import { jobState, titleOf } from "./job_state.ts";
import { runningFor } from "./job_time.ts";
import { PullRequestLink } from "./pull_request_link.tsx";
import { ToneIcon } from "./tone_icon.tsx";
import { LIST_WORDS } from "./words.ts";

interface JobRowsProps {
  jobs: readonly ListedJob[];
  isBusy: boolean;
  /** Receives the id of the focused row. It stays when the row is removed. */
  focused?: RefObject<string | null> | undefined;
}

/** The rows of a job list, grouped by day. */
export function JobRows({ jobs, isBusy, focused }: JobRowsProps) {
  return (
    <>
      {groupByDay(jobs, today.value).map(({ key, label, jobs }) => (
        <div key={key} class={`stack ${styles.day}`}>
          {label !== null && <h3>{label}</h3>}
          <ol class={`${styles.ledger} card`} aria-busy={isBusy}>
            {jobs.map((job) => (
              <Row key={job.id} job={job} focused={focused} />
            ))}
          </ol>
        </div>
      ))}
    </>
  );
}

interface RowProps extends Pick<JobRowsProps, "focused"> {
  job: ListedJob;
}

function Row({ job, focused }: RowProps) {
  const { id, prompt, createdBy } = job;
  const { tone, word } = jobState(job);
  const request = readPullRequest(job.prLink);
  const change = { route: "jobs", jobs: { id } } as const;
  const title = titleOf(prompt ?? "") || LIST_WORDS.untitled(id);
  const link = useRef<HTMLAnchorElement>(null);
  // Not `useSignalEffect`, which waits for the next frame: the next key acts on the focused row.
  useLayoutEffect(
    () =>
      effect(() => {
        if (wantedRow.value !== id) return;
        wantedRow.value = null;
        link.current?.focus();
      }),
    [id],
  );
  return (
    <li class={styles.row}>
      <p id={`state-${id}`} class={`pill tone-${tone}`}>
        <ToneIcon tone={tone} />
        {word}
      </p>
      <a
        ref={link}
        class={styles.title}
        href={linkTo(change)}
        aria-describedby={`state-${id} facts-${id}`}
        onClick={(event) => followLink(event, change)}
        onFocus={() => {
          if (focused) focused.current = id;
        }}
        onBlur={({ relatedTarget }) => {
          // Without a target, the row was removed or another window got the focus.
          if (focused && relatedTarget !== null) focused.current = null;
        }}
      >
        {title}
      </a>
      <p id={`facts-${id}`} class={`hint ${styles.facts}`}>
        {createdBy !== null && <span class={styles.author}>{createdBy}</span>}
        <RowTime job={job} />
      </p>
      {request !== null && <PullRequestLink request={request} />}
    </li>
  );
}

function RowTime({ job }: { job: ListedJob }) {
  const created = parseInstant(job.createdAt);
  if (created === null) return null;
  const isRecent = job.status === "active" && today.value - created < DAY_MS;
  return isRecent ? <Running since={created} /> : <TimeAgo at={created} />;
}

/** Only this part of a row updates every second. */
function Running({ since }: { since: number }) {
  const age = now.value - since;
  if (age >= DAY_MS) return <TimeAgo at={since} />;
  return (
    <time dateTime={new Date(since).toISOString()} title={dayAndTime(since)}>
      {runningFor(age)}
    </time>
  );
}
