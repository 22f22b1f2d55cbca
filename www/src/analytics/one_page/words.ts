import { count } from "../../shell/wording.ts";

/** The strings of the route of one page. */
export const PAGE_WORDS = {
  parent: "Page views",
  open: "Open page",
  setSite: "Set site URL",
  startJob: "Start a job about this page",
  mayNotStart: "start jobs",
  views: "Views",
  noViews: "No views in this period. Check the path, or choose a longer period.",
  viewsOf: (paths: string) => `The sum of ${paths}.`,
  visitors: "Visitors",
  noVisitors: "No visitors in this period.",
  visitorsOf: (paths: string) =>
    `The largest count of ${paths}. One visitor can have used several of them.`,
  feedback: "Feedback",
  noFeedback: "No feedback about this page in this period.",
  noComment: "No comment",
  helpful: "Helpful",
  notHelpful: "Not helpful",
  searches: "Searches",
  searchesHint: "Terms for which readers click this page more than any other.",
  noSearches: "No terms lead mainly to this page.",
  jobs: "Jobs",
  noJobs: "No job mentions this page.",
  olderJobs: "Only the newest jobs were searched.",
  mayNotReadJobs: "see jobs",
  loading: "Loading…",
  loadAll: (many: string) => `Load all ${many}`,
  cost: (requests: number) =>
    `Uses up to ${requests} requests of your organization’s hourly limit.`,
  showAll: (rows: number) => `Show all ${count(rows)}`,
  load: (what: string) => `Load ${what}`,
  notAmong: (rows: string) => `Not among the ${rows} loaded so far.`,
  among: (rows: string) => `Among the ${rows} loaded so far.`,
} as const;
