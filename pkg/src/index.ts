/**
 * A typed client for Mintlify's admin API: agent jobs and analytics.
 *
 * @module
 */

export type {
  AgentJobs,
  JobChange,
  JobId,
  JobList,
  JobListChange,
  WaitOptions,
  WatchAllOptions,
  WatchOptions,
} from "./agent_jobs.js";
export type { Analytics, DailyViewList, PageViewList } from "./analytics.js";
export type { ApiPromise, WithResponse } from "./api_promise.js";
export { Client } from "./client.js";
export {
  ApiError,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  ConnectionError,
  DecodeError,
  isQuillgateError,
  JobWaitTimeoutError,
  NotFoundError,
  OutcomeUnknownError,
  PermissionError,
  type Problem,
  QuillgateError,
  RateLimitError,
  ServerError,
  TimeoutError,
  ValidationError,
  WasmLoadError,
} from "./errors.js";
export type {
  AllOptions,
  ExportOptions,
  ExportStream,
  List,
  ListCursor,
  ListName,
  ListOptions,
  ListPage,
  ListParams,
  ListProgress,
  Row,
} from "./list.js";
export type {
  ClientOptions,
  HeadersLike,
  Logger,
  LogLevel,
  RequestOptions,
  RetryEvent,
  WriteOptions,
} from "./options.js";
export type { Page, PageCursor, PageViewsResource } from "./page_views.js";
export type { BuiltRequest } from "./transport.js";
export type * from "./types.js";
