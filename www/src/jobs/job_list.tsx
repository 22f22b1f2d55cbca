import { useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { ListedJob } from "quillgate";
import { allows } from "../session/claims.ts";
import type { Session } from "../session/session.ts";
import { announce } from "../shell/announcer.tsx";
import { registerKeys } from "../shell/keys.ts";
import { address, visit } from "../shell/navigation.ts";
import { ProblemPanel } from "../shell/problem_panel.tsx";
import { counted } from "../shell/wording.ts";
import type { JobBook } from "./job_book.ts";
import { ALL_JOBS, isFiltered } from "./job_filter.ts";
import { JobFilters } from "./job_filters.tsx";
import { wantedRow } from "./job_focus.ts";
import * as styles from "./job_list.module.css";
import * as rowStyles from "./job_rows.module.css";
import { JobRows } from "./job_rows.tsx";
import { ListFoot } from "./list_foot.tsx";
import { NewJobButton } from "./new_job_button.tsx";
import { compose } from "./open_composer.ts";
import type { ProjectJobs } from "./project_jobs.ts";
import { jobsOf } from "./session_jobs.ts";
import { BUILT_IN } from "./templates.ts";
import { LIST_WORDS } from "./words.ts";

const TITLE = "jobs-of-the-project";
const OFFERED_TEMPLATES = 3;

type Heading = { current: HTMLHeadingElement | null };

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
      {mayRead && <Listed session={session} heading={heading} />}
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
      if (isByPerson && isLoaded) announce(countShown(book));
    });
  }, [book, mayRead, filter]);
}

function countShown({ list }: JobBook): string {
  const listing = list.listing.value;
  const jobs = counted(listing?.jobs.length ?? 0, "job");
  return listing?.more ? LIST_WORDS.newest(jobs) : jobs;
}

function Listed({ session, heading }: { session: Session; heading: Heading }) {
  const book = jobsOf(session);
  const { list } = book;
  const focused = useRef<string | null>(null);
  const isLoadingMore = useSignal(false);
  const listing = list.listing.value;
  const problem = list.problem.value;
  useMissingRow(listing?.jobs, heading);
  useFocusWithin(focused, listing?.jobs, heading);
  useRowKeys(focused, list);

  async function showMore() {
    if (isLoadingMore.peek()) return;
    const shown = new Set(listing?.jobs.map(({ id }) => id));
    isLoadingMore.value = true;
    const isLoaded = await list.showMore();
    isLoadingMore.value = false;
    if (!isLoaded) return;
    const jobs = list.listing.peek()?.jobs ?? [];
    const firstAdded = jobs.findLastIndex(({ id }) => shown.has(id)) + 1;
    announce(LIST_WORDS.added(counted(jobs.length - firstAdded, "more job")));
    // The pressed button may have disappeared.
    wantedRow.value = jobs[firstAdded]?.id ?? null;
  }

  return (
    <div class={`stack ${styles.rows}`}>
      {problem && <ProblemPanel problem={problem} onRetry={() => list.refresh("person")} />}
      {listing === null && problem === null && <Waiting />}
      {listing?.jobs.length === 0 && <Empty session={session} heading={heading} />}
      {listing !== null && listing.jobs.length > 0 && (
        <>
          <p class="hint">{countShown(book)}</p>
          <JobRows jobs={listing.jobs} isBusy={list.busy.value} focused={focused} />
        </>
      )}
      {listing !== null && <SearchedPart book={book} />}
      {listing !== null && listing.more !== null && (
        <button
          type="button"
          class={styles.more}
          aria-disabled={isLoadingMore.value}
          onClick={showMore}
        >
          {LIST_WORDS.showMore}
        </button>
      )}
    </div>
  );
}

/** Focuses the heading if the row to focus is not listed. */
function useMissingRow(jobs: readonly ListedJob[] | undefined, heading: Heading): void {
  const wanted = wantedRow.value;
  useEffect(() => {
    if (wanted === null || jobs === undefined || jobs.some(({ id }) => id === wanted)) return;
    wantedRow.value = null;
    heading.current?.focus();
  }, [wanted, jobs]);
}

/** When an update removes the focused row, focuses the row that takes its place. */
function useFocusWithin(
  focused: RefObject<string | null>,
  jobs: readonly ListedJob[] | undefined,
  heading: Heading,
): void {
  const before = useRef<readonly ListedJob[]>([]);
  // Read during render, before the update. A click on the background takes the focus, too.
  const hadFocus = document.activeElement !== document.body;
  useLayoutEffect(() => {
    const place = before.current.findIndex(({ id }) => id === focused.current);
    before.current = jobs ?? [];
    const hasLostFocus = hadFocus && document.activeElement === document.body;
    if (place === -1 || jobs === undefined || !hasLostFocus) return;
    const next = jobs[Math.min(place, jobs.length - 1)];
    if (next) wantedRow.value = next.id;
    else heading.current?.focus();
  }, [jobs]);
}

/** Moves between rows with "j" and "k". Enter opens the focused row, which is a link. */
function useRowKeys(focused: RefObject<string | null>, list: ProjectJobs): void {
  useLayoutEffect(() => {
    const move = (step: 1 | -1) => {
      const jobs = list.listing.peek()?.jobs ?? [];
      const at = jobs.findIndex(({ id }) => id === focused.current);
      const next = at === -1 && step === -1 ? jobs.length - 1 : at + step;
      wantedRow.value = jobs[Math.min(Math.max(next, 0), jobs.length - 1)]?.id ?? null;
    };
    return registerKeys(LIST_WORDS.jobs, [
      { keys: "j", label: LIST_WORDS.nextRow, run: () => move(1) },
      { keys: "k", label: LIST_WORDS.previousRow, run: () => move(-1) },
    ]);
  }, [list]);
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

function Empty({ session, heading }: { session: Session; heading: Heading }) {
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

/** Placeholder rows until the first response. */
function Waiting() {
  return (
    <div class={`${rowStyles.ledger} card`} aria-hidden="true">
      {[1, 2, 3].map((row) => (
        <div key={row} class={rowStyles.row}>
          <span class={styles.line} />
        </div>
      ))}
    </div>
  );
}
