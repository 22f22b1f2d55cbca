import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { allows } from "../../session/claims.ts";
import { ScopeHint } from "../../session/scope_notice.tsx";
import type { Session } from "../../session/session.ts";
import { defer, deferDialog } from "../../shell/deferred.tsx";
import { focusHeading } from "../../shell/heading.tsx";
import { External } from "../../shell/icons.tsx";
import { address } from "../../shell/navigation.ts";
import { usePageTitle } from "../../shell/page_title.ts";
import { ProblemPanel } from "../../shell/problem_panel.tsx";
import { viewsOf } from "../cache/session_views.ts";
import { siteOf } from "../cache/site_address.ts";
import type { Day } from "../period/address_words.ts";
import { PeriodPicker } from "../period/period_picker.tsx";
import { rangeLabel, rangeSentence } from "../period/range.ts";
import { jobPrompt } from "../report/job_prompt.ts";
import { loadOn, StaleNote } from "../report/notices.tsx";
import * as rangeLine from "../report/range_line.module.css";
import { InvalidLink, useOpenListings, useReportKeys } from "../report/report_route.tsx";
import { startRowJob } from "../report/start_row_job.ts";
import * as toolbar from "../report/toolbar.module.css";
import { ComparisonMenu } from "../report/toolbar.tsx";
import { Figures, figuresOfCounts } from "../report/totals_strip.tsx";
import { comparedColumn } from "../rows/arrangement.ts";
import type { Listing } from "../rows/listing.ts";
import { linkToPage } from "../rows/page_link.ts";
import { decodePath } from "../rows/page_path.ts";
import { REPORTS, type Totals } from "../rows/report.ts";
import { wantedEarlier, wantedRange } from "../table/table_model.ts";
import { ViewsTrend } from "../trend/views_trend.tsx";
import { countsOfPage, earlierCountsOfPage, rowOfPage, spellingsIn } from "./page_figures.ts";
import {
  LoadButton,
  LoadedPart,
  PageFeedback,
  PageSearches,
  PageSection,
  PageVisitors,
} from "./page_reports.tsx";
import * as styles from "./page_route.module.css";
import { PAGE_WORDS } from "./words.ts";

const SiteDialog = deferDialog(async () => (await import("../report/site_dialog.tsx")).SiteDialog);
const PageJobs = defer(async () => (await import("./page_jobs.tsx")).PageJobs);

const REPORT = REPORTS.views;

/** The most spellings in the chart, because each needs a request to the archive. */
const MAX_CHARTED = 5;

interface PageRouteProps {
  session: Session;
  path: string;
  /** Whether the person came from the report or another page. If so, focuses the heading. */
  isMove: boolean;
}

