import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { viewsOf } from "../analytics/cache/session_views.ts";
import { type Period, rangeLabel } from "../analytics/period/range.ts";
import { today } from "../analytics/period/today.ts";
import { jobPrompt, type PromptDays } from "../analytics/report/job_prompt.ts";
import { startRowJob } from "../analytics/report/start_row_job.ts";
import { decodePath, isPagePath } from "../analytics/rows/page_path.ts";
import { REPORTS, type Report, type ReportRow } from "../analytics/rows/report.ts";
import { numberOf, textOf } from "../analytics/rows/rows.ts";
import { allows } from "../session/claims.ts";
import type { Session } from "../session/session.ts";
import type { AddressChange } from "../shell/address.ts";
import { now } from "../shell/clock.ts";
import { ProblemPanel } from "../shell/problem_panel.tsx";
import { usedUpUntil } from "../shell/rate_limit.ts";
import { cutText, nameOfText } from "../shell/readable_text.ts";
import { clockTime } from "../shell/wording.ts";
import * as styles from "./today.module.css";
import { Card, Item, type ItemContent, Rows, RowTime, type SectionName } from "./today_card.tsx";
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
import {
  FailedDeployments,
  TodayJobSections,
  useTodayDeployments,
  useTodayJobs,
} from "./today_work.tsx";
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
  const deployments = useTodayDeployments(session);
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
    sections.push({ isSettled, content: <TodayJobSections key="jobs" read={jobs} /> });
  }
  if (allows(session.claims, "deployments:read")) {
    const isSettled = deployments.value !== null || deployments.problem !== null;
    sections.push({
      isSettled,
      content: <FailedDeployments key="deployments" read={deployments} />,
    });
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

interface ReportSectionProps {
  name: SectionName;
  report: Report;
  section: Section;
  days: PromptDays;
  /** The choices of the report's route that show all rows. */
  all: AddressChange["analytics"];
  hint?: string;
  onLoad(): void;
  describe(row: ReportRow): ItemContent;
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

function ReportSection(props: ReportSectionProps & { session: Session }) {
  const { session, name, report, section, all, hint, onLoad } = props;
  const part = "among" in section && section.among !== null ? section.among : null;
  const among = part === null ? undefined : TODAY_WORDS.firstOnly(part, report.many);
  return (
    <Card name={name} link={linkToReport(report, all)}>
      {section.state === "loading" && <p class="hint">{TODAY_WORDS.loading}</p>}
      {section.state === "not loaded" && (
        <LoadButton session={session} requests={section.requests} onLoad={onLoad} />
      )}
      {section.state === "failed" && section.listing.problem.value !== null && (
        <ProblemPanel
          problem={section.listing.problem.value}
          onRetry={() => section.listing.load("first rows")}
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
