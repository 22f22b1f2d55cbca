/** The strings of states, which several routes show. */
export const STATE_WORDS = {
  queued: "Queued",
  inProgress: "In progress",
  live: "Live",
  warning: "Live, with a warning",
  failed: "Failed",
  unknown: "Not known yet",
  site: "Site",
  previewOf: (branch: string) => `Preview of ${branch}`,
} as const;
