/**
 * The differences that are meant, and why. Each has its row in docs/platform.md, under "Where
 * Quillgate differs", by its `id`; `lines` are those that the comparison prints.
 */
import assert from "node:assert/strict";

const REPORTS = [
  "analytics.views",
  "analytics.visitors",
  "analytics.feedback",
  "analytics.feedbackByPage",
  "analytics.searches",
  "analytics.conversations",
  "analytics.callerStats",
];
const ANALYTICS = [...REPORTS, "analytics.conversation"];
const WRITES = ["agentJobs.create", "agentJobs.sendMessage"];
const PLATFORM = [...WRITES, "agentJobs.get", ...ANALYTICS];

/** The same difference at each of these places. */
const at = (places, words) => places.map((place) => `${place}: ${words}`);
/** The members of types: `PageView: "path human"`. */
const members = (types) =>
  Object.entries(types).flatMap(([type, names]) =>
    names.split(" ").map((name) => `${type}.${name}`),
  );
/** What one set of values is published as, and is open to any other text here. */
const open = (places, values) =>
  at(places, `published ${values}, declared ${values} | any other text`);
const STATUSES = "pending | in_progress | resolved | dismissed";
const SOURCES = "code_snippet | contextual | agent | thumbs_only";
const COUNTS = {
  ViewTotals: "human ai total",
  PageView: "human ai total",
  VisitorTotals: "human ai total",
  PageVisitors: "human ai total",
  PageFeedback: "thumbsUp thumbsDown code total",
  SearchTerm: "hits",
  CallerStats: "web api other total",
};

/** @type {{ id: string, reason: string, lines: string[] }[]} */
export const DECLARED = [
  {
    id: "optional-members",
    reason: "one missing figure must not cost a whole page",
    lines: at(
      members({
        ...COUNTS,
        PageView: "path human ai total",
        PageVisitors: "path human ai total",
        PageFeedback: "path thumbsUp thumbsDown code total",
        ContextualFeedback: "id path status helpful",
        CodeSnippetFeedback: "id path status code",
        OtherFeedback: "id path status",
        SearchTerm: "searchQuery hits ctr lastSearchedAt",
        Searches: "totalSearches",
        Conversation: "id timestamp query response sources resolutionStatus",
        ConversationSource: "title url",
        ConversationThread: "threadId createdAt",
        ThreadMessage: "id role content createdAt",
      }),
      "published as always there, declared nullable",
    ),
  },
  {
    id: "error-members",
    reason: "a refusal is one whatever its body says",
    lines: at(
      ["AnalyticsError.error", "ErrorDetail.message"],
      "published as always there, declared nullable",
    ),
  },
  {
    id: "counts",
    reason: "a fraction of a view is a fault, and so is what JavaScript cannot count exactly",
    lines: [
      ...at(members(COUNTS), "published number, declared integer from 0 to 2^53 - 1"),
      "Searches.totalSearches: published integer from 0, declared integer from 0 to 2^53 - 1",
    ],
  },
  {
    id: "open-values",
    reason: "a new value must not break a client that exists",
    lines: [
      ...open(["AgentJob.status"], "active | completed | archived | failed"),
      ...open(
        ["ContextualFeedback.status", "CodeSnippetFeedback.status", "OtherFeedback.status"],
        STATUSES,
      ),
      ...open(["Conversation.responseType"], "answer | clarifying_question"),
      ...open(["Conversation.resolutionStatus"], "answered | unanswered"),
      ...open(["ThreadMessage.role"], "user | assistant"),
    ],
  },
  {
    id: "feedback-union",
    reason: "the member that tells the shapes apart decides, not a guess",
    lines: [
      `ContextualFeedback.source: published ${SOURCES}, declared contextual`,
      `CodeSnippetFeedback.source: published ${SOURCES}, declared code_snippet`,
      `OtherFeedback.source: published ${SOURCES}, declared agent | thumbs_only`,
    ],
  },
  {
    id: "result-formats",
    reason: "what is only shown need not be checked",
    lines: [
      "AgentJob.prLink: published text in the format uri, declared text",
      ...at(
        ["AgentJob.createdAt", "AgentJob.archivedAt"],
        "published text in the format date-time, declared text",
      ),
    ],
  },
  {
    id: "integer-limit",
    reason: "there is no half of a row",
    lines: at(
      [
        "analytics.feedback query limit",
        "analytics.feedbackByPage query limit",
        "analytics.searches query limit",
        "analytics.conversations query limit",
      ],
      'type: published "number", declared "integer"',
    ),
  },
  {
    id: "page",
    reason: "people count pages",
    lines: at(
      ["analytics.views query page", "analytics.visitors query page"],
      "declared, not published",
    ),
  },
  {
    id: "largest-offset",
    reason: "JavaScript has no larger integer that is exact",
    lines: at(
      ["analytics.views query offset", "analytics.visitors query offset"],
      'maximum: published none, declared "2^53 - 1"',
    ),
  },
  {
    id: "dates",
    reason: "what is sent is what was meant",
    lines: at(
      REPORTS.flatMap((name) => [`${name} query dateFrom`, `${name} query dateTo`]),
      'format: published none, declared "date or date-time"',
    ),
  },
  {
    id: "cursors",
    reason: "an empty cursor leads nowhere, and what a cursor says is the platform's affair",
    lines: at(
      ["analytics.feedback query cursor", "analytics.searches query cursor"],
      "minLength: published none, declared 1",
    ),
  },
  {
    id: "statuses-filter",
    reason: "an empty list of statuses is a mistake",
    lines: at(
      ["analytics.feedback query status", "analytics.feedbackByPage query status"],
      "minLength: published none, declared 1",
    ),
  },
  {
    id: "ids",
    reason: "an id must not lead to another path",
    lines: at(
      [
        ...PLATFORM.map((name) => `${name} path projectId`),
        "agentJobs.get path id",
        "agentJobs.sendMessage path id",
      ],
      'format: published none, declared "path-segment"',
    ),
  },
];

/** What the simulator answers beyond what is published. */
export const SIMULATED = [
  {
    id: "other-errors",
    reason: "keys are refused and limits are stated, though no description has the statuses",
    lines: [
      ...PLATFORM.flatMap((name) => [
        `${name}: 401 is not published`,
        `${name}: 403 is not published`,
      ]),
      ...ANALYTICS.map((name) => `${name}: 429 is not published`),
    ],
  },
];

/**
 * Passes when exactly the lines that are meant were found, and names the others alone.
 *
 * @param {string[]} found
 * @param {{ lines: string[] }[]} expected
 */
export function assertExpected(found, expected) {
  const meant = expected.flatMap(({ lines }) => lines);
  assert.deepEqual(
    {
      "found, but not expected": found.filter((line) => !meant.includes(line)),
      "expected, but not found": meant.filter((line) => !found.includes(line)),
    },
    { "found, but not expected": [], "expected, but not found": [] },
  );
}
