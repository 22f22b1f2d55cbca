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
export type {
  Analytics,
  ConversationsList,
  DailyViewsList,
  FeedbackList,
  PageViewsList,
  SearchesList,
  VisitorsList,
} from "./analytics.js";
export type { ApiPromise, WithResponse } from "./api_promise.js";
export { Client } from "./client.js";
export {
  ApiError,
  type ApiErrorData,
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
  RequestTimeoutError,
  ServerError,
  TimeoutError,
  UnprocessableEntityError,
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
export type { BuiltRequest } from "./transport.js";
export type * from "./types.js";
