import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import type { ListedJob } from "quillgate";
import { parseInstant, readPullRequest } from "quillgate/values";
import { viewsOf } from "../analytics/cache/session_views.ts";
import { type Period, rangeLabel } from "../analytics/period/range.ts";
import { today } from "../analytics/period/today.ts";
import { jobPrompt, type PromptDays } from "../analytics/report/job_prompt.ts";
import { startRowJob } from "../analytics/report/start_row_job.ts";
import { decodePath, isPagePath } from "../analytics/rows/page_path.ts";
import { REPORTS, type Report, type ReportRow } from "../analytics/rows/report.ts";
import { numberOf, textOf } from "../analytics/rows/rows.ts";
import { titleOf } from "../jobs/job_state.ts";
import { PullRequestLink } from "../jobs/pull_request_link.tsx";
import { LIST_WORDS } from "../jobs/words.ts";
import { allows } from "../session/claims.ts";
import type { Session } from "../session/session.ts";
import type { AddressChange } from "../shell/address.ts";
import { currentTime } from "../shell/clock_skew.ts";
import { followLink, linkTo } from "../shell/navigation.ts";
import { describeProblem, type Problem } from "../shell/problem.ts";
import { ProblemPanel } from "../shell/problem_panel.tsx";
import { cutText, nameOfText } from "../shell/readable_text.ts";
import { TimeAgo } from "../shell/time_ago.tsx";
import * as styles from "./today.module.css";
import { readTodayJobs, type TodayJobs } from "./today_jobs.ts";
import {
  clicklessOf,
  daysOfViews,
  earlierDaysOfViews,
  fallsOf,
  loadFalls,
  loadReport,
  loadToday,
  partOf,
  recentDays,
  type Section,
  unansweredOf,
  unhelpfulOf,
} from "./today_reports.ts";
import { TODAY_WORDS } from "./words.ts";

/** The values that links reset. The person may have chosen others in a report before. */
const PLAIN = {
  range: "last-28-days",
  comparison: "previous-period",
  arrangement: "pages",
  sorting: null,
  filter: "",
  facets: {},
  page: null,
} as const;
const MAX_FILTER = 100;
/** How long sections wait for those above them. */
const PATIENCE_MS = 2000;

/** Lists up to five rows of each kind that need the team, each with one action. */
export function Today({ session }: { session: Session }) {
  const { claims } = session;
  const isStarted = useSignal(false);
  const isSlow = useSignal(false);
  useEffect(() => {
    loadToday(session);
    isStarted.value = true;
    const timer = setTimeout(() => {
      isSlow.value = true;
    }, PATIENCE_MS);
    return () => clearTimeout(timer);
  }, [session, today.value]);
  const jobs = useTodayJobs(session);
  const cache = viewsOf(session);
  const readsReports = allows(claims, "analytics:read");
  const sections: { isSettled: boolean; render(): ComponentChildren }[] = [];
  function add<Row>(
    isOffered: boolean,
    section: Section<Row>,
    render: (section: Section<Row>) => ComponentChildren,
  ) {
    if (!isOffered) return;
    const isNext = !isStarted.value && section.state === "not loaded";
    const shown: Section<Row> = isNext ? { state: "loading" } : section;
    sections.push({ isSettled: shown.state !== "loading", render: () => render(shown) });
  }
  add(readsReports, fallsOf(cache), (section) => <Falls session={session} section={section} />);
  add(allows(claims, "analytics:conversations"), unansweredOf(cache), (section) => (
    <Questions session={session} section={section} />
  ));
  add(readsReports, clicklessOf(cache), (section) => (
    <SearchTerms session={session} section={section} />
  ));
  add(readsReports, unhelpfulOf(cache), (section) => (
    <Ratings session={session} section={section} />
  ));
  if (allows(claims, "jobs:read")) {
    sections.push({ isSettled: jobs.isSettled, render: () => <Jobs {...jobs} /> });
  }
  // Sections appear in order, so that nothing moves, unless one of them is slow.
  const waiting = sections.findIndex(({ isSettled }) => !isSettled);
  const isAll = waiting === -1 || isSlow.value;
  const shown = isAll ? sections : sections.slice(0, waiting + 1);
  return (
    <div class={styles.route}>
      <p class="hint">{TODAY_WORDS.intro(`${rangeLabel(recentDays())} UTC`)}</p>
      <div class={styles.sections} aria-busy={waiting !== -1}>
        {shown.map(({ render }) => render())}
      </div>
    </div>
  );
}

interface SectionProps<Row> {
  session: Session;
  section: Section<Row>;
}

