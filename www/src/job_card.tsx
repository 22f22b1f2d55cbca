import { useSignal, useSignalEffect } from "@preact/signals";
import { useRef } from "preact/hooks";
import { now } from "./clock.ts";
import { External, ToneIcon } from "./icons.tsx";
import { type JobBook, type JobEntry, titleOf } from "./job_book.ts";
import { isFinished, jobState, pullRequest } from "./job_state.ts";
import { ProblemPanel } from "./problem_panel.tsx";
import { PromptBox } from "./prompt_box.tsx";
import { clockTime, dayAndTime, duration } from "./wording.ts";

interface JobCardProps {
  entry: JobEntry;
  book: JobBook;
  newest: boolean;
  mayWrite: boolean;
  onRunAgain(prompt: string): void;
  onRemove(): void;
}

export function JobCard(props: JobCardProps) {
  const { entry, book, newest, mayWrite, onRunAgain, onRemove } = props;
  const { id, job, prompt, problem } = entry;
  const opened = useSignal<boolean | null>(null);
  const open = opened.value ?? newest;
  const state = jobState(job);
  const title = titleOf(entry);
  const toggle = useRef<HTMLButtonElement>(null);
  useSignalEffect(() => {
    if (book.wanted.value !== id) return;
    book.wanted.value = null;
    opened.value = true;
    toggle.current?.focus();
  });
  return (
    <article class={`card job tone-${state.tone}`} aria-labelledby={`title-${id}`}>
      <div class="job-head">
        <p class="pill">
          <ToneIcon tone={state.tone} />
          {state.word}
        </p>
        <Elapsed entry={entry} />
      </div>
      <h3 id={`title-${id}`} class="job-title">
        <button
          ref={toggle}
          type="button"
          aria-expanded={open}
          onClick={() => {
            opened.value = !open;
          }}
        >
          {title}
        </button>
      </h3>
      {job?.prLink && <PullRequest link={job.prLink} />}
      {problem && (
        <ProblemPanel problem={problem} retryLabel="Check again" onRetry={() => book.watch(id)} />
      )}
      {open && (
        <div class="job-body">
          {prompt !== null && prompt.trim() !== title && <p class="job-prompt">{prompt}</p>}
          <Facts entry={entry} />
          <Freshness entry={entry} />
          <Thread entry={entry} />
          {mayWrite && <FollowUp entry={entry} book={book} />}
          <div class="actions">
            {!entry.watching && !problem && (
              <button type="button" class="quiet" onClick={() => book.watch(id)}>
                Check now
              </button>
            )}
            {mayWrite && prompt !== null && (
              <button type="button" class="quiet" onClick={() => onRunAgain(prompt)}>
                Run again with this prompt
              </button>
            )}
            <button type="button" class="quiet" onClick={onRemove}>
              Remove from this list
            </button>
          </div>
        </div>
      )}
    </article>
  );
}

function Elapsed({ entry }: { entry: JobEntry }) {
  const { job, addedAt, finishedAt } = entry;
  const createdAt = job?.createdAt ? Date.parse(job.createdAt) : Number.NaN;
  const start = Number.isNaN(createdAt) ? addedAt : createdAt;
  const when = dayAndTime(start);
  if (!isFinished(job)) {
    return (
      <p class="elapsed" title={`Started ${when}`}>
        {duration(now.value - start)}
      </p>
    );
  }
  if (finishedAt !== null) {
    return (
      <p class="elapsed" title={`Started ${when}`}>
        took {duration(finishedAt - start)}
      </p>
    );
  }
  return <p class="elapsed">started {when}</p>;
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
    <a class="button primary pull-request" href={request.href} target="_blank" rel="noopener">
      <span>
        Open pull request <span class="pull-request-name">{request.name}</span>
      </span>
      <External />
    </a>
  );
}

function Facts({ entry }: { entry: JobEntry }) {
  const { id, job, startedBy } = entry;
  const { repository = null, ref = null } = job?.source ?? {};
  const created = job?.createdAt ? Date.parse(job.createdAt) : Number.NaN;
  const facts: [name: string, value: string | null][] = [
    ["Status", job?.status ?? null],
    ["Repository", repository],
    ["Branch", ref],
    ["Model", job?.model ?? null],
    ["Created", Number.isNaN(created) ? null : dayAndTime(created)],
    ["Started by", startedBy],
    ["Archived", job?.archivedAt ? dayAndTime(Date.parse(job.archivedAt)) : null],
    ["Job id", id],
  ];
  return (
    <dl class="facts">
      {facts
        .filter(([, value]) => value !== null)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

function Freshness({ entry }: { entry: JobEntry }) {
  const { newsAt, watching, job } = entry;
  const when = newsAt === null ? null : ago(now.value - newsAt);
  if (watching && !isFinished(job)) {
    return <p class="hint">Watching for changes. {when ? `Last news ${when}.` : "No news yet."}</p>;
  }
  return <p class="hint">{when ? `Last checked ${when}.` : "Not checked yet."}</p>;
}

function ago(milliseconds: number): string {
  return milliseconds < 2000 ? "just now" : `${duration(milliseconds)} ago`;
}

function Thread({ entry }: { entry: JobEntry }) {
  if (entry.messages.length === 0) return null;
  return (
    <ol class="thread" aria-label="Follow-ups sent">
      {entry.messages.map(({ text, sentAt }) => (
        <li key={sentAt}>
          <time dateTime={new Date(sentAt).toISOString()} title={dayAndTime(sentAt)}>
            {clockTime(sentAt)}
          </time>
          <p>{text}</p>
        </li>
      ))}
    </ol>
  );
}

function FollowUp({ entry, book }: { entry: JobEntry; book: JobBook }) {
  const { id, job } = entry;
  if (job?.status === "archived") {
    return <p class="hint">This job is archived: it takes no more follow-ups.</p>;
  }
  return (
    <PromptBox
      id={`follow-up-${id}`}
      label="Follow-up message"
      hint={
        isFinished(job) ? "Asks the agent to go on with this job." : "Sent to the agent at work."
      }
      placeholder="Also mention the default value."
      rows={2}
      draft={book.followUp(id)}
      sendLabel="Send follow-up"
      emphasis="side"
      doubt={{
        title: "Nobody knows whether this follow-up arrived",
        advice:
          "The agent may have it. Look at the job’s state and its pull request before you send it again.",
      }}
      submit={(prompt, how) => book.sendMessage(id, prompt, how)}
    />
  );
}
