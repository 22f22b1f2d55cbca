/** The strings of live lists. */
export const LIVE_WORDS = {
  showMore: "Show more",
  newest: (items: string) => `Newest ${items}`,
  added: (items: string) => `${items} shown`,
  today: "Today",
  yesterday: "Yesterday",
  live: "Live",
  connecting: "Connecting…",
  offline: "Offline",
  updated: (time: string) => `Updated ${time}`,
  notUpdated: (time: string, why: string) => `Not updated since ${time}. ${why}.`,
  refresh: "Refresh",
  watching: "Watching for updates.",
  updatedAgo: (time: string) => `Updated ${time}.`,
  checkNow: "Check now",
  copyId: "Copy ID",
} as const;
