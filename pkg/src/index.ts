/**
 * A typed client for the documentation platform's admin API: agent jobs and page views.
 *
 * @module
 */

export type { AgentJobs, JobChange, JobId, WaitOptions, WatchOptions } from "./agent_jobs.js";
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
} from "./errors.js";
export type { JobList } from "./job_list.js";
export type {
  ClientOptions,
  HeadersLike,
  Logger,
  LogLevel,
  RequestOptions,
  RetryEvent,
  WriteOptions,
} from "./options.js";
export type {
  AllOptions,
  ListOptions,
  ListParams,
  ListProgress,
  Page,
  PageCursor,
  PageViewList,
  PageViewsResource,
} from "./page_views.js";
export type { BuiltRequest } from "./transport.js";
export type {
  AgentJob,
  JobPage,
  JobStatus,
  ListedJob,
  Operations,
  PageView,
  PageViews,
  Rule,
  Source,
  ViewTotals,
} from "./types.js";
