import { useSignalEffect } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { allows } from "../session/claims.ts";
import type { Session } from "../session/session.ts";
import { now, today } from "../shell/clock.ts";
import { External } from "../shell/icons.tsx";
import { followLink, linkTo } from "../shell/navigation.ts";
import { ProblemPanel } from "../shell/problem_panel.tsx";
import { toast } from "../shell/toast.ts";
import { dayAndTime, duration, moment } from "../shell/wording.ts";
import { CopyButton } from "./copy_button.tsx";
import type { JobBook } from "./job_book.ts";
import { wantedTitle } from "./job_focus.ts";
import { isFinished, jobState, pullRequest, titleOf } from "./job_state.ts";
import { describeJobTime } from "./job_time.ts";
import { NewJobButton } from "./new_job_button.tsx";
import { compose } from "./open_composer.ts";
import type { JobFacts, OpenJob } from "./open_job.ts";
import { PromptBox } from "./prompt_box.tsx";
import { jobsOf } from "./session_jobs.ts";
import type { ThreadMessage } from "./thread.ts";
import { ToneIcon } from "./tone_icon.tsx";

const TITLE = "job-title";

/** A job by itself: what was said to it, what became of it, and what else is known. */
export function JobPage({ id, session }: { id: string; session: Session }) {
  const { claims, projectId } = session;
  const book = jobsOf(session);
  useEffect(() => {
    book.open(id);
    return () => book.close();
  }, [book, id]);
  useSignalEffect(() => {
    if (wantedTitle.value !== id) return;
    wantedTitle.value = null;
    document.getElementById(TITLE)?.focus();
  });
  const mayWrite = allows(claims, "jobs:create");
  const opened = book.opened.value;
  const job = opened?.id === id ? opened : null;
  const facts = job?.facts.value ?? null;
  const problem = job?.problem.value ?? null;
  const [prompt] = job?.thread.value ?? [];
  const title = titleOf(prompt?.text ?? "") || `Job ${id}`;
  const state = jobState(facts);
  return (
    <article
      class={`job tone-${state.tone}`}
      aria-labelledby={TITLE}
      aria-busy={facts === null && problem === null}
    >
      <div class="job-toolbar">
        <a
          class="back-link"
          href={linkTo({ jobs: { id: null } })}
          onClick={(event) => followLink(event, { jobs: { id: null } })}
        >
          All jobs
        </a>
        {mayWrite && <NewJobButton book={book} />}
      </div>
      <div class="job-head">
        <h2 id={TITLE} class="job-title" tabIndex={-1}>
          {title}
        </h2>
        {facts !== null && job !== null && <StateLine job={job} facts={facts} />}
      </div>
      {problem && job && <Trouble job={job} facts={facts} book={book} projectId={projectId} />}
      {facts === null && problem === null && <p class="hint">Loading the job…</p>}
      {facts !== null && job !== null && (
        <Known job={job} facts={facts} book={book} mayWrite={mayWrite} />
      )}
    </article>
  );
}

function StateLine({ job, facts }: { job: OpenJob; facts: JobFacts }) {
  const { tone, word } = jobState(facts);
  const time = describeJobTime(facts, job.workSpan.value, now.value);
  return (
    <p class="job-state">
      <span class="pill">
        <ToneIcon tone={tone} />
        {word}
      </span>
      {time !== null && (
        <time
          class="elapsed"
          dateTime={new Date(time.instant).toISOString()}
          title={dayAndTime(time.instant)}
        >
          {time.text}
        </time>
      )}
    </p>
  );
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
      <div class="problem" role="alert">
        <p class="problem-title">No job has this id in {projectId}</p>
        <p>
          Check the id <code>{job.id}</code>, or open the project that the job belongs to.
        </p>
      </div>
    );
  }
  return (
    <ProblemPanel problem={problem} retryLabel="Check again" onRetry={() => book.checkAgain(job)} />
  );
}

