import { useSignal } from "@preact/signals";
import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
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
import { jobNews } from "../jobs/job_news.ts";
import { titleOf } from "../jobs/job_state.ts";
import { PullRequestLink } from "../jobs/pull_request_link.tsx";
import { LIST_WORDS } from "../jobs/words.ts";
import { allows } from "../session/claims.ts";
import type { Session } from "../session/session.ts";
import type { AddressChange } from "../shell/address.ts";
import { now } from "../shell/clock.ts";
import { currentTime } from "../shell/clock_skew.ts";
import { keepFocus } from "../shell/heading.tsx";
import { Link } from "../shell/link.tsx";
import { ProblemPanel } from "../shell/problem_panel.tsx";
import { usedUpUntil } from "../shell/rate_limit.ts";
import { cutText, nameOfText } from "../shell/readable_text.ts";
import { TimeAgo } from "../shell/time_ago.tsx";
import { type Read, useRead } from "../shell/use_read.ts";
import { clockTime } from "../shell/wording.ts";
import * as styles from "./today.module.css";
import { type Found, isOutdated, readTodayJobs, type TodayJobs } from "./today_jobs.ts";
import {
  clicklessOf,
  daysOfViews,
  earlierDaysOfViews,
  fallsOf,
  loadFalls,
  loadReport,
  loadToday,
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
  const reports = reportSections(session).filter(({ report }) =>
    allows(session.claims, report.scope),
  );
  const sections = reports.map((props) => {
    const isNext = !isStarted.value && props.section.state === "not loaded";
    const section: Section = isNext ? { state: "loading" } : props.section;
    return {
      isSettled: section.state !== "loading",
      content: <ReportSection key={props.name} {...props} session={session} section={section} />,
    };
  });
  if (allows(session.claims, "jobs:read")) {
    const isSettled = jobs.value !== null || jobs.problem !== null;
    sections.push({ isSettled, content: <Jobs key="jobs" read={jobs} /> });
  }
  // Sections appear in order, so that nothing moves, unless one of them is slow.
  const waiting = sections.findIndex(({ isSettled }) => !isSettled);
  const isAll = waiting === -1 || isSlow.value;
  const shown = isAll ? sections : sections.slice(0, waiting + 1);
  return (
    <div class={`stack ${styles.route}`}>
      <p class="hint">{TODAY_WORDS.intro(`${rangeLabel(recentDays())} UTC`)}</p>
      <div class={`stack ${styles.sections}`} aria-busy={waiting !== -1}>
        {shown.map(({ content }) => content)}
      </div>
    </div>
  );
}

interface ReportRowProps {
  text: string;
  /** Null if the row has no route. */
  link: AddressChange | null;
  detail?: string;
  figure: ComponentChildren;
}

interface ReportSectionProps {
  name: SectionName;
  report: Report;
  section: Section;
  days: PromptDays;
  /** The choices of the report's route that show all rows. */
  all: AddressChange["analytics"];
  hint?: string;
  onLoad(): void;
  describe(row: ReportRow): ReportRowProps;
}

