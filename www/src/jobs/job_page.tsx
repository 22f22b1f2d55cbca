import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { type PullRequest, readPullRequest } from "quillgate/values";
import { subjectPage } from "../effect/subject_page.ts";
import * as styles from "../live/item_page.module.css";
import { MissingItem } from "../live/missing_item.tsx";
import { StateLine } from "../live/state_line.tsx";
import { useItemTitle } from "../live/wanted_focus.ts";
import { allows } from "../session/claims.ts";
import type { Session } from "../session/session.ts";
import { now, today } from "../shell/clock.ts";
import { CopyButton } from "../shell/copy_button.tsx";
import { defer } from "../shell/deferred.tsx";
import { HEADING_ID } from "../shell/heading.tsx";
import { External } from "../shell/icons.tsx";
import { ProblemPanel } from "../shell/problem_panel.tsx";
import { toast } from "../shell/toast.ts";
import { duration, moment } from "../shell/wording.ts";
import type { JobBook } from "./job_book.ts";
import { JobDetails } from "./job_details.tsx";
import { jobState, titleOf } from "./job_state.ts";
import { FollowUpBox, FollowUps, isHeading, Prompt } from "./job_thread.tsx";
import { describeJobTime } from "./job_time.ts";
import { NewJobButton } from "./new_job_button.tsx";
import { compose } from "./open_composer.ts";
import type { JobFacts, OpenJob } from "./open_job.ts";
import { PullRequestBadge, usePullRequestState } from "./pull_request_badge.tsx";
import { jobsOf } from "./session_jobs.ts";
import type { ThreadMessage } from "./thread.ts";
import { JOB_WORDS, LIST_WORDS } from "./words.ts";

const JobPreview = defer(async () => (await import("../deployments/job_preview.tsx")).JobPreview);
const MergeEffect = defer(async () => (await import("../effect/merge_effect.tsx")).MergeEffect);

/** Shows one job: its state, its prompt and follow-ups, its history and its details. */
export function JobPage({ id, session }: { id: string; session: Session }) {
  const { claims, projectId } = session;
  const book = jobsOf(session);
  useEffect(() => {
    book.open(id);
    return () => book.close();
  }, [book, id]);
  const mayWrite = allows(claims, "jobs:create");
  const opened = book.opened.value;
  const job = opened?.id === id ? opened : null;
  const facts = job?.facts.value ?? null;
  const problem = job?.problem.value ?? null;
  const state = jobState(facts);
  useJobTitle(id, job, facts === null ? null : state.word);
  return (
    <article
      class={`stack ${styles.item}`}
      aria-labelledby={HEADING_ID}
      aria-busy={facts === null && problem === null}
    >
      <div class="toolbar">
        {facts !== null && job !== null && (
          <StateLine state={state} time={describeJobTime(facts, job.workSpan.value, now.value)} />
        )}
        {mayWrite && <NewJobButton book={book} isMain={false} />}
      </div>
      {problem && job && <Trouble job={job} facts={facts} book={book} projectId={projectId} />}
      {facts === null && problem === null && <p class="hint">{JOB_WORDS.loading}</p>}
      {facts !== null && job !== null && (
        <Known session={session} job={job} facts={facts} book={book} mayWrite={mayWrite} />
      )}
    </article>
  );
}

/** Makes the job's title the page's heading. */
function useJobTitle(id: string, job: OpenJob | null, state: string | null): void {
  const [prompt] = job?.thread.value ?? [];
  useItemTitle(id, {
    heading: titleOf(prompt?.text ?? "") || LIST_WORDS.untitled(id),
    state,
    parent: { label: JOB_WORDS.allJobs, change: { jobs: { id: null } } },
  });
}

interface TroubleProps {
  job: OpenJob;
  facts: JobFacts | null;
  book: JobBook;
  projectId: string;
}

function Trouble({ job, facts, book, projectId }: TroubleProps) {
  const problem = job.problem.value;
  if (problem === null) return null;
  if (job.isMissing.value && facts === null) {
    return (
      <MissingItem
        title={JOB_WORDS.notFound(projectId)}
        hint={JOB_WORDS.notFoundHint}
        id={job.id}
      />
    );
  }
  return (
    <ProblemPanel
      problem={problem}
      retryLabel={JOB_WORDS.checkAgain}
      onRetry={() => book.checkAgain(job)}
    />
  );
}

interface KnownProps {
  session: Session;
  job: OpenJob;
  facts: JobFacts;
  book: JobBook;
  mayWrite: boolean;
}

