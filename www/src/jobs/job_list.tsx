import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { ListedJob } from "quillgate";
import { allows } from "../session/claims.ts";
import type { Session } from "../session/session.ts";
import { announce } from "../shell/announcer.tsx";
import { now, today } from "../shell/clock.ts";
import { address, adjust, followLink, linkTo, visit } from "../shell/navigation.ts";
import { ProblemPanel } from "../shell/problem_panel.tsx";
import { counted, dayAndTime, duration, moment } from "../shell/wording.ts";
import type { JobBook } from "./job_book.ts";
import { authorChoices, isFiltered, STATE_CHOICES } from "./job_filter.ts";
import { jobState, titleOf } from "./job_state.ts";
import { findState, MAX_SEARCH } from "./jobs_address.ts";
import { NewJobButton } from "./new_job_button.tsx";
import { desktopNotices, switchDesktopNotices } from "./notices.ts";
import { PullRequestLink } from "./pull_request_link.tsx";
import { jobsOf } from "./session_jobs.ts";
import { ToneIcon } from "./tone_icon.tsx";

const TITLE = "jobs-of-the-project";
const TEXT_FILTER = "text-filter";
/** How long somebody has to pause in typing before the gateway is asked. */
const TYPING_MS = 300;
const DAY_MS = 86_400_000;

/** Gives the focus to a job of the list, or to the list when it is not there. */
export function focusJobRow(id: string): void {
  const row = document.getElementById(`row-${id}`) ?? document.getElementById(TITLE);
  row?.focus();
}

export function focusFilter(): void {
  const input = document.getElementById(TEXT_FILTER);
  if (!(input instanceof HTMLInputElement)) return;
  input.focus();
  input.select();
}

/** Everybody's jobs of the project that were started through the gateway. */
export function JobList({ session }: { session: Session }) {
  const { claims } = session;
  const book = jobsOf(session);
  const mayRead = allows(claims, "jobs:read");
  useKeepingUp(book, mayRead);
  return (
    <section class="project-jobs" aria-labelledby={TITLE}>
      <h2 id={TITLE} class="visually-hidden" tabIndex={-1}>
        Jobs of this project
      </h2>
      <div class="job-toolbar">
        {mayRead && <Filters session={session} />}
        {allows(claims, "jobs:create") && <NewJobButton book={book} />}
      </div>
      {mayRead && <Listed book={book} projectId={session.projectId} />}
      {mayRead && book.list.listing.value !== null && <Foot book={book} />}
    </section>
  );
}

/** Lists what the address asks for, and keeps it up to date while it is in sight. */
function useKeepingUp(book: JobBook, mayRead: boolean): void {
  const { state, author, text } = address.value.jobs;
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
    book.list.setFilter({ state, author, text }).then((isThere) => {
      if (isByPerson && isThere) announce(countShown(book));
    });
  }, [book, mayRead, state, author, text]);
}

function countShown(book: JobBook): string {
  const listing = book.list.listing.peek();
  const shown = counted(listing?.jobs.length ?? 0, "job");
  return listing?.more ? `The newest ${shown} shown` : `${shown} shown`;
}

function Filters({ session }: { session: Session }) {
  const { claims } = session;
  const book = jobsOf(session);
  const { state, author } = address.value.jobs;
  const authors = authorChoices(book.list.authors.value, [author, claims.subject]);
  return (
    <search class="job-filters">
      <select
        aria-label="State"
        value={state ?? ""}
        onChange={({ currentTarget }) => visit({ jobs: { state: findState(currentTarget.value) } })}
      >
        <option value="">Any state</option>
        {STATE_CHOICES.map((choice) => (
          <option key={choice.state} value={choice.state}>
            {choice.label}
          </option>
        ))}
      </select>
      <select
        aria-label="Author"
        value={author ?? ""}
        onChange={({ currentTarget }) => visit({ jobs: { author: currentTarget.value || null } })}
      >
        <option value="">Anyone</option>
        {authors.map((name) => (
          <option key={name} value={name}>
            {name === claims.subject ? `${name} (you)` : name}
          </option>
        ))}
      </select>
      <TextFilter />
    </search>
  );
}