interface KnownProps {
  job: OpenJob;
  facts: JobFacts;
  book: JobBook;
  mayWrite: boolean;
}

function Known({ job, facts, book, mayWrite }: KnownProps) {
  const [prompt, ...followUps] = job.thread.value;
  return (
    <>
      {facts.prLink !== null && <PullRequest link={facts.prLink} />}
      {facts.status === "failed" && <Failure job={job} book={book} mayWrite={mayWrite} />}
      <div class="job-columns">
        <div class="job-said">
          {prompt && <Prompt message={prompt} />}
          {followUps.length > 0 && <FollowUps messages={followUps} />}
          {mayWrite && <FollowUpBox facts={facts} book={book} />}
          <div class="actions">
            {mayWrite && prompt && prompt.extent !== "nothing" && facts.status !== "failed" && (
              <button type="button" class="quiet" onClick={() => runAgain(book, prompt)}>
                Run again with this prompt
              </button>
            )}
          </div>
        </div>
        <aside class="job-aside" aria-label="About this job">
          <Timeline job={job} />
          <Facts facts={facts} />
          <Freshness job={job} facts={facts} book={book} />
        </aside>
      </div>
    </>
  );
}

function PullRequest({ link }: { link: string }) {
  const request = pullRequest(link);
  if (request === null) {
    return (
      <p class="notice">
        The job names a pull request, but not by an address that is safe to open:{" "}
        <code>{link}</code>
      </p>
    );
  }
  return (
    <div class="actions">
      <a class="button primary pull-request" href={request.href} target="_blank" rel="noopener">
        <span>
          Open pull request <span class="pull-request-name">{request.name}</span>
        </span>
        <External />
      </a>
      <CopyButton label="Copy link" text={request.href} />
    </div>
  );
}

/** Puts the prompt in the panel for a new job, as much of it as is known. */
function runAgain(book: JobBook, prompt: ThreadMessage | null): void {
  compose(book, prompt?.text ?? "");
  if (prompt?.extent !== "first line") return;
  toast({ text: "Only the first line of the prompt is known here. Complete it before you start." });
}

/** The platform gives no reason, so what is known is when, after how long, and what was asked. */
function Failure({ job, book, mayWrite }: { job: OpenJob; book: JobBook; mayWrite: boolean }) {
  const { startedAt, finishedAt } = job.workSpan.value;
  const [prompt] = job.thread.value;
  const when = finishedAt === null ? "" : ` at ${moment(finishedAt, today.value)}`;
  const after =
    finishedAt === null || startedAt === null ? "" : `, after ${duration(finishedAt - startedAt)}`;

  return (
    <div class="problem">
      <p class="problem-title">
        This job failed{when}
        {after}
      </p>
      <p>
        The platform gives no reason. If it fails again, name fewer pages or split the work into
        several jobs. A follow-up lets this job go on.
      </p>
      {mayWrite && (
        <button type="button" onClick={() => runAgain(book, prompt ?? null)}>
          Try again
        </button>
      )}
    </div>
  );
}

function Prompt({ message }: { message: ThreadMessage }) {
  return (
    <div class="said">
      <SaidBy message={message} />
      <SaidText message={message} />
    </div>
  );
}

function FollowUps({ messages }: { messages: readonly ThreadMessage[] }) {
  return (
    <ol class="thread" aria-label="Follow-ups sent">
      {messages.map((message) => (
        <li key={`${message.sentAt} ${message.text}`} class="said">
          <SaidBy message={message} />
          <SaidText message={message} />
        </li>
      ))}
    </ol>
  );
}

function SaidBy({ message: { kind, author, sentAt } }: { message: ThreadMessage }) {
  return (
    <p class="hint said-by">
      {kind === "prompt" ? "Prompt" : "Follow-up"}
      {author !== null && <> by {author}</>}
      {sentAt !== null && (
        <>
          {" · "}
          <time dateTime={new Date(sentAt).toISOString()} title={dayAndTime(sentAt)}>
            {moment(sentAt, today.value)}
          </time>
        </>
      )}
    </p>
  );
}

