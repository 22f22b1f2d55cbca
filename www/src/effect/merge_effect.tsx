import { useSignal } from "@preact/signals";
import { viewsOf } from "../analytics/cache/session_views.ts";
import { type DayRange, rangeLabel, shortDay } from "../analytics/period/range.ts";
import { today } from "../analytics/period/today.ts";
import { pageChange } from "../analytics/rows/page_address.ts";
import { decodePath } from "../analytics/rows/page_path.ts";
import { allows } from "../session/claims.ts";
import type { Session } from "../session/session.ts";
import { Link } from "../shell/link.tsx";
import { ProblemPanel } from "../shell/problem_panel.tsx";
import { type Read, useRead } from "../shell/use_read.ts";
import { count, utcDay } from "../shell/wording.ts";
import { type EffectDays, effectDays } from "./effect_days.ts";
import {
  REACTION_REQUESTS,
  type Reactions,
  readReactions,
  readViews,
  type Views,
} from "./effect_figures.ts";
import * as styles from "./merge_effect.module.css";
import { EFFECT_WORDS } from "./words.ts";

interface MergeEffectProps {
  session: Session;
  /** The page that the job was about. */
  path: string;
  /** When the pull request was merged, in milliseconds since the epoch. */
  mergedAt: number;
}

/** Compares a page's figures before and after a merge. */
export function MergeEffect({ session, path, mergedAt }: MergeEffectProps) {
  if (!allows(session.claims, "analytics:read")) return null;
  const days = effectDays(mergedAt, today.value);
  const link = pageChange(path);
  const isArchived = session.claims.archivedProjects.includes(session.projectId);
  return (
    <section class={`stack ${styles.effect}`} aria-labelledby="effect">
      <h2 id="effect">
        <Link to={link}>{EFFECT_WORDS.title(decodePath(path))}</Link>
      </h2>
      <p class="hint">{EFFECT_WORDS.merged(utcDay(mergedAt))}</p>
      {"readyOn" in days ? (
        <p>{EFFECT_WORDS.tooEarly(shortDay(days.readyOn))}</p>
      ) : (
        <>
          {!isArchived && <p class="hint">{EFFECT_WORDS.noArchive}</p>}
          <Figures
            key={`${path} ${days.before.from}`}
            session={session}
            path={path}
            days={days}
            isArchived={isArchived}
          />
          <p class="hint">{EFFECT_WORDS.caveat}</p>
        </>
      )}
    </section>
  );
}

interface Pair<Value> {
  before: Value;
  after: Value;
}

type Days = Extract<EffectDays, { before: unknown }>;

interface FiguresProps {
  session: Session;
  path: string;
  days: Days;
  isArchived: boolean;
}

function Figures({ session, path, days, isArchived }: FiguresProps) {
  const { client, end } = session;
  const views = usePair(days, isArchived, end.signal, (range, signal) =>
    readViews(client, path, range, signal),
  );
  const wantsReactions = useSignal(false);
  const reactions = usePair(days, wantsReactions.value, end.signal, (range, signal) =>
    readReactions(client, viewsOf(session).limit, path, range, signal),
  );

  const missing = views.value ? views.value.before.missing + views.value.after.missing : 0;
  return (
    <>
      {(isArchived || wantsReactions.value) && (
        <table class={styles.figures}>
          <thead>
            <tr>
              <td />
              <th scope="col">
                {EFFECT_WORDS.before} <span class="hint">{rangeLabel(days.before)}</span>
              </th>
              <th scope="col">
                {EFFECT_WORDS.after} <span class="hint">{rangeLabel(days.after)}</span>
              </th>
              <th scope="col">{EFFECT_WORDS.change}</th>
            </tr>
          </thead>
          <tbody>
            {isArchived && renderViews(views.value)}
            {wantsReactions.value && renderReactions(reactions.value)}
          </tbody>
        </table>
      )}
      {missing > 0 && <p class="hint">{EFFECT_WORDS.missing(missing)}</p>}
      {[views, reactions].map(
        ({ problem, retry }, place) =>
          problem && <ProblemPanel key={place} problem={problem} onRetry={retry} />,
      )}
      {!wantsReactions.value && (
        <button
          type="button"
          class="quiet"
          onClick={() => {
            wantsReactions.value = true;
          }}
        >
          {EFFECT_WORDS.load(REACTION_REQUESTS)}
        </button>
      )}
    </>
  );
}

/** Reads the figures of both periods, once they are wanted. */
function usePair<Value>(
  { before, after }: Days,
  isWanted: boolean,
  ended: AbortSignal,
  read: (range: DayRange, signal: AbortSignal) => Promise<Value>,
): Read<Pair<Value>> {
  const readBoth = async (signal: AbortSignal) => {
    const [first, second] = await Promise.all([read(before, signal), read(after, signal)]);
    return { before: first, after: second };
  };
  return useRead(ended, isWanted ? readBoth : null, [before.from, after.to]);
}

/** A change is only shown of whole figures. */
function renderViews(pair: Pair<Views> | null) {
  const isWhole = pair !== null && pair.before.missing + pair.after.missing === 0;
  return (["human", "ai"] as const).map((name) => {
    const label = name === "human" ? EFFECT_WORDS.people : EFFECT_WORDS.ai;
    if (pair === null) return renderRow(label, null, "");
    const [before, after] = [pair.before[name], pair.after[name]];
    const change = isWhole ? EFFECT_WORDS.changeOf(before, after) : "";
    return renderRow(label, [count(before), count(after)], change);
  });
}

function renderReactions(pair: Pair<Reactions> | null) {
  const { before, after } = pair ?? {};
  if (before === undefined || after === undefined) {
    return [EFFECT_WORDS.helpful, EFFECT_WORDS.searches].map((label) => renderRow(label, null, ""));
  }
  const isWhole = !before.isPart && !after.isPart;
  const searches = [before, after].map((one) => EFFECT_WORDS.searchesOf(one.searches, one.isPart));
  const change = isWhole ? EFFECT_WORDS.changeOf(before.searches, after.searches) : "";
  return (
    <>
      {renderRow(EFFECT_WORDS.helpful, [before, after].map(ratingsOf), "")}
      {renderRow(EFFECT_WORDS.searches, searches, change)}
    </>
  );
}

function ratingsOf({ ratings }: Reactions): string {
  return ratings === null
    ? EFFECT_WORDS.unknown
    : EFFECT_WORDS.ratings(ratings.helpful, ratings.all, ratings.isPart);
}

/** @param figures before and after; null while they load */
function renderRow(label: string, figures: readonly string[] | null, change: string) {
  return (
    <tr key={label}>
      <th scope="row">{label}</th>
      <td translate={false}>{figures?.[0] ?? EFFECT_WORDS.loading}</td>
      <td translate={false}>{figures?.[1] ?? ""}</td>
      <td translate={false}>{change}</td>
    </tr>
  );
}
