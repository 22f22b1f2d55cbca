import { minute } from "./clock.ts";
import { relativeTime } from "./relative_time.ts";
import { dayAndTime } from "./wording.ts";

const MINUTE_MS = 60_000;

/** A time relative to now. Its title has the exact time. */
export function TimeAgo({ at }: { at: number }) {
  return (
    <time dateTime={new Date(at).toISOString()} title={dayAndTime(at)}>
      {relativeTime(at, minute.value + MINUTE_MS - 1)}
    </time>
  );
}
