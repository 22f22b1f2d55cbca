import * as styles from "../live/item_details.module.css";
import { Freshness, type ItemFact, ItemFacts, showInstant } from "../live/item_details.tsx";
import { today } from "../shell/clock.ts";
import { dayAndTime, duration, moment } from "../shell/wording.ts";
import type { JobBook } from "./job_book.ts";
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
      <Freshness
        newsAt={job.newsAt.value}
        isWatched={!isFinished(facts) && job.problem.value === null}
        isLoading={job.loading.value}
        onCheck={() => book.checkAgain(job)}
      />
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
  const rows: ItemFact[] = [
    [words.status, facts.status],
    [words.repository, facts.repository],
    [words.branch, facts.branch],
    [words.model, facts.model],
    [words.author, facts.createdBy],
    [words.created, showInstant(facts.createdAt)],
    [words.archived, showInstant(facts.archivedAt)],
    [words.id, facts.id],
  ];
  return (
    <ItemFacts
      title={JOB_WORDS.details}
      rows={rows}
      id={facts.id}
      change={{ jobs: { id: facts.id } }}
      copyLink={JOB_WORDS.copyPageLink}
    />
  );
}
