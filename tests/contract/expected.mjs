/**
 * The intended differences from Mintlify's descriptions, with reasons. The table under "Where
 * Quillgate differs" in docs/mintlify/differences.md has a row for each `id`. `lines` is the output of
 * the comparison.
 */
import assert from "node:assert/strict";

const inReports = (names, rest = "") => names.split(" ").map((name) => `analytics.${name}${rest}`);
const REPORTS = inReports(
  "views visitors feedback feedbackByPage searches conversations callerStats",
);
const ANALYTICS = [...REPORTS, "analytics.conversation"];
const WRITES = ["agentJobs.create", "agentJobs.sendMessage"];
/** Operations on a site, all with a project in their path. */
const SITE_WRITES = ["deployments.create", "previews.create", "automations.run"];
const IN_PROJECT = [...WRITES, "agentJobs.get", ...ANALYTICS, ...SITE_WRITES];

const at = (places, words) => places.map((place) => `${place}: ${words}`);
/** Lists the properties of types, given as `PageView: "path human"`. */
const properties = (types) =>
  Object.entries(types).flatMap(([type, names]) =>
    names.split(" ").map((name) => `${type}.${name}`),
  );
const open = (places, values) =>
  at(places, `published ${values}, declared ${values} | any other string`);
const STATUSES = "pending | in_progress | resolved | dismissed";
const SOURCES = "code_snippet | contextual | agent | thumbs_only";
const SOURCES_OF_DEPLOYMENTS =
  "internal | github-app-installation | api | github | dashboard | gitlab | onboarding";
const NULLABLE = "published as required, declared nullable";
const NOT_EMPTY = "minLength: published none, declared 1";
const COUNTS = {
  ViewTotals: "human ai total",
  PageView: "human ai total",
  VisitorTotals: "human ai total",
  PageVisitors: "human ai total",
  PageFeedback: "thumbsUp thumbsDown code total",
  SearchTerm: "hits",
  CallerStats: "web api other total",
};

