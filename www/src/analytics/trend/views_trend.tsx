import type { Session } from "../../session/session.ts";
import { defer } from "../../shell/deferred.tsx";
import { address } from "../../shell/navigation.ts";
import type { Day } from "../period/address_words.ts";
import type { DayRange } from "../period/range.ts";
import { today } from "../period/today.ts";
import type { Trend } from "./daily_trend.ts";
import type { TrendSubject } from "./trend.ts";
import { TrendOff } from "./trend_off.tsx";
import { TrendSpace } from "./trend_space.tsx";

/** Loaded on demand, because most gateways have no archive. */
const ArchivedTrend = defer(
  async () => (await import("./archived_trend.tsx")).ArchivedTrend,
  TrendSpace,
);

export interface ViewsTrendProps {
  session: Session;
  range: DayRange;
  earlierRange: DayRange | null;
  subject: TrendSubject;
  /** The days on which a pull request about the page was merged. */
  merges?: readonly Day[];
  /** Called with each answer of the archive. */
  onRead?: (trend: Trend) => void;
  /** Whether the chart must not load yet. Its space is kept. */
  isWaiting?: boolean;
}

/**
 * The chart of daily views, which the gateway's archive has without Mintlify requests. Without an
 * archive, explains how to turn it on. Renders nothing if no day of the range has ended.
 */
export function ViewsTrend({ isWaiting = false, ...props }: ViewsTrendProps) {
  const { session, range } = props;
  if (!session.claims.archivedProjects.includes(session.projectId)) return <TrendOff />;
  if (range.from >= today.value) return null;
  if (isWaiting) return <TrendSpace />;
  return <ArchivedTrend {...props} interval={address.value.analytics.interval} />;
}
