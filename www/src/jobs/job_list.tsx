import { useEffect, useRef } from "preact/hooks";
import * as styles from "../live/listed.module.css";
import { countShown, type HeadingRef, Listed } from "../live/listed.tsx";
import { allows } from "../session/claims.ts";
import type { Session } from "../session/session.ts";
import { announce } from "../shell/announcer.tsx";
import { address, visit } from "../shell/navigation.ts";
import { counted } from "../shell/wording.ts";
import type { JobBook } from "./job_book.ts";
import { ALL_JOBS, isFiltered } from "./job_filter.ts";
import { JobFilters } from "./job_filters.tsx";
import { JobRows } from "./job_rows.tsx";
import { ListFoot } from "./list_foot.tsx";
import { NewJobButton } from "./new_job_button.tsx";
import { compose } from "./open_composer.ts";
import { jobsOf } from "./session_jobs.ts";
import { BUILT_IN } from "./templates.ts";
import { LIST_WORDS } from "./words.ts";

const TITLE = "jobs-of-the-project";
const OFFERED_TEMPLATES = 3;

/** Lists the project's jobs that were created through the gateway. */
export function JobList({ session }: { session: Session }) {
  const { claims } = session;
  const book = jobsOf(session);
  const mayRead = allows(claims, "jobs:read");
  const heading = useRef<HTMLHeadingElement>(null);
  useKeepingUp(book, mayRead);
  return (
    <section class={`stack ${styles.list}`} aria-labelledby={TITLE}>
      <h2 ref={heading} id={TITLE} class="visually-hidden" tabIndex={-1}>
        {LIST_WORDS.heading}
      </h2>
      <div class="toolbar">
        {mayRead && <JobFilters session={session} />}
        {allows(claims, "jobs:create") && <NewJobButton book={book} isMain />}
      </div>
      {mayRead && <ListedJobs session={session} heading={heading} />}
      {mayRead && book.list.listing.value !== null && <ListFoot book={book} />}
    </section>
  );
}

/** Loads the jobs that match the address. Keeps them current while they are shown. */
function useKeepingUp(book: JobBook, mayRead: boolean): void {
  const { states, authors, text } = address.value.jobs;
  const filter = JSON.stringify({ states, authors, text });
  useEffect(() => {
    if (!mayRead) return;
    book.inSight.value = true;
    book.list.refresh();
    return () => {
      book.inSight.value = false;
    };
  }, [book, mayRead]);
  const isFirst = useRef(true);
  useEffect(() => {
    if (!mayRead) return;
    const isByPerson = !isFirst.current;
    isFirst.current = false;
    book.list.setFilter({ states, authors, text }).then((isLoaded) => {
      if (isByPerson && isLoaded) announce(countShown(book.list.listing.peek(), "job"));
    });
  }, [book, mayRead, filter]);
}

function ListedJobs({ session, heading }: { session: Session; heading: HeadingRef }) {
  const book = jobsOf(session);
  const { list } = book;
  return (
    <Listed
      list={list}
      noun="job"
      keys={{ group: LIST_WORDS.jobs, next: LIST_WORDS.nextRow, previous: LIST_WORDS.previousRow }}
      heading={heading}
      renderRows={(jobs, focused) => (
        <JobRows jobs={jobs} isBusy={list.busy.value} focused={focused} />
      )}
      empty={<Empty session={session} heading={heading} />}
    >
      <SearchedPart book={book} />
    </Listed>
  );
}

/**
 * Shows the number of searched jobs if the gateway cannot apply the whole filter and older jobs
 * remain.
 */
function SearchedPart({ book: { list } }: { book: JobBook }) {
  const searched = list.searched.value;
  if (searched === null || list.listing.value?.more === null) return null;
  return (
    <p class="hint" role="status">
      {LIST_WORDS.searchedPart(counted(searched, "job"))}
    </p>
  );
}

function Empty({ session, heading }: { session: Session; heading: HeadingRef }) {
  const book = jobsOf(session);
  if (isFiltered(book.list.filter.value)) {
    const hasMore = book.list.listing.value?.more !== null;
    return (
      <div class="empty">
        <p class="empty-title">{hasMore ? LIST_WORDS.noMatchYet : LIST_WORDS.noMatch}</p>
        <button
          type="button"
          onClick={() => {
            visit({ jobs: ALL_JOBS });
            heading.current?.focus();
          }}
        >
          {LIST_WORDS.clear}
        </button>
      </div>
    );
  }
  return (
    <div class="empty">
      <p class="empty-title">{LIST_WORDS.empty}</p>
      <p>{LIST_WORDS.emptyHint(session.projectId)}</p>
      {allows(session.claims, "jobs:create") && !book.composing.value && (
        <div class="actions">
          {BUILT_IN.slice(0, OFFERED_TEMPLATES).map(({ name, text }) => (
            <button key={name} type="button" onClick={() => compose(book, text)}>
              {name}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