/** Returns the sections of the reports, in order. */
function reportSections(session: Session): ReportSectionProps[] {
  const cache = viewsOf(session);
  const { views, conversations, searches, feedback } = REPORTS;
  const range = daysOfViews(cache);
  const earlierRange = earlierDaysOfViews(cache);
  const days = { range: recentDays(), earlierRange: null };
  const unanswered = { arrangement: "grouped", facets: { answer: "unanswered" } } as const;
  return [
    {
      name: "falls",
      report: views,
      section: fallsOf(cache),
      days: { range, earlierRange, compared: "human" },
      all: { range, arrangement: "people-falls" },
      hint: TODAY_WORDS.versus(rangeLabel(range), rangeLabel(earlierRange)),
      onLoad: () => loadFalls(cache),
      describe: (row) => ({
        text: decodePath(textOf(row.path) ?? ""),
        link: linkToPageOf(row, range),
        figure: TODAY_WORDS.people(numberOf(row.change)),
      }),
    },
    {
      name: "questions",
      report: conversations,
      section: unansweredOf(cache),
      days,
      all: unanswered,
      onLoad: () => loadReport(cache, conversations),
      describe: (row) => ({
        text: nameOfText(textOf(row.query) ?? ""),
        link: linkToReport(conversations, { ...unanswered, filter: filterOf(row) }),
        figure: TODAY_WORDS.times(numberOf(row.times)),
      }),
    },
    {
      name: "searches",
      report: searches,
      section: clicklessOf(cache),
      days,
      all: { arrangement: "no-clicks" },
      onLoad: () => loadReport(cache, searches),
      describe: (row) => ({
        text: nameOfText(textOf(row.query) ?? ""),
        link: linkToReport(searches, { filter: filterOf(row) }),
        figure: TODAY_WORDS.searched(numberOf(row.hits)),
      }),
    },
    {
      name: "feedback",
      report: feedback,
      section: unhelpfulOf(cache),
      days,
      all: { facets: { helpful: "No" } },
      onLoad: () => loadReport(cache, feedback),
      describe: (row) => ({
        text: decodePath(textOf(row.path) ?? ""),
        link: linkToPageOf(row, PLAIN.range),
        detail: textOf(row.comment)?.trim() || TODAY_WORDS.noComment,
        figure: <RowTime at={textOf(row.created)} />,
      }),
    },
  ];
}

/** Reads the jobs of the project, and again when the job feed has others. */
function useTodayJobs(session: Session): Read<TodayJobs> {
  const read = (signal: AbortSignal) => readTodayJobs(session, currentTime(), signal);
  const mayRead = allows(session.claims, "jobs:read");
  const jobs = useRead(session.end.signal, mayRead ? read : null, []);
  const news = jobNews.of(session).value;
  const compared = useRef(news);
  useEffect(() => {
    // A failed request waits for the person. A running one ends first.
    if (jobs.isReading || jobs.value === null || jobs.problem !== null) return;
    const before = compared.current;
    compared.current = news;
    const fresh = [...news].filter(([id, job]) => before.get(id) !== job);
    if (isOutdated(jobs.value.read, fresh)) jobs.retry();
  }, [news, jobs.isReading]);
  return jobs;
}

function Jobs({ read: { value, problem, retry } }: { read: Read<TodayJobs> }) {
  const heading = useRef<HTMLHeadingElement>(null);
  const failure = problem !== null && (
    <ProblemPanel
      problem={problem}
      onRetry={() => {
        retry();
        keepFocus(heading);
      }}
    />
  );
  if (value === null && failure) return failure;
  return (
    <>
      {failure}
      <JobSection
        name="pullRequests"
        state="ready"
        found={value?.toReview ?? null}
        heading={heading}
      />
      {value !== null && <JobSection name="failed" state="failed" found={value.failed} />}
    </>
  );
}

interface JobSectionProps {
  name: "pullRequests" | "failed";
  state: "ready" | "failed";
  /** Null until the first response. */
  found: Found | null;
  heading?: Heading;
}

function JobSection({ name, state, found, heading }: JobSectionProps) {
  const link = {
    route: "jobs",
    jobs: { id: null, states: [state], authors: [], text: "" },
  } as const;
  const among = found?.among ?? null;
  return (
    <Card name={name} link={link} heading={heading}>
      <Rows
        name={name}
        rows={found?.jobs ?? null}
        renderRow={(job) => <JobItem key={job.id} job={job} />}
      />
      {among !== null && <p class="hint">{TODAY_WORDS.lookedAt(among.count, among.what)}</p>}
    </Card>
  );
}

type SectionName = keyof typeof TODAY_WORDS.nothing;
type Heading = RefObject<HTMLHeadingElement | null>;

