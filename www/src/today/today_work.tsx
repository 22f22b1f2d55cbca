import { useEffect, useRef } from "preact/hooks";
import type { ListedDeployment, ListedJob } from "quillgate";
import { readPullRequest } from "quillgate/values";
import { deploymentNews } from "../deployments/deployment_news.ts";
import { targetOf } from "../deployments/deployment_state.ts";
import { jobNews } from "../jobs/job_news.ts";
import { titleOf } from "../jobs/job_state.ts";
import { PullRequestLink } from "../jobs/pull_request_link.tsx";
import { LIST_WORDS } from "../jobs/words.ts";
import { allows } from "../session/claims.ts";
import type { Session } from "../session/session.ts";
import { currentTime } from "../shell/clock_skew.ts";
import { keepFocus } from "../shell/follow_focus.ts";
import { Link } from "../shell/link.tsx";
import { ProblemPanel } from "../shell/problem_panel.tsx";
import { type Read, useRead } from "../shell/use_read.ts";
import { Card, type Heading, Item, Rows, RowTime } from "./today_card.tsx";
import {
  hasOtherDeployments,
  readTodayDeployments,
  type TodayDeployments,
} from "./today_deployments.ts";
import { type Found, isOutdated, readTodayJobs, type TodayJobs } from "./today_jobs.ts";
import { TODAY_WORDS } from "./words.ts";

/** How long to wait before following deployments, to keep the first load fast. */
const FOLLOW_AFTER_MS = 3000;

/** Reads the jobs of the project, and again when the job feed has others. */
export function useTodayJobs(session: Session): Read<TodayJobs> {
  const read = (signal: AbortSignal) => readTodayJobs(session, currentTime(), signal);
  const mayRead = allows(session.claims, "jobs:read");
  const jobs = useRead(session.end.signal, mayRead ? read : null, []);
  useNews(jobs, jobNews.of(session).value, isOutdated);
  return jobs;
}

/** Reads the deployments of the project, and again when their feed has others. */
export function useTodayDeployments(session: Session): Read<TodayDeployments> {
  const read = (signal: AbortSignal) => readTodayDeployments(session, currentTime(), signal);
  const mayRead = allows(session.claims, "deployments:read");
  const deployments = useRead(session.end.signal, mayRead ? read : null, []);
  useNews(deployments, deploymentNews.of(session).value, hasOtherDeployments);
  const isRead = deployments.value !== null;
  useEffect(() => {
    if (!isRead) return;
    const timer = setTimeout(async () => {
      // Without this code, the section stays as it was read.
      const loaded = await import("../deployments/session_deployments.ts").catch(() => null);
      if (!session.end.signal.aborted) loaded?.deploymentsOf(session);
    }, FOLLOW_AFTER_MS);
    return () => clearTimeout(timer);
  }, [session, isRead]);
  return deployments;
}

/** Reads items again when a feed has others. */
function useNews<Item>(
  items: Read<{ read: readonly Item[] }>,
  news: ReadonlyMap<string, Item | null>,
  isOutdated: (read: readonly Item[], news: readonly [string, Item | null][]) => boolean,
): void {
  const compared = useRef(news);
  useEffect(() => {
    // A failed request waits for the person. A running one ends first.
    if (items.isReading || items.value === null || items.problem !== null) return;
    const before = compared.current;
    compared.current = news;
    const fresh = [...news].filter(([id, item]) => before.get(id) !== item);
    if (isOutdated(items.value.read, fresh)) items.retry();
  }, [news, items.isReading]);
}

export function TodayJobSections({ read: { value, problem, retry } }: { read: Read<TodayJobs> }) {
  const heading = useRef<HTMLHeadingElement>(null);
  const failure = <ReadFailure problem={problem} retry={retry} heading={heading} />;
  if (value === null && problem !== null) return failure;
  return (
    <>
      {failure}
      <JobSection
        name="pullRequests"
        state="ready"
        found={value?.toReview ?? null}
        heading={heading}
      />
      {value !== null && <JobSection name="failed" state="failed" found={value.failed} />}
    </>
  );
}

export function FailedDeployments({
  read: { value, problem, retry },
}: {
  read: Read<TodayDeployments>;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  const failure = <ReadFailure problem={problem} retry={retry} heading={heading} />;
  if (value === null && problem !== null) return failure;
  const link = { route: "deployments", deployments: { id: null } } as const;
  return (
    <>
      {failure}
      <Card name="deployments" link={link} heading={heading}>
        <Rows
          name="deployments"
          rows={value?.failed ?? null}
          renderRow={(deployment) => (
            <DeploymentItem key={deployment.statusId} deployment={deployment} />
          )}
        />
      </Card>
    </>
  );
}

function DeploymentItem({ deployment }: { deployment: ListedDeployment }) {
  const { statusId: id, summary, createdAt } = deployment;
  const link = { route: "deployments", deployments: { id } } as const;
  return (
    <Item
      text={targetOf(deployment)}
      link={link}
      {...(summary !== null && { detail: summary })}
      figure={<RowTime at={createdAt} />}
    >
      <Link class="button" to={link}>
        {TODAY_WORDS.openDeployment}
      </Link>
    </Item>
  );
}

interface ReadFailureProps extends Pick<Read<unknown>, "problem" | "retry"> {
  heading: Heading;
}

function ReadFailure({ problem, retry, heading }: ReadFailureProps) {
  if (problem === null) return null;
  const again = () => {
    retry();
    keepFocus(heading);
  };
  return <ProblemPanel problem={problem} onRetry={again} />;
}

interface JobSectionProps {
  name: "pullRequests" | "failed";
  state: "ready" | "failed";
  /** Null until the first response. */
  found: Found | null;
  heading?: Heading;
}

function JobSection({ name, state, found, heading }: JobSectionProps) {
  const link = {
    route: "jobs",
    jobs: { id: null, states: [state], authors: [], text: "" },
  } as const;
  const among = found?.among ?? null;
  return (
    <Card name={name} link={link} heading={heading}>
      <Rows
        name={name}
        rows={found?.jobs ?? null}
        renderRow={(job) => <JobItem key={job.id} job={job} />}
      />
      {among !== null && <p class="hint">{TODAY_WORDS.lookedAt(among.count, among.what)}</p>}
    </Card>
  );
}

function JobItem({ job }: { job: ListedJob }) {
  const { id, prompt, prLink, createdAt } = job;
  const request = readPullRequest(prLink);
  const link = { route: "jobs", jobs: { id } } as const;
  return (
    <Item
      text={titleOf(prompt ?? "") || LIST_WORDS.untitled(id)}
      link={link}
      figure={<RowTime at={createdAt} />}
    >
      {request !== null && job.status === "completed" ? (
        <PullRequestLink request={request} />
      ) : (
        <Link class="button" to={link}>
          {TODAY_WORDS.openJob}
        </Link>
      )}
    </Item>
  );
}
