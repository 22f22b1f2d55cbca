import { parseInstant } from "quillgate/values";
import { now, today } from "../shell/clock.ts";
import { CopyButton } from "../shell/copy_button.tsx";
import { linkTo } from "../shell/navigation.ts";
import { relativeTime } from "../shell/relative_time.ts";
import { dayAndTime, duration, moment } from "../shell/wording.ts";
import type { JobBook } from "./job_book.ts";
import * as styles from "./job_details.module.css";
import { isFinished } from "./job_state.ts";
import type { JobFacts, OpenJob } from "./open_job.ts";
import { JOB_WORDS } from "./words.ts";

interface JobDetailsProps {
  job: OpenJob;
  facts: JobFacts;
  book: JobBook;
}

/** Shows a job's history, its properties, and the time of the last update. */
export function JobDetails({ job, facts, book }: JobDetailsProps) {
  return (
    <aside class={`stack ${styles.aside}`} aria-label={JOB_WORDS.about}>
      <Timeline job={job} />
      <Facts facts={facts} />
      <Freshness job={job} facts={facts} book={book} />
    </aside>
  );
}

function Timeline({ job }: { job: OpenJob }) {
  const events = job.timeline.value;
  if (events.length === 0) return null;
  return (
    <section>
      <h2 id="timeline">{JOB_WORDS.timeline}</h2>
      <ol class={`stack ${styles.timeline}`} aria-labelledby="timeline">
        {events.map(({ at, text, worked }, index) => (
          // Two events can have the same time and text.
          <li key={index}>
            <time dateTime={new Date(at).toISOString()} title={dayAndTime(at)}>
              {moment(at, today.value)}
            </time>
            <span>
              {text}
              {worked !== null && <span class="hint">{JOB_WORDS.after(duration(worked))}</span>}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Facts({ facts }: { facts: JobFacts }) {
  const words = JOB_WORDS.facts;
  const rows: [name: string, value: string | null][] = [
    [words.status, facts.status],
    [words.repository, facts.repository],
    [words.branch, facts.branch],
    [words.model, facts.model],
    [words.author, facts.createdBy],
    [words.created, showInstant(facts.createdAt)],
    [words.archived, showInstant(facts.archivedAt)],
    [words.id, facts.id],
  ];
  const link = location.origin + location.pathname + linkTo({ jobs: { id: facts.id } });
  return (
    <section>
      <h2>{JOB_WORDS.details}</h2>
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
        <CopyButton label={JOB_WORDS.copyId} text={facts.id} />
        <CopyButton label={JOB_WORDS.copyPageLink} text={link} />
      </div>
    </section>
  );
}

/** Formats an instant. Returns a value with another format unchanged. */
function showInstant(text: string | null): string | null {
  const instant = parseInstant(text);
  return instant === null ? text : dayAndTime(instant);
}

function Freshness({ job, facts, book }: JobDetailsProps) {
  const newsAt = job.newsAt.value;
  const isWatched = !isFinished(facts) && job.problem.value === null;
  return (
    <div class={styles.freshness}>
      <p class="hint">
        {isWatched && `${JOB_WORDS.watching} `}
        {newsAt !== null && JOB_WORDS.updated(relativeTime(newsAt, now.value))}
      </p>
      <button
        type="button"
        class="quiet"
        aria-disabled={job.loading.value}
        onClick={() => book.checkAgain(job)}
      >
        {JOB_WORDS.checkNow}
      </button>
    </div>
  );
}