function TextFilter() {
  const { text } = address.value.jobs;
  const typed = useSignal(text);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const sent = useRef(text);
  // The back button, or a link, may have changed it.
  if (sent.current !== text) {
    sent.current = text;
    typed.value = text;
  }
  useEffect(() => () => clearTimeout(timer.current), []);

  function type(value: string) {
    typed.value = value;
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      sent.current = value;
      adjust({ jobs: { text: value } });
    }, TYPING_MS);
  }

  return (
    <input
      id={TEXT_FILTER}
      type="search"
      aria-label="Prompt contains"
      placeholder="Prompt contains…"
      maxLength={MAX_SEARCH}
      value={typed.value}
      onInput={({ currentTarget }) => type(currentTarget.value)}
    />
  );
}

function Listed({ book, projectId }: { book: JobBook; projectId: string }) {
  const { list } = book;
  const rows = useRef<HTMLOListElement>(null);
  const listing = list.listing.value;
  const problem = list.problem.value;
  const busy = list.busy.value;
  useFocusOnStarted(book, listing !== null);
  useFocusWithin(rows, listing?.jobs);

  async function showMore() {
    if (busy || listing === null) return;
    const shown = listing.jobs.length;
    if (!(await list.showMore())) return;
    const added = (list.listing.peek()?.jobs.length ?? shown) - shown;
    announce(`${counted(added, "more job")} shown`);
    // The button is gone when that was all of them.
    requestAnimationFrame(() =>
      rows.current?.querySelectorAll<HTMLElement>(".ledger-title")[shown]?.focus(),
    );
  }

  return (
    <>
      {problem && <ProblemPanel problem={problem} onRetry={() => list.refresh("by the person")} />}
      {listing === null && problem === null && <Waiting />}
      {listing?.jobs.length === 0 && <Empty book={book} projectId={projectId} />}
      {listing !== null && listing.jobs.length > 0 && (
        <ol ref={rows} class="ledger card" aria-busy={busy}>
          {listing.jobs.map((job) => (
            <Row key={job.id} job={job} />
          ))}
        </ol>
      )}
      {listing !== null && <PartNote book={book} />}
      {listing !== null && listing.more !== null && (
        <button type="button" class="show-more" aria-disabled={busy} onClick={showMore}>
          Show more
        </button>
      )}
    </>
  );
}

/** The job that was just started takes the focus once it is listed. */
function useFocusOnStarted(book: JobBook, isListed: boolean): void {
  const id = book.justStarted.value;
  useEffect(() => {
    if (id === null || !isListed) return;
    book.justStarted.value = null;
    focusJobRow(id);
  }, [book, id, isListed]);
}

/** When news take away the row that has the focus, the one in its place has it. */
function useFocusWithin(
  rows: { current: HTMLOListElement | null },
  jobs: readonly ListedJob[] | undefined,
): void {
  const place = useRef(-1);
  useLayoutEffect(() => {
    const links = [...(rows.current?.querySelectorAll<HTMLElement>(".ledger-title") ?? [])];
    const had = place.current;
    if (had >= 0 && document.activeElement === document.body) {
      (links[Math.min(had, links.length - 1)] ?? document.getElementById(TITLE))?.focus();
    }
    const note = () => {
      place.current = links.indexOf(document.activeElement as HTMLElement);
    };
    note();
    document.addEventListener("focusin", note);
    return () => document.removeEventListener("focusin", note);
  }, [rows, jobs]);
}

/** Says when only a part of the jobs was looked through. */
function PartNote({ book: { list } }: { book: JobBook }) {
  const { filter, filteredBy, lookedThrough, listing } = list;
  if (filteredBy.value === "gateway" || !isFiltered(filter.value)) return null;
  const isWhole = listing.value?.more === null;
  if (isWhole && filter.value.text.trim() === "") return null;
  const part = isWhole ? "all" : `the newest ${lookedThrough.value}`;
  return (
    <p class="hint" role="status">
      This gateway cannot search: the page looked through the first lines of {part} jobs.
    </p>
  );
}

