import { useEffect, useRef } from "preact/hooks";
import type { ListedJob } from "quillgate";
import { allows } from "./access_token.ts";
import { announce } from "./announcer.tsx";
import { now } from "./clock.ts";
import { External, ToneIcon } from "./icons.tsx";
import type { JobEntry } from "./job_book.ts";
import { jobState, pullRequest } from "./job_state.ts";
import { ProblemPanel } from "./problem_panel.tsx";
import type { ProjectJobs } from "./project_jobs.ts";
import { ScopeNotice } from "./scope_notice.tsx";
import type { Session } from "./session.ts";
import { counted, dayAndTime, moment } from "./wording.ts";

/** How often the list is asked for again while it is in sight. */
const RENEWAL_MS = 30_000;
const TITLE = "jobs-of-the-project";

/** Leads the person to the list, by mouse or keyboard. */
export function showProjectJobs(): void {
  document.getElementById(TITLE)?.focus();
}

/** Everybody's jobs of the project that were started through the gateway. */
export function ProjectJobsList({ session }: { session: Session }) {
  const mayRead = allows(session.claims, "jobs:read");
  return (
    <section class="project-jobs" aria-labelledby={TITLE}>
      <div class="list-head">
        <h2 id={TITLE} tabIndex={-1}>
          Recent jobs of this project
        </h2>
        {mayRead && <Renewal jobs={session.projectJobs} />}
      </div>
      {mayRead ? (
        <Listed session={session} />
      ) : (
        <ScopeNotice scope="jobs:read" lost="it cannot list the jobs of the project" />
      )}
    </section>
  );
}

function Renewal({ jobs }: { jobs: ProjectJobs }) {
  const loadedAt = jobs.loadedAt.value;
  const busy = jobs.busy.value;

  async function refresh() {
    if (busy) return;
    if (await jobs.refresh("by the person")) announce("Jobs of the project updated");
  }

  return (
    <div class="renewal">
      {loadedAt !== null && <span class="hint">As of {moment(loadedAt, now.value)}</span>}
      <button type="button" class="quiet" aria-disabled={busy} onClick={refresh}>
        Refresh
      </button>
    </div>
  );
}

function Listed({ session }: { session: Session }) {
  const { projectJobs } = session;
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => keepRenewing(projectJobs), [projectJobs]);
  const listing = projectJobs.listing.value;
  const problem = projectJobs.problem.value;
  const busy = projectJobs.busy.value;

  async function showMore() {
    if (busy || listing === null) return;
    const shown = listing.jobs.length;
    if (!(await projectJobs.showMore())) return;
    const added = (projectJobs.listing.peek()?.jobs.length ?? shown) - shown;
    announce(`${counted(added, "more job")} shown`);
    // The button is gone when that was all of them.
    requestAnimationFrame(() => list.current?.querySelectorAll("button")[shown]?.focus());
  }

  return (
    <>
      {problem && (
        <ProblemPanel problem={problem} onRetry={() => projectJobs.refresh("by the person")} />
      )}
      {listing === null && problem === null && <Waiting />}
      {listing?.jobs.length === 0 && (
        <div class="empty">
          <p class="empty-title">No job was started through this gateway yet</p>
          <p>What anybody starts in this project from now on is listed here.</p>
        </div>
      )}
      {listing !== null && listing.jobs.length > 0 && (
        <ol ref={list} class="ledger card">
          {listing.jobs.map((job) => (
            <Row key={job.id} listed={job} session={session} />
          ))}
        </ol>
      )}
      {listing !== null && listing.more !== null && (
        <button type="button" class="show-more" aria-disabled={busy} onClick={showMore}>
          Show more
        </button>
      )}
    </>
  );
}

/** Asks now, then at intervals and when the tab is looked at again, until it is called off. */
function keepRenewing(jobs: ProjectJobs): () => void {
  const renew = () => {
    if (!document.hidden) jobs.refresh();
  };
  renew();
  const timer = setInterval(renew, RENEWAL_MS);
  document.addEventListener("visibilitychange", renew);
  return () => {
    clearInterval(timer);
    document.removeEventListener("visibilitychange", renew);
  };
}

/** Grey rows stand in for the jobs until there is an answer. */
function Waiting() {
  return (
    <div class="ledger card" aria-hidden="true">
      {[1, 2, 3].map((row) => (
        <div key={row} class="ledger-row">
          <span class="ledger-title waiting-line" />
          <span class="ledger-facts waiting-line" />
        </div>
      ))}
    </div>
  );
}

function Row({ listed, session }: { listed: ListedJob; session: Session }) {
  const { jobs, projectJobs } = session;
  const { id, prompt, createdBy, createdAt } = listed;
  const entry = jobs.entries.value.find((one) => one.id === id);
  const job = latest(listed, entry, projectJobs.loadedAt.value ?? 0);
  const { tone, word } = jobState(job);
  const facts = `facts-${id}`;
  const state = `state-${id}`;
  return (
    <li class={`ledger-row tone-${tone}`}>
      <button
        type="button"
        class="ledger-title"
        aria-describedby={`${state} ${facts}`}
        onClick={() => jobs.open(listed)}
      >
        {prompt || `Job ${id}`}
      </button>
      <p id={state} class="pill">
        <ToneIcon tone={tone} />
        {word}
      </p>
      <p id={facts} class="hint ledger-facts">
        {createdBy !== null && <>by {createdBy}, </>}
        {createdAt !== null && (
          <time dateTime={createdAt}>{dayAndTime(Date.parse(createdAt))}</time>
        )}
        {entry && " · in this tab"}
      </p>
      {job.prLink !== null && <PullRequestLink link={job.prLink} />}
    </li>
  );
}

/** A job that this tab watches is known better here than by a list from before. */
function latest(listed: ListedJob, entry: JobEntry | undefined, loadedAt: number) {
  const { job = null, newsAt = null, watching = false } = entry ?? {};
  return job !== null && newsAt !== null && (watching || newsAt > loadedAt) ? job : listed;
}

function PullRequestLink({ link }: { link: string }) {
  const request = pullRequest(link);
  if (request === null) {
    return <p class="hint ledger-link">Its pull request’s address is not safe to open.</p>;
  }
  return (
    <a class="ledger-link" href={request.href} target="_blank" rel="noopener">
      <span>
        <span class="visually-hidden">Pull request </span>
        {request.name}
      </span>
      <External />
    </a>
  );
}
