import { count, counted, signedCount } from "../shell/wording.ts";

/** The strings of the route *Today*. */
export const TODAY_WORDS = {
  intro: (days: string) => `What needs your team, from ${days}.`,
  falls: "Pages that lost readers",
  questions: "Questions without an answer",
  searches: "Searches without a click",
  feedback: "Unhelpful pages",
  pullRequests: "Pull requests to review",
  failed: "Jobs that failed",
  deployments: "Deployments that failed",
  all: "See all",
  startJob: "Start a job",
  startJobAbout: (subject: string) => `Start a job about ${subject}`,
  openJob: "Open job",
  openDeployment: "Open deployment",
  people: (change: number) => `${signedCount(change)} people`,
  times: (times: number) => counted(times, "time"),
  searched: (hits: number) => counted(hits, "search", "searches"),
  noComment: "No comment",
  loading: "Loading…",
  nothing: {
    falls: "No page lost readers.",
    questions: "The assistant answered every question.",
    searches: "Readers clicked a result of every search.",
    feedback: "No reader called a page unhelpful.",
    pullRequests: "No pull request waits.",
    failed: "No job failed.",
    deployments: "No deployment failed.",
  },
  versus: (days: string, earlier: string) => `${days} vs ${earlier}`,
  /** Says that rows beyond the first request can exist. */
  firstOnly: (rows: number, many: string) => `among the first ${count(rows)} ${many}`,
  lookedAt: (most: number, what: string) => `Looked at the newest ${counted(most, what)}.`,
  load: (requests: number) => `Load, for up to ${counted(requests, "request")}`,
  noneLeft: (time: string) => `No requests left. You can load this at ${time}.`,
} as const;
