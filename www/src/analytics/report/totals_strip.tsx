import { count, counted, share } from "../../shell/wording.ts";
import { changeInWords, changeText, signOf } from "../rows/change_words.ts";
import { countUnanswered } from "../rows/conversation_rows.ts";
import { countRatings, type Ratings, sumRatings } from "../rows/feedback_rows.ts";
import type { Listing } from "../rows/listing.ts";
import type { Report, ReportName, ReportRow, Totals } from "../rows/report.ts";
import { sumClicks } from "../rows/search_clicks.ts";
import { type Change, changeOf, toneOf } from "../rows/sums.ts";
import * as styles from "./totals_strip.module.css";

const HEADINGS: Record<ReportName, string> = {
  views: "Total page views",
  visitors: "Total visitors",
  searches: "Total searches",
  feedback: "Feedback in this period",
  feedbackByPage: "Feedback by page in this period",
  conversations: "Questions in this period",
};

interface TotalsStripProps {
  report: Report;
  listing: Listing | null;
  earlier: Listing | null;
}

/**
 * The figures of a report. Views, visitors and searches are those of the whole site. Other counts
 * and shares of clicks or ratings cover only the loaded rows.
 */
export function TotalsStrip(props: TotalsStripProps) {
  const { report, listing } = props;
  const isLoading = listing === null || listing.state.value === "loading";
  // Grey placeholders take the place of the figures.
  const waiting = isLoading && !listing?.totals.value && !listing?.rows.value.length;
  return (
    <section class={styles.strip} aria-labelledby="totals" aria-busy={waiting}>
      <h2 id="totals" class="visually-hidden">
        {HEADINGS[report.name]}
      </h2>
      <Figures figures={figuresOf(props)} isWaiting={waiting} />
      {report.name === "visitors" && (
        <p class="hint">
          Visitors are counted once across pages, so rows don’t add up to the total.
        </p>
      )}
    </section>
  );
}

const MARKS: Record<Figure["kind"], string | undefined> = {
  human: styles.human,
  ai: styles.ai,
  all: "",
  share: "",
  neutral: "",
};

interface FiguresProps {
  figures: readonly Figure[];
  /** Whether grey placeholders take the place of the values. */
  isWaiting?: boolean;
}

export function Figures({ figures, isWaiting = false }: FiguresProps) {
  return (
    <dl class={styles.totals} aria-busy={isWaiting}>
      {figures.map(({ name, value, change, kind }) => (
        <div key={name} class={`${styles.figure} ${MARKS[kind]}`}>
          <dt>{name}</dt>
          <dd class={`${styles.value} ${isWaiting ? styles.waiting : ""}`}>{value}</dd>
          {change !== undefined && <FigureChange change={change} kind={kind} />}
        </div>
      ))}
    </dl>
  );
}

function FigureChange({ change, kind }: { change: Change | null; kind: Figure["kind"] }) {
  const tone = change && kind !== "neutral" ? toneOf(change) : undefined;
  return (
    <dd class={styles.change} data-tone={tone}>
      {change && (
        <>
          <span class="visually-hidden">{changeInWords(change)}</span>
          <span aria-hidden="true">
            {signOf(change)} {changeText(change)}
          </span>
        </>
      )}
    </dd>
  );
}

export interface Figure {
  name: string;
  value: string;
  /** The change since the compared period; `null` without one, absent if it is never compared. */
  change?: Change | null;
  /** The change of a `neutral` figure has no colour, because an increase is not a gain. */
  kind: "human" | "ai" | "all" | "share" | "neutral";
}

function figuresOf({ report, listing, earlier: past }: TotalsStripProps): Figure[] {
  const [totals, earlier] = [listing?.totals.value ?? null, past?.totals.value ?? null];
  const rows = listing?.rows.value ?? [];
  const isComplete = listing?.state.value === "complete";
  // Parts of two periods cannot be compared.
  const isCompared = isComplete && past?.state.value === "complete";
  const earlierRows = isCompared ? past.rows.value : null;
  switch (report.name) {
    case "views":
    case "visitors":
      return figuresOfCounts(report, totals, earlier);
    case "searches":
      return [
        figureOf("Searches", "all", totals?.total, earlier?.total),
        clicklessFigure(rows, isComplete),
      ];
    case "feedback":
      return [
        {
          ...figureOf(
            isComplete ? "Feedback" : "Feedback loaded",
            "neutral",
            rows.length,
            earlierRows?.length,
          ),
          value: counted(rows.length, report.one, report.many),
        },
        ratingFigure(countRatings(rows)),
      ];
    case "feedbackByPage":
      return [
        { name: "Pages listed", value: count(rows.length), kind: "all" },
        ratingFigure(sumRatings(rows)),
      ];
    case "conversations": {
      const name = isComplete ? "Questions" : "Questions loaded";
      const unanswered = countUnanswered(rows);
      const before = earlierRows && countUnanswered(earlierRows);
      return [
        figureOf(name, "neutral", rows.length, earlierRows?.length),
        figureOf("Unanswered", "neutral", unanswered, before),
        { name: "Unanswered share", value: share(unanswered, rows.length), kind: "share" },
      ];
    }
  }
}

/** Returns the figures of a report of views or visitors. */
export function figuresOfCounts(
  report: Report,
  totals: Totals | null,
  earlier: Totals | null,
): Figure[] {
  const { human = null, ai = null, total = null } = totals ?? {};
  const whole = report.name === "views" ? "All views" : "All visitors";
  return [
    figureOf("People", "human", human, earlier?.human),
    figureOf("AI", "ai", ai, earlier?.ai),
    figureOf(whole, "all", total, earlier?.total),
    { name: "AI share", value: share(ai, total), kind: "share" },
  ];
}

function figureOf(
  name: string,
  kind: Figure["kind"],
  now: number | null = null,
  earlier: number | null = null,
): Figure {
  return { name, value: count(now), change: changeOf(now, earlier), kind };
}

function clicklessFigure(rows: readonly ReportRow[], isComplete: boolean): Figure {
  const { clickless, searches } = sumClicks(rows);
  const name = isComplete ? "No clicks" : "No clicks (loaded terms)";
  return { name, value: share(clickless, searches), kind: "share" };
}

function ratingFigure({ helpful, all }: Ratings): Figure {
  const name = `Helpful, of ${counted(all, "rating")}`;
  return { name, value: share(helpful, all), kind: "share" };
}