/** One documentation page: its views, visitors, feedback, searches and jobs. */
export function PageRoute({ session, path, isMove }: PageRouteProps) {
  const cache = viewsOf(session);
  useOpenListings(cache, REPORT);
  useReportKeys(cache, REPORT, "one page");
  usePageTitle({
    heading: decodePath(path),
    tab: decodePath(path),
    parent: { label: PAGE_WORDS.parent, change: { analytics: { page: null } } },
  });
  useEffect(() => {
    if (isMove) focusHeading();
  }, [path]);
  const range = wantedRange();
  const listing = cache.find(REPORT, range);
  const earlierRange = wantedEarlier(REPORT);
  const isCompared = listing !== null && earlierRange !== null;
  const earlier = isCompared ? cache.findEarlier(listing, earlierRange) : null;
  const counts = countsOfPage(listing, path);
  const earlierCounts = earlierCountsOfPage(listing, earlier, path);
  const spellings = spellingsIn(listing, path);
  const merges = useSignal<readonly Day[]>([]);
  // Gained people and Lost people link to this route.
  const isAboutPeople = comparedColumn(address.value.analytics.arrangement, "total") === "human";
  const compared = isAboutPeople ? "human" : "total";
  const row = rowOfPage(path, counts, earlierCounts, compared);
  return (
    <div class={`stack ${styles.route}`}>
      <div class={`toolbar ${toolbar.toolbar}`}>
        <PeriodPicker range={range} />
        <ComparisonMenu comparison={address.value.analytics.comparison} />
        <StartJob
          session={session}
          prompt={jobPrompt(REPORT, row, { range, earlierRange, compared }) ?? ""}
        />
      </div>
      <p class={rangeLine.line}>
        <span>{rangeSentence(range, listing?.bounds.value.frozenAt ?? null)}</span>
        {earlierRange !== null && <span>vs {rangeLabel(earlierRange)}</span>}
        <SiteLink session={session} path={path} />
      </p>
      <InvalidLink range={range} />
      {listing && <StaleNote listing={listing} />}
      <PageSection title={PAGE_WORDS.views}>
        <Views listing={listing} counts={counts} earlier={earlierCounts} />
        {spellings.length > 1 && <p class="hint">{PAGE_WORDS.viewsOf(spellings.join(", "))}</p>}
        <ViewsTrend
          session={session}
          range={range}
          earlierRange={earlierRange}
          subject={{ paths: [...new Set([path, ...spellings])].slice(0, MAX_CHARTED) }}
          merges={merges.value}
        />
      </PageSection>
      <div class={styles.columns}>
        <PageVisitors session={session} path={path} />
        <PageFeedback session={session} path={path} />
        <PageSearches session={session} path={path} />
      </div>
      <PageSection title={PAGE_WORDS.jobs}>
        {allows(session.claims, "jobs:read") ? (
          <PageJobs
            session={session}
            path={path}
            onMerges={(days) => {
              merges.value = days;
            }}
          />
        ) : (
          <ScopeHint scope="jobs:read" lost={PAGE_WORDS.mayNotReadJobs} />
        )}
      </PageSection>
    </div>
  );
}

function StartJob({ session, prompt }: { session: Session; prompt: string }) {
  if (!allows(session.claims, "jobs:create")) {
    return <ScopeHint scope="jobs:create" lost={PAGE_WORDS.mayNotStart} />;
  }
  return (
    <button
      type="button"
      class={`primary ${styles.start}`}
      onClick={() => startRowJob(session, prompt)}
    >
      {PAGE_WORDS.startJob}
    </button>
  );
}

/** Links to the page on its site. Without a link, offers to set the site's address. */
function SiteLink({ session, path }: { session: Session; path: string }) {
  const isOpen = useSignal(false);
  const href = linkToPage(siteOf(session), path);
  if (href !== null) {
    return (
      <a href={href} title={href} target="_blank" rel="noreferrer">
        {PAGE_WORDS.open} <External />
      </a>
    );
  }
  return (
    <>
      <button
        type="button"
        class="quiet"
        onClick={() => {
          isOpen.value = true;
        }}
      >
        {PAGE_WORDS.setSite}
      </button>
      {isOpen.value && (
        <SiteDialog
          session={session}
          onClose={() => {
            isOpen.value = false;
          }}
        />
      )}
    </>
  );
}

interface ViewsProps {
  listing: Listing | null;
  counts: Totals | null;
  earlier: Totals | null;
}

function Views({ listing, counts, earlier }: ViewsProps) {
  const problem = listing?.problem.value ?? null;
  const isEmpty = listing === null || listing.requests.value === 0;
  if (problem !== null && counts === null) {
    const goal = isEmpty ? "small site" : listing?.goal;
    return (
      <ProblemPanel
        problem={problem}
        onRetry={() => {
          if (listing && goal) loadOn(listing, goal);
        }}
      />
    );
  }
  // The person stopped loading before the first rows arrived.
  if (listing?.state.value === "empty") {
    return <LoadButton name="views" onLoad={() => loadOn(listing, "small site")} />;
  }
  const isWaiting = counts === null && (isEmpty || listing.state.value === "loading");
  return (
    <>
      <Figures figures={figuresOfCounts(REPORT, counts, earlier)} isWaiting={isWaiting} />
      {counts?.total === 0 && <p class="hint">{PAGE_WORDS.noViews}</p>}
      {listing && !isWaiting && <LoadedPart listing={listing} isFound={counts !== null} />}
    </>
  );
}
