/**
 * A typed client for Mintlify's admin API: agent jobs, analytics, deployments and automations.
 *
 * @module
 */

export type { AgentJobs, JobList } from "./agent_jobs.js";
export type {
  Analytics,
  ArchivedViewsList,
  ConversationsList,
  DailyViewsList,
  FeedbackList,
  PageViewsList,
  SearchesList,
  VisitorsList,
} from "./analytics.js";
export type { ApiPromise, WithResponse } from "./api_promise.js";
export type { Automations } from "./automations.js";
export { Client } from "./client.js";
export type { DeploymentChange, DeploymentId, DeploymentListChange } from "./deployment_types.js";
export type { DeploymentList, Deployments } from "./deployments.js";
export {
  ApiError,
  type ApiErrorData,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  ConnectionError,
  DecodeError,
  DeploymentWaitTimeoutError,
  isQuillgateError,
  JobWaitTimeoutError,
  NotFoundError,
  OutcomeUnknownError,
  PermissionError,
  type Problem,
  QuillgateError,
  RateLimitError,
  RequestError,
  RequestTimeoutError,
  ServerError,
  TimeoutError,
  UnprocessableEntityError,
  ValidationError,
  WasmLoadError,
} from "./errors.js";
export type { RequestEvent, ResponseEvent, RetryEvent } from "./hooks.js";
export type {
  JobChange,
  JobId,
  JobListChange,
  WaitOptions,
  WatchAllOptions,
  WatchOptions,
} from "./job_types.js";
export type { List } from "./list.js";
export type {
  AllOptions,
  ArchivedViewsPage,
  ConversationsPage,
  DailyViewsPage,
  DeploymentPage,
  ExportOptions,
  ExportStream,
  FeedbackPage,
  JobPage,
  ListName,
  ListOptions,
  ListPage,
  ListParams,
  ListPosition,
  ListProgress,
  PageViewsPage,
  Row,
  SearchesPage,
  VisitorsPage,
} from "./list_types.js";
export type { ConnectionFailureReason } from "./opaque_failure.js";
export type {
  AdminKeyAuth,
  Auth,
  ClientOptions,
  CreateOptions,
  FetchInit,
  FetchResponse,
  HeadersLike,
  Logger,
  LogLevel,
  QueryValue,
  RawMethod,
  RawOptions,
  RequestOptions,
  SessionAuth,
  TokenAuth,
  WriteOptions,
} from "./options.js";
export type { Previews } from "./previews.js";
export type { BuiltRequest } from "./transport.js";
export type * from "./types.js";
