/** The arguments of the hooks `onRequest`, `onResponse` and `onRetry`. */

import type { QuillgateError } from "./errors.js";
import type { OperationName } from "./types.js";

/** An attempt of a call, before it is sent. */
export interface RequestEvent {
  /** The operation, such as `agentJobs.get`. `agentJobs.events` is the event stream of a job. */
  operation: OperationName;
  /** The index of the attempt, from 0. Each connection of an event stream is an attempt. */
  attempt: number;
  method: string;
  url: string;
  /** The headers of the request. Values are redacted, except those of harmless headers. */
  headers: Headers;
}

/** The response to an attempt, before its body is read. */
export interface ResponseEvent extends RequestEvent {
  /** The HTTP status. */
  status: number;
  /** The headers of the response. Values are redacted, except those of harmless headers. */
  headers: Headers;
  /** Time from sending the request to receiving the headers, in milliseconds. */
  duration: number;
}

/** A failed attempt that will be retried. */
export interface RetryEvent extends Omit<RequestEvent, "headers"> {
  /** The error of the failed attempt. */
  error: QuillgateError;
  /** Time from sending the request to its failure, in milliseconds. */
  duration: number;
  /** The delay before the next attempt, in milliseconds. */
  wait: number;
}