function ReportSection(props: ReportSectionProps & { session: Session }) {
  const { session, name, report, section, all, hint, onLoad } = props;
  const heading = useRef<HTMLHeadingElement>(null);
  // The pressed button disappears.
  const load = (work: () => void) => () => {
    work();
    keepFocus(heading);
  };
  const part = "among" in section && section.among !== null ? section.among : null;
  const among = part === null ? undefined : TODAY_WORDS.firstOnly(part, report.many);
  return (
    <Card name={name} link={linkToReport(report, all)} heading={heading}>
      {section.state === "loading" && <p class="hint">{TODAY_WORDS.loading}</p>}
      {section.state === "not loaded" && (
        <LoadButton session={session} requests={section.requests} onLoad={load(onLoad)} />
      )}
      {section.state === "failed" && section.listing.problem.value !== null && (
        <ProblemPanel
          problem={section.listing.problem.value}
          onRetry={load(() => section.listing.load("first rows"))}
        />
      )}
      {section.state === "loaded" && (
        <>
          <Rows
            name={name}
            rows={section.rows}
            renderRow={(row, place) => <ReportItem key={place} {...props} row={row} />}
          />
          {(hint ?? among) && <p class="hint">{[hint, among].filter(Boolean).join(" · ")}</p>}
        </>
      )}
    </Card>
  );
}

interface LoadButtonProps {
  session: Session;
  /** The maximum cost. */
  requests: number;
  onLoad(): void;
}

/** Loads a section. Shows a time instead while no request is left. */
function LoadButton({ session, requests, onLoad }: LoadButtonProps) {
  const limit = viewsOf(session).limit.value;
  const until = limit?.left === 0 ? usedUpUntil(limit, now.value) : null;
  if (until !== null) return <p class="hint">{TODAY_WORDS.noneLeft(clockTime(until))}</p>;
  return (
    <button type="button" onClick={onLoad}>
      {TODAY_WORDS.load(requests)}
    </button>
  );
}

interface CardProps {
  name: SectionName;
  link: AddressChange;
  heading?: Heading | undefined;
  children: ComponentChildren;
}

function Card({ name, link, heading, children }: CardProps) {
  const id = `today-${name}`;
  return (
    <section class={`stack ${styles.section}`} aria-labelledby={id}>
      <div class={styles.head}>
        <h2 ref={heading ?? null} id={id} tabIndex={-1}>
          {TODAY_WORDS[name]}
        </h2>
        <Link to={link} aria-describedby={id}>
          {TODAY_WORDS.all}
        </Link>
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

type ReportItemProps = Pick<ReportSectionProps, "report" | "days" | "describe"> & {
  session: Session;
  row: ReportRow;
};

function ReportItem({ session, report, days, describe, row }: ReportItemProps) {
  const described = describe(row);
  const prompt = allows(session.claims, "jobs:create") ? jobPrompt(report, row, days) : null;
  return (
    <Item {...described}>
      {prompt !== null && (
        <button
          type="button"
          aria-label={TODAY_WORDS.startJobAbout(described.text)}
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
        <Link class="button" to={link}>
          {TODAY_WORDS.openJob}
        </Link>
      )}
    </Item>
  );
}

interface ItemProps extends ReportRowProps {
  /** The action. */
  children: ComponentChildren;
}

function Item({ text, link, detail, figure, children }: ItemProps) {
  return (
    <li class={styles.row}>
      <p class={styles.text} translate={false}>
        {link === null ? text : <Link to={link}>{text}</Link>}
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

/** @param choices what differs from `PLAIN` */
function linkToReport({ name }: Report, choices: AddressChange["analytics"]): AddressChange {
  const route = name === "feedbackByPage" ? "feedback" : name;
  return { route, analytics: { ...PLAIN, ...choices } };
}

function linkToPageOf(row: ReportRow, range: Period): AddressChange | null {
  const page = textOf(row.path);
  return isPagePath(page) ? linkToReport(REPORTS.views, { range, page }) : null;
}