function Empty({ book, projectId }: { book: JobBook; projectId: string }) {
  if (isFiltered(book.list.filter.value)) {
    return (
      <div class="empty">
        <p class="empty-title">
          {book.list.listing.value?.more ? "No match among the newest jobs" : "No job matches"}
        </p>
        <button
          type="button"
          onClick={() => {
            visit({ jobs: { state: null, author: null, text: "" } });
            document.getElementById(TITLE)?.focus();
          }}
        >
          Clear the filter
        </button>
      </div>
    );
  }
  return (
    <div class="empty">
      <p class="empty-title">No job was started through this gateway yet</p>
      <p>
        What anybody starts in {projectId} is listed here, with its progress and its pull request.
      </p>
    </div>
  );
}

/** Grey rows stand in for the jobs until there is an answer. */
function Waiting() {
  return (
    <div class="ledger card" aria-hidden="true">
      {[1, 2, 3].map((row) => (
        <div key={row} class="ledger-row">
          <span class="ledger-title waiting-line" />
        </div>
      ))}
    </div>
  );
}

function Row({ job }: { job: ListedJob }) {
  const { id, prompt, createdBy } = job;
  const { tone, word } = jobState(job);
  const change = { route: "jobs", jobs: { id } } as const;
  const title = titleOf(prompt ?? "") || `Job ${id}`;
  return (
    <li class={`ledger-row tone-${tone}`}>
      <p id={`state-${id}`} class="pill">
        <ToneIcon tone={tone} />
        {word}
      </p>
      <a
        id={`row-${id}`}
        class="ledger-title"
        href={linkTo(change)}
        aria-describedby={`state-${id} facts-${id}`}
        onClick={(event) => followLink(event, change)}
      >
        {title}
      </a>
      <p id={`facts-${id}`} class="hint ledger-facts">
        {createdBy !== null && <span class="ledger-author">{createdBy}</span>}
        <RowTime job={job} />
      </p>
      {job.prLink !== null && <PullRequestLink link={job.prLink} />}
    </li>
  );
}

function RowTime({ job }: { job: ListedJob }) {
  const created = Date.parse(job.createdAt ?? "");
  if (Number.isNaN(created)) return null;
  const isRecent = job.status === "active" && today.value - created < DAY_MS;
  return (
    <time dateTime={new Date(created).toISOString()} title={dayAndTime(created)}>
      {isRecent ? <Age since={created} /> : moment(created, today.value)}
    </time>
  );
}

/** The only part of a row that changes each second. */
function Age({ since }: { since: number }) {
  const age = now.value - since;
  return age < DAY_MS ? `for ${duration(age)}` : moment(since, now.value);
}

function Foot({ book }: { book: JobBook }) {
  return (
    <div class="list-foot">
      <Liveness book={book} />
      <NoticeSwitch />
      <OpenById />
    </div>
  );
}

function Liveness({ book: { feed, list } }: { book: JobBook }) {
  const loadedAt = list.loadedAt.value;
  const busy = list.busy.value;

  async function refresh() {
    if (busy) return;
    if (await list.refresh("by the person")) announce("Jobs of the project updated");
  }

  return (
    <p class="hint liveness">
      {feed.state.value === "live"
        ? "Live: changes appear by themselves."
        : loadedAt !== null && `As of ${moment(loadedAt, now.value)}.`}
      <button type="button" class="quiet" aria-disabled={busy} onClick={refresh}>
        Refresh
      </button>
    </p>
  );
}

/** A notification is asked for by this button, never by itself. */
function NoticeSwitch() {
  const state = desktopNotices.value;
  if (state === "not supported") return null;
  if (state === "blocked") {
    return <p class="hint">Your browser blocks notifications of this page.</p>;
  }
  return (
    <button type="button" class="quiet" onClick={() => switchDesktopNotices(state === "off")}>
      {state === "on" ? "Stop notifying me" : "Notify me when my jobs finish"}
    </button>
  );
}

/** A job that was not started through this gateway is in no list. */
function OpenById() {
  const id = useSignal("");
  return (
    <details class="open-by-id">
      <summary>Open a job by its id</summary>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const wanted = id.value.trim();
          if (wanted !== "") visit({ jobs: { id: wanted } });
        }}
      >
        <label for="job-id">Job id</label>
        <div class="joined">
          <input
            id="job-id"
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            value={id.value}
            onInput={(event) => {
              id.value = event.currentTarget.value;
            }}
          />
          <button type="submit">Open</button>
        </div>
      </form>
    </details>
  );
}
