import { computed } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { now } from "./clock.ts";
import { relativeTime } from "./relative_time.ts";
import { dayAndTime } from "./wording.ts";

/** Shows a time relative to now. The tooltip has the exact time. */
export function TimeAgo({ at }: { at: number }) {
  // A signal updates the string without rendering the component every second.
  const text = useMemo(() => computed(() => relativeTime(at, now.value)), [at]);
  return (
    <time dateTime={new Date(at).toISOString()} title={dayAndTime(at)}>
      {text}
    </time>
  );
}
