import type { Trend } from "./daily_trend.ts";

/**
 * Returns what a request for a trend revealed about the project's archive; null if the page sent no
 * request.
 */
export function archiveSentence(trend: Trend): string | null {
  switch (trend.state) {
    case "off":
      return `The gateway says: ${trend.detail}`;
    case "failed":
      return `Couldn’t load the gateway’s reason. ${trend.problem.cause}`;
    case "no day yet":
      return null;
    case "drawn":
    case "nothing held":
      return "It is on now. Reload this page.";
  }
}