export const DECLARED = [
  {
    id: "optional-members",
    reason: "one missing number must not invalidate a page",
    lines: at(
      properties({
        ...COUNTS,
        PageView: "path human ai total",
        PageVisitors: "path human ai total",
        PageFeedback: "path thumbsUp thumbsDown code total",
        ContextualFeedback: "id path status helpful",
        CodeSnippetFeedback: "id path status code",
        OtherFeedback: "id path status source",
        PageViews: "totals hasMore",
        Visitors: "totals hasMore",
        FeedbackPage: "hasMore",
        FeedbackByPage: "hasMore",
        Conversations: "hasMore",
        SearchTerm: "searchQuery hits ctr lastSearchedAt",
        Searches: "totalSearches",
        Conversation: "id timestamp query response sources resolutionStatus",
        ConversationSource: "title url",
        ConversationThread: "threadId createdAt",
        ThreadMessage: "id role content createdAt",
      }),
      NULLABLE,
    ),
  },
  {
    id: "error-members",
    reason: "a refusal is valid with any body",
    lines: at(["AnalyticsError.error", "ErrorDetail.message"], NULLABLE),
  },
  {
    id: "counts",
    reason: "counts are integers that JavaScript represents exactly",
    lines: [
      ...at(properties(COUNTS), "published number, declared integer from 0 to 2^53 - 1"),
      "Searches.totalSearches: published integer from 0, declared integer from 0 to 2^53 - 1",
      "DeploymentAuthor.githubUserId: published number, declared integer from 0 to 2^53 - 1",
    ],
  },
  {
    id: "percentages",
    reason: "the scale was observed",
    lines: ["SearchTerm.ctr: published number, declared percentage"],
  },
  {
    id: "open-values",
    reason: "a new value must not break existing clients",
    lines: [
      ...open(["AgentJob.status", "CreatedJob.status"], "active | completed | archived | failed"),
      ...open(
        ["ContextualFeedback.status", "CodeSnippetFeedback.status", "OtherFeedback.status"],
        STATUSES,
      ),
      ...open(["Conversation.responseType"], "answer | clarifying_question"),
      ...open(["Conversation.resolutionStatus"], "answered | unanswered"),
      ...open(["ThreadMessage.role"], "user | assistant"),
      ...open(["Deployment.status"], "queued | in_progress | success | failure"),
      `Deployment.source: published ${SOURCES_OF_DEPLOYMENTS}, declared string`,
    ],
  },
  {
    id: "feedback-union",
    reason: "the discriminating property selects the type",
    lines: [
      `ContextualFeedback.source: published ${SOURCES}, declared contextual`,
      `CodeSnippetFeedback.source: published ${SOURCES}, declared code_snippet`,
      `OtherFeedback.source: published ${SOURCES}, declared agent | thumbs_only`,
    ],
  },
  {
    id: "result-formats",
    reason: "values that are only displayed need no validation",
    lines: [
      ...at(
        ["AgentJob.prLink", "CreatedJob.prLink"],
        "published string in the format uri, declared string",
      ),
      ...at(
        ["AgentJob", "CreatedJob"].flatMap((type) => [`${type}.createdAt`, `${type}.archivedAt`]),
        "published string in the format date-time, declared string",
      ),
    ],
  },
  {
    id: "created-id",
    reason: "a job or a deployment without an id cannot be followed",
    lines: at(
      ["CreatedJob.id", "StartedDeployment.statusId", "StartedPreview.statusId"],
      "published as optional, declared as required",
    ),
  },
  {
    id: "integer-limit",
    reason: "a limit is a number of rows",
    lines: at(
      inReports("feedback feedbackByPage searches conversations", " query limit"),
      'type: published "number", declared "integer"',
    ),
  },
  {
    id: "page",
    reason: "pages are easier to use than offsets",
    lines: at(inReports("views visitors", " query page"), "declared, not published"),
  },
  {
    id: "largest-offset",
    reason: "JavaScript represents no larger integer exactly",
    lines: at(
      inReports("views visitors", " query offset"),
      'maximum: published none, declared "2^53 - 1"',
    ),
  },
  {
    id: "dates",
    reason: "a mistyped date must not select another range",
    lines: at(
      REPORTS.flatMap((name) => [`${name} query dateFrom`, `${name} query dateTo`]),
      'format: published none, declared "date or date-time"',
    ),
  },
  {
    id: "cursors",
    reason: "an empty cursor is invalid, and other cursors are opaque",
    lines: at(inReports("feedback searches", " query cursor"), NOT_EMPTY),
  },
  {
    id: "statuses-filter",
    reason: "an empty list of statuses is a mistake",
    lines: at(inReports("feedback feedbackByPage", " query status"), NOT_EMPTY),
  },
  {
    id: "ids",
    reason: "an id must not change the path",
    lines: at(
      [
        ...IN_PROJECT.map((name) => `${name} path projectId`),
        "agentJobs.get path id",
        "agentJobs.sendMessage path id",
        "deployments.get path statusId",
        "automations.run path workflowSchemaId",
      ],
      'format: published none, declared "path-segment"',
    ),
  },
];

const FORBIDDEN = IN_PROJECT.filter((name) => name !== "previews.create");

/** Responses of the simulator that are not published. */
export const SIMULATED = [
  {
    id: "other-errors",
    reason: "no description lists the statuses for rejected keys and documented limits",
    lines: [
      ...at([...IN_PROJECT, "deployments.get"], "401 is not published"),
      ...at(FORBIDDEN, "403 is not published"),
      ...at([...ANALYTICS, ...SITE_WRITES], "429 is not published"),
      "deployments.get: 404 is not published",
    ],
  },
];

export function assertExpected(found, expected) {
  const intended = expected.flatMap(({ lines }) => lines);
  assert.deepEqual(
    {
      "found, but not expected": found.filter((line) => !intended.includes(line)),
      "expected, but not found": intended.filter((line) => !found.includes(line)),
    },
    { "found, but not expected": [], "expected, but not found": [] },
  );
}