function SaidText({ message: { text, extent } }: { message: ThreadMessage }) {
  if (extent === "nothing") return <p class="hint">The gateway has no text of it.</p>;
  return (
    <>
      <p class="said-text">{text}</p>
      {extent === "first line" && (
        <p class="hint">
          The gateway keeps the first line only, unless it is set up to keep whole prompts: if there
          was more, it is not here.
        </p>
      )}
    </>
  );
}

function Timeline({ job }: { job: OpenJob }) {
  const events = job.timeline.value;
  if (events.length === 0) return null;
  return (
    <section>
      <h3 id="timeline">Timeline</h3>
      <ol class="timeline" aria-labelledby="timeline">
        {events.map(({ at, text, worked }) => (
          <li key={`${at} ${text}`}>
            <time dateTime={new Date(at).toISOString()} title={dayAndTime(at)}>
              {moment(at, today.value)}
            </time>
            <span>
              {text}
              {worked !== null && <span class="hint"> after {duration(worked)}</span>}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Facts({ facts }: { facts: JobFacts }) {
  const rows: [name: string, value: string | null][] = [
    ["Status", facts.status],
    ["Repository", facts.repository],
    ["Branch", facts.branch],
    ["Model", facts.model],
    ["Started by", facts.createdBy],
    ["Created", facts.createdAt === null ? null : dayAndTime(Date.parse(facts.createdAt))],
    ["Archived", facts.archivedAt === null ? null : dayAndTime(Date.parse(facts.archivedAt))],
    ["Job id", facts.id],
  ];
  const link = location.origin + location.pathname + linkTo({ jobs: { id: facts.id } });
  return (
    <section>
      <h3>Details</h3>
      <dl class="facts">
        {rows
          .filter(([, value]) => value !== null)
          .map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
      </dl>
      <div class="actions">
        <CopyButton label="Copy id" text={facts.id} />
        <CopyButton label="Copy link to this page" text={link} />
      </div>
    </section>
  );
}

function Freshness({ job, facts, book }: { job: OpenJob; facts: JobFacts; book: JobBook }) {
  const newsAt = job.newsAt.value;
  const when = newsAt === null ? null : describeAge(now.value - newsAt);
  const isWatched = !isFinished(facts) && job.problem.value === null;
  return (
    <div class="freshness">
      <p class="hint">
        {isWatched && "Watching for changes. "}
        {when !== null && `Last news ${when}.`}
      </p>
      <button
        type="button"
        class="quiet"
        aria-disabled={job.loading.value}
        onClick={() => book.checkAgain(job)}
      >
        Check now
      </button>
    </div>
  );
}

function describeAge(milliseconds: number): string {
  return milliseconds < 2000 ? "just now" : `${duration(milliseconds)} ago`;
}

function FollowUpBox({ facts, book }: { facts: JobFacts; book: JobBook }) {
  const { id, status } = facts;
  if (status === "archived") {
    return <p class="hint">This job is archived: it takes no more follow-ups.</p>;
  }
  const request = facts.prLink === null ? null : pullRequest(facts.prLink);
  return (
    <PromptBox
      id={`follow-up-${id}`}
      label="Follow-up message"
      hint={
        isFinished(facts) ? "Asks the agent to go on with this job." : "Sent to the agent at work."
      }
      placeholder="Also mention the default value."
      rows={3}
      draft={book.followUp(id)}
      sendLabel="Send follow-up"
      emphasis="side"
      doubt={{
        title: "Nobody knows whether this follow-up arrived",
        advice:
          "The agent may have it. Look at the job’s state and its pull request before you send it again.",
        places:
          request === null ? [] : [{ label: `Pull request ${request.name}`, href: request.href }],
      }}
      submit={(prompt, how) => book.sendMessage(id, prompt, how)}
    />
  );
}
