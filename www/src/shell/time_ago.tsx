import { computed } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { now } from "./clock.ts";
import { clockSkew } from "./clock_skew.ts";
import { relativeTime } from "./relative_time.ts";
import { dayAndTime } from "./wording.ts";

/** A time relative to now. Its title has the exact time. */
export function TimeAgo({ at }: { at: number }) {
  // As a signal, the string updates without rendering the component every second.
  const text = useMemo(() => computed(() => relativeTime(at, now.value - clockSkew.value)), [at]);
  return (
    <time dateTime={new Date(at).toISOString()} title={dayAndTime(at)}>
      {text}
    </time>
  );
}
