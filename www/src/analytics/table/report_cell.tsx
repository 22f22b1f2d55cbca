import type { ComponentChildren } from "preact";
import { parseInstant } from "quillgate/values";
import { isBlank } from "../../shell/readable_text.ts";
import {
  count,
  dayAndTime,
  percentage,
  signedCount,
  spell,
  utcDayAndTime,
  wholePercent,
} from "../../shell/wording.ts";
import type { Cell, CellKind } from "../rows/report.ts";

/** Formats a value for its column. Isolates strings, which may contain right-to-left letters. */
export function formatCell(value: Cell, kind: CellKind): ComponentChildren {
  if (value === null) return "–";
  if (typeof value === "string") {
    if (isBlank(value)) return "–";
    if (kind === "word") return spell(value);
    if (kind !== "time") return <bdi title={value}>{value}</bdi>;
    const time = parseInstant(value);
    return time === null ? (
      <bdi>{value}</bdi>
    ) : (
      <time dateTime={new Date(time).toISOString()} title={`${dayAndTime(time)} your time`}>
        {utcDayAndTime(time)}
      </time>
    );
  }
  if (kind === "share") return wholePercent(value);
  if (kind === "percentage") return percentage(value);
  return kind === "change" ? signedCount(value) : count(value);
}