function Falls({ session, section }: SectionProps<ReportRow>) {
  const cache = viewsOf(session);
  const range = daysOfViews(cache);
  const days = { range, earlierRange: earlierDaysOfViews(cache), compared: "human" } as const;
  const link: AddressChange = {
    route: "views",
    analytics: { ...PLAIN, range, arrangement: "people-falls" },
  };
  return (
    <ReportSection
      name="falls"
      hint={TODAY_WORDS.versus(rangeLabel(range), rangeLabel(days.earlierRange))}
      report={REPORTS.views}
      link={link}
      section={section}
      onLoad={() => loadFalls(cache)}
      renderRow={(row) => (
        <ReportItem
          key={textOf(row.path)}
          session={session}
          report={REPORTS.views}
          row={row}
          days={days}
          text={decodePath(textOf(row.path) ?? "")}
          link={linkToPageOf(row, range)}
          figure={TODAY_WORDS.people(numberOf(row.change))}
        />
      )}
    />
  );
}

function Questions({ session, section }: SectionProps<ReportRow>) {
  const cache = viewsOf(session);
  const report = REPORTS.conversations;
  const facets = { answer: "unanswered" };
  const analytics = { ...PLAIN, arrangement: "grouped", facets } as const;
  return (
    <ReportSection
      name="questions"
      report={report}
      link={{ route: "conversations", analytics }}
      section={section}
      onLoad={() => loadReport(cache, report)}
      renderRow={(row) => (
        <ReportItem
          key={textOf(row.query)}
          session={session}
          report={report}
          row={row}
          days={{ range: recentDays(), earlierRange: null }}
          text={nameOfText(textOf(row.query) ?? "")}
          link={{
            route: "conversations",
            analytics: { ...analytics, filter: filterOf(row) },
          }}
          figure={TODAY_WORDS.times(numberOf(row.times))}
        />
      )}
    />
  );
}

function SearchTerms({ session, section }: SectionProps<ReportRow>) {
  const cache = viewsOf(session);
  const report = REPORTS.searches;
  return (
    <ReportSection
      name="searches"
      report={report}
      link={{ route: "searches", analytics: { ...PLAIN, arrangement: "no-clicks" } }}
      section={section}
      onLoad={() => loadReport(cache, report)}
      renderRow={(row) => (
        <ReportItem
          key={textOf(row.query)}
          session={session}
          report={report}
          row={row}
          days={{ range: recentDays(), earlierRange: null }}
          text={nameOfText(textOf(row.query) ?? "")}
          link={{
            route: "searches",
            analytics: { ...PLAIN, filter: filterOf(row) },
          }}
          figure={TODAY_WORDS.searched(numberOf(row.hits))}
        />
      )}
    />
  );
}

function Ratings({ session, section }: SectionProps<ReportRow>) {
  const cache = viewsOf(session);
  const report = REPORTS.feedback;
  const facets = { helpful: "No" };
  return (
    <ReportSection
      name="feedback"
      report={report}
      link={{ route: "feedback", analytics: { ...PLAIN, facets } }}
      section={section}
      onLoad={() => loadReport(cache, report)}
      renderRow={(row, place) => (
        <ReportItem
          key={place}
          session={session}
          report={report}
          row={row}
          days={{ range: recentDays(), earlierRange: null }}
          text={decodePath(textOf(row.path) ?? "")}
          link={linkToPageOf(row, PLAIN.range)}
          detail={textOf(row.comment)?.trim() || TODAY_WORDS.noComment}
          figure={<RowTime at={textOf(row.created)} />}
        />
      )}
    />
  );
}

interface JobsProps {
  /** Null until the first response. */
  jobs: TodayJobs | null;
  problem: Problem | null;
  onRetry(): void;
}

/** Reads the jobs of the project. */
function useTodayJobs(session: Session): JobsProps & { isSettled: boolean } {
  const jobs = useSignal<TodayJobs | null>(null);
  const problem = useSignal<Problem | null>(null);
  const attempt = useSignal(0);
  useEffect(() => {
    if (!allows(session.claims, "jobs:read")) return;
    const leave = new AbortController();
    const signal = AbortSignal.any([leave.signal, session.end.signal]);
    problem.value = null;
    readTodayJobs(session, currentTime(), signal).then(
      (read) => {
        if (!signal.aborted) jobs.value = read;
      },
      (error) => {
        if (!signal.aborted) problem.value = describeProblem(error, currentTime());
      },
    );
    return () => leave.abort();
  }, [session, attempt.value]);
  const onRetry = () => {
    attempt.value += 1;
  };
  const isSettled = jobs.value !== null || problem.value !== null;
  return { jobs: jobs.value, problem: problem.value, isSettled, onRetry };
}

function Jobs({ jobs, problem, onRetry }: JobsProps) {
  if (problem !== null) return <ProblemPanel problem={problem} onRetry={onRetry} />;
  const renderJob = (job: ListedJob) => <JobItem key={job.id} job={job} />;
  return (
    <>
      <Card name="pullRequests" link={jobsIn("ready")}>
        <Rows name="pullRequests" rows={jobs?.toReview ?? null} renderRow={renderJob} />
      </Card>
      {jobs !== null && (
        <Card name="failed" link={jobsIn("failed")}>
          <Rows name="failed" rows={jobs.failed} renderRow={renderJob} />
        </Card>
      )}
    </>
  );
}

function jobsIn(state: "ready" | "failed"): AddressChange {
  return { route: "jobs", jobs: { id: null, states: [state], authors: [], text: "" } };
}