function Known({ session, job, facts, book, mayWrite }: KnownProps) {
  const [prompt, ...followUps] = job.thread.value;
  const box = useRef<HTMLTextAreaElement>(null);
  const hasFailed = facts.status === "failed";
  const request = readPullRequest(facts.prLink);
  const requestState = usePullRequestState(
    session,
    job.id,
    request === null ? null : `${facts.status} ${facts.prLink}`,
  );
  const branch = previewBranch(facts);
  const showsPreview =
    allows(session.claims, "deployments:create") || allows(session.claims, "deployments:read");
  const page = subjectPage(prompt?.text ?? "");
  const hasText = prompt !== undefined && prompt.extent !== "nothing";
  const showsPrompt = prompt !== undefined && !isHeading(prompt);
  const hasThread = showsPrompt || followUps.length > 0 || mayWrite;
  return (
    <>
      {hasFailed && <Failure job={job} book={book} mayWrite={mayWrite} />}
      {request !== null && (
        <PullRequestActions request={request} hasFailed={hasFailed}>
          <PullRequestBadge known={requestState} />
        </PullRequestActions>
      )}
      {branch !== null && showsPreview && <JobPreview session={session} branch={branch} />}
      {typeof requestState?.mergedAt === "number" && page !== null && (
        <MergeEffect session={session} path={page} mergedAt={requestState.mergedAt} />
      )}
      {facts.status === "completed" && request === null && (
        <Unchanged onFollowUp={mayWrite ? () => box.current?.focus() : null} />
      )}
      <div class={hasThread ? styles.columns : ""}>
        {hasThread && (
          <div class={`stack ${styles.said}`}>
            {showsPrompt && <Prompt message={prompt} />}
            {followUps.length > 0 && <FollowUps messages={followUps} />}
            {mayWrite && <FollowUpBox facts={facts} book={book} box={box} />}
            {mayWrite && hasText && !hasFailed && (
              <div class="actions">
                <button type="button" class="quiet" onClick={() => runAgain(book, prompt)}>
                  {JOB_WORDS.runAgain}
                </button>
              </div>
            )}
          </div>
        )}
        <JobDetails job={job} facts={facts} book={book} />
      </div>
    </>
  );
}

/** Names of default branches, which are the site itself. */
const DEFAULT_BRANCHES: readonly string[] = ["main", "master"];

/** Returns the branch that the agent works on; null if it is unknown or a default branch. */
function previewBranch({ branch }: JobFacts): string | null {
  const name = branch?.replace(/^refs\/heads\//, "").trim() ?? "";
  return name === "" || DEFAULT_BRANCHES.includes(name) ? null : name;
}

interface PullRequestProps {
  request: PullRequest;
  hasFailed: boolean;
  children: ComponentChildren;
}

function PullRequestActions({ request, hasFailed, children }: PullRequestProps) {
  const { href, name, noun } = request;
  if (href === null) {
    return (
      <p class="notice">
        {JOB_WORDS.unsafePullRequest} <code>{name}</code>
      </p>
    );
  }
  return (
    <div class="actions">
      {hasFailed && <span class="hint">{JOB_WORDS.failedPullRequest(noun)}</span>}
      <a
        class={`button ${styles.pullRequest} ${hasFailed ? "" : "primary"}`}
        href={href}
        target="_blank"
        rel="noopener"
      >
        <span>
          {JOB_WORDS.openPullRequest(noun)} <span class={styles.pullRequestName}>{name}</span>
        </span>
        <External />
      </a>
      {children}
      <CopyButton label={JOB_WORDS.copyPullRequestLink(noun)} text={href} />
    </div>
  );
}

/** Opens the panel for a new job with the known part of the prompt. */
function runAgain(book: JobBook, prompt: ThreadMessage | null): void {
  compose(book, prompt?.text ?? "");
  if (prompt?.extent === "start") toast({ text: JOB_WORDS.incomplete });
}

/** Explains a failed job. Mintlify does not send a reason. */
function Failure({ job, book, mayWrite }: { job: OpenJob; book: JobBook; mayWrite: boolean }) {
  const { startedAt, finishedAt } = job.workSpan.value;
  const [prompt] = job.thread.value;
  const when = finishedAt === null ? "" : JOB_WORDS.failedAt(moment(finishedAt, today.value));
  const after =
    finishedAt === null || startedAt === null
      ? ""
      : JOB_WORDS.after(duration(finishedAt - startedAt));
  return (
    <div class="problem">
      <p class="problem-title">{JOB_WORDS.failed(when, after)}</p>
      <p>{JOB_WORDS.failedHint}</p>
      {mayWrite && (
        <button type="button" onClick={() => runAgain(book, prompt ?? null)}>
          {JOB_WORDS.tryAgain}
        </button>
      )}
    </div>
  );
}

/** Explains a job that finished without a pull request. */
function Unchanged({ onFollowUp }: { onFollowUp: (() => void) | null }) {
  return (
    <div class="notice">
      <p class={styles.noticeTitle}>{JOB_WORDS.unchangedTitle}</p>
      <p>{JOB_WORDS.unchangedHint}</p>
      {onFollowUp !== null && (
        <button type="button" onClick={onFollowUp}>
          {JOB_WORDS.writeFollowUp}
        </button>
      )}
    </div>
  );
}
