/** Types of lists and exports. */

import type { BodyReader } from "./exchange.js";
import type { RequestOptions } from "./options.js";
import type { Transport } from "./transport.js";
import type { Lists, Operations } from "./types.js";

/** The name of an operation that returns a page of a list. */
export type ListName = keyof Lists;

/** The type of a row of a list. */
export type Row<Name extends ListName> = Lists[Name]["row"];

/** A position in a list, as plain JSON. Store it, and pass it as `resumeFrom` to resume from there. */
export type ListPosition<Name extends ListName> = Lists[Name]["position"];

/** The parameters of a list: the operation's parameters, or a position in an earlier list. */
export type ListParams<Name extends ListName> =
  | Operations[Name]["params"]
  | { resumeFrom: ListPosition<Name> };

/** Options of a list. Timeouts and retries apply to each page separately. */
export type ListOptions = RequestOptions;

/** The progress of {@link List.all}. */
export interface ListProgress<Name extends ListName> {
  /** Number of rows so far, at most `maxRows`. */
  rows: number;
  /** Number of pages received. Each page is one request. */
  pages: number;
  /** Requests left in the hourly budget; `null` if the response has no `RateLimit` header. */
  requestsLeftThisHour: number | null;
  /**
   * Whether the totals changed between two pages. Rows can then be missing or repeated. Counts of a
   * range that includes today change all the time.
   */
  isMixed: boolean;
  /**
   * The position after these rows, to resume from after an error; `null` after the last row.
   *
   * If `maxRows` ends within a page, lists without `offset` resume at the start of that page.
   */
  nextPosition: ListPosition<Name> | null;
}

/** Options of {@link List.all}. */
export interface AllOptions<Name extends ListName> {
  /** Maximum number of rows: an integer from 0. @default Infinity */
  maxRows?: number | undefined;
  /** Called after every page. Waits for a returned promise, and rejects with its error. */
  onProgress?: ((progress: ListProgress<Name>) => void) | undefined;
}

/** Options of {@link List.export}. */
export interface ExportOptions<Name extends ListName> {
  /**
   * The format of the export.
   *
   * - `csv`: RFC 4180 in UTF-8, with a header, and with a byte order mark for spreadsheets. Strings
   *   that a spreadsheet would run as a formula start with an apostrophe.
   * - `ndjson`: one JSON object per line. Numbers and escapes keep the server's spelling.
   */
  format: "csv" | "ndjson";
  /**
   * The `nextPosition` of an earlier export of this list, to resume after it. A resumed CSV has no
   * header and no byte order mark.
   * @default the first row
   */
  resumeFrom?: ListPosition<Name> | undefined;
  /** Aborts the export. The stream fails with the signal's reason. */
  signal?: AbortSignal | undefined;
  /**
   * Maximum total time to wait after 429 responses, in milliseconds: 0 to 86400000 (one day). If the
   * next `Retry-After` exceeds the remaining time, the stream fails with a `RateLimitError`.
   * @default 0
   */
  wait?: number | undefined;
}

/** `Uint8Array<ArrayBuffer>`, which streams of the DOM need. TypeScript before 5.7 cannot name it. */
type Bytes = ReturnType<InstanceType<typeof TextEncoder>["encode"]>;

/** A byte stream of all rows of a list. */
export interface ExportStream<Name extends ListName> extends ReadableStream<Bytes> {
  /**
   * The position after the last chunk read, as plain JSON. Before the first chunk, it is the
   * `resumeFrom` option. After the last chunk, it is `null`.
   *
   * If you omitted `dateTo`, the position contains the value that the export started with.
   */
  readonly nextPosition: ListPosition<Name> | null | undefined;
  /** Whether the totals changed between two pages so far. Rows can then be missing or repeated. */
  readonly isMixed: boolean;
}

/** Properties of a page in addition to the operation's result. */
export interface PagePosition<Name extends ListName> {
  /** The position of the next page; `null` on the last page. */
  readonly nextPosition: ListPosition<Name> | null;
  /**
   * Whether the totals changed between two pages of this iteration. Rows can then be missing or
   * repeated.
   */
  readonly isMixed: boolean;
  /** Fetches the next page. Resolves to `null` on the last page. */
  nextPage(options?: ListOptions): Promise<ListPage<Name> | null>;
}

/** A page of a list. In lists by offset, `offset` is the position of its first row. */
export type ListPage<Name extends ListName> = ListPages[Name];

type PageOf<Name extends ListName> = Operations[Name]["result"] &
  PagePosition<Name> &
  (Lists[Name] extends { offset: number } ? { readonly offset: number } : unknown);

// Interfaces, so that editors show these names.
export interface PageViewsPage extends PageOf<"analytics.views"> {}
export interface DailyViewsPage extends PageOf<"analytics.dailyViews"> {}
export interface ArchivedViewsPage extends PageOf<"analytics.archivedViews"> {}
export interface VisitorsPage extends PageOf<"analytics.visitors"> {}
export interface FeedbackPage extends PageOf<"analytics.feedback"> {}
export interface SearchesPage extends PageOf<"analytics.searches"> {}
export interface ConversationsPage extends PageOf<"analytics.conversations"> {}
export interface JobPage extends PageOf<"agentJobs.list"> {}
export interface DeploymentPage extends PageOf<"deployments.list"> {}

/** The page of each list. */
export interface ListPages {
  "analytics.views": PageViewsPage;
  "analytics.dailyViews": DailyViewsPage;
  "analytics.archivedViews": ArchivedViewsPage;
  "analytics.visitors": VisitorsPage;
  "analytics.feedback": FeedbackPage;
  "analytics.searches": SearchesPage;
  "analytics.conversations": ConversationsPage;
  "agentJobs.list": JobPage;
  "deployments.list": DeploymentPage;
}

/**
 * Everything that a list needs to request its pages.
 *
 * @internal
 */
export interface Source<Name extends ListName> {
  readonly transport: Transport;
  readonly name: Name;
  readonly params: ListParams<Name>;
  /** The caller's options. `nextPage` uses them by default, without the signal of an iteration. */
  readonly options: ListOptions;
  readonly site: Error;
  /** Parses the bodies of pages. @default their JSON */
  readonly readBody?: BodyReader;
}

/**
 * A page with its position.
 *
 * @internal
 */
export interface PageResult<Name extends ListName> {
  /** The position of this page. */
  begin: ListPosition<Name>;
  page: ListPage<Name>;
  rows: Row<Name>[];
  /** The indices of rows that were removed from the response, because an earlier page had them. */
  repeated: number[];
  offset: number | null;
  response: Response;
}