type SectionName = keyof typeof TODAY_WORDS.nothing;

interface ReportSectionProps<Row> {
  name: SectionName;
  hint?: string;
  report: Report;
  /** The route with all rows. */
  link: AddressChange;
  section: Section<Row>;
  onLoad(): void;
  renderRow(row: Row, place: number): ComponentChildren;
}

function ReportSection<Row>(props: ReportSectionProps<Row>) {
  const { name, hint, report, link, section, onLoad, renderRow } = props;
  return (
    <Card name={name} link={link}>
      {section.state === "loading" && <p class="hint">{TODAY_WORDS.loading}</p>}
      {section.state === "not loaded" && (
        <button type="button" onClick={onLoad}>
          {TODAY_WORDS.load(section.requests)}
        </button>
      )}
      {section.state === "failed" && section.listing.problem.value !== null && (
        <ProblemPanel
          problem={section.listing.problem.value}
          onRetry={() => section.listing.load("first rows")}
        />
      )}
      {section.state === "loaded" && (
        <>
          <Rows name={name} rows={section.rows} renderRow={renderRow} />
          <Hint hint={hint} rows={partOf(section.listing)} many={report.many} />
        </>
      )}
    </Card>
  );
}

interface HintProps {
  hint: string | undefined;
  /** The number of loaded rows if there may be more. */
  rows: number | null;
  many: string;
}

function Hint({ hint, rows, many }: HintProps) {
  const part = rows === null ? undefined : TODAY_WORDS.firstOnly(rows, many);
  const text = [hint, part].filter(Boolean).join(" · ");
  return text === "" ? null : <p class="hint">{text}</p>;
}

interface CardProps {
  name: SectionName;
  link: AddressChange;
  children: ComponentChildren;
}

function Card({ name, link, children }: CardProps) {
  const id = `today-${name}`;
  return (
    <section class={styles.section} aria-labelledby={id}>
      <div class={styles.head}>
        <h2 id={id}>{TODAY_WORDS[name]}</h2>
        <a href={linkTo(link)} aria-describedby={id} onClick={(event) => followLink(event, link)}>
          {TODAY_WORDS.all}
        </a>
      </div>
      {children}
    </section>
  );
}

interface RowsProps<Row> {
  name: SectionName;
  /** Null while loading. */
  rows: readonly Row[] | null;
  renderRow(row: Row, place: number): ComponentChildren;
}

function Rows<Row>({ name, rows, renderRow }: RowsProps<Row>) {
  if (rows === null) return <p class="hint">{TODAY_WORDS.loading}</p>;
  if (rows.length === 0) return <p class="hint">{TODAY_WORDS.nothing[name]}</p>;
  return <ol class={`${styles.rows} card`}>{rows.map(renderRow)}</ol>;
}

interface ReportItemProps {
  session: Session;
  report: Report;
  row: ReportRow;
  days: PromptDays;
  text: string;
  /** Null if the row has no route. */
  link: AddressChange | null;
  detail?: string;
  figure: ComponentChildren;
}

function ReportItem(props: ReportItemProps) {
  const { session, report, row, days, text, link, detail, figure } = props;
  const prompt = allows(session.claims, "jobs:create") ? jobPrompt(report, row, days) : null;
  return (
    <Item text={text} link={link} detail={detail} figure={figure}>
      {prompt !== null && (
        <button
          type="button"
          aria-label={TODAY_WORDS.startJobAbout(text)}
          onClick={() => startRowJob(session, prompt)}
        >
          {TODAY_WORDS.startJob}
        </button>
      )}
    </Item>
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
        <a class="button" href={linkTo(link)} onClick={(event) => followLink(event, link)}>
          {TODAY_WORDS.openJob}
        </a>
      )}
    </Item>
  );
}

interface ItemProps {
  text: string;
  link: AddressChange | null;
  detail?: string | undefined;
  figure: ComponentChildren;
  /** The action. */
  children: ComponentChildren;
}

function Item({ text, link, detail, figure, children }: ItemProps) {
  return (
    <li class={styles.row}>
      <p class={styles.text} translate={false}>
        {link === null ? (
          text
        ) : (
          <a href={linkTo(link)} onClick={(event) => followLink(event, link)}>
            {text}
          </a>
        )}
        {detail !== undefined && <span class={`hint ${styles.detail}`}>{detail}</span>}
      </p>
      <p class={`hint ${styles.figure}`} translate={false}>
        {figure}
      </p>
      <div class={styles.action}>{children}</div>
    </li>
  );
}

function RowTime({ at }: { at: string | null }) {
  const time = parseInstant(at);
  return time === null ? null : <TimeAgo at={time} />;
}

/** Cuts a question or term. The address needs only its start, and addresses end up in logs. */
function filterOf({ query }: ReportRow): string {
  return cutText(textOf(query) ?? "", MAX_FILTER);
}

function linkToPageOf(row: ReportRow, range: Period): AddressChange | null {
  const page = textOf(row.path);
  if (!isPagePath(page)) return null;
  return { route: "views", analytics: { ...PLAIN, range, page } };
}
