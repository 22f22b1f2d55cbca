/** Reports the attempts of a call to the client's log and hooks. */

import type { QuillgateError } from "./errors.js";
import { openLog, redactHeaders } from "./log.js";
import type { Logger, ResolvedOptions } from "./options.js";
import type { OperationName } from "./types.js";

/** Callbacks for the attempts of a call. */
export interface Observer {
  onRequest(method: string, url: string, headers: Record<string, string>): void;
  onResponse(response: Response): void;
  onRetry(error: QuillgateError, wait: number): void;
}

/**
 * Returns an observer that reports the attempts of a call to the client's log and hooks, or
 * `undefined` if the client has neither.
 */
export function observe(client: ResolvedOptions, operation: OperationName): Observer | undefined {
  const { onRequest, onResponse, onRetry } = client;
  const log = openLog(client);
  if (!log && !onRequest && !onResponse && !onRetry) return undefined;
  const current = { operation, attempt: -1, method: "", url: "" };
  let started = 0;
  const duration = () => Date.now() - started;
  const call = <Event>(hook: ((event: Event) => unknown) | undefined, event: () => Event) => {
    if (hook)
      run(
        () => hook(event()),
        (error) => log?.("error", "quillgate: a hook failed", error),
      );
  };
  const write = (level: keyof Logger, text: string) => {
    const { method, url } = current;
    run(() => log?.(level, `quillgate: ${method} ${new URL(url).pathname}: ${text}`));
  };
  return {
    onRequest(method, url, headers) {
      Object.assign(current, { attempt: current.attempt + 1, method, url: new URL(url).href });
      started = Date.now();
      write("debug", "sent");
      call(onRequest, () => ({ ...current, headers: redactHeaders(new Headers(headers)) }));
    },
    onResponse({ status, headers }) {
      const rest = { status, duration: duration() };
      const id = headers.get("x-request-id");
      write("info", `${status} after ${rest.duration} ms${id ? `, request ${id}` : ""}`);
      call(onResponse, () => ({ ...current, ...rest, headers: redactHeaders(headers) }));
    },
    onRetry(error, wait) {
      write("warn", `${error?.name ?? "error"}, again in ${Math.round(wait)} ms`);
      call(onRetry, () => ({ ...current, error, duration: duration(), wait }));
    },
  };
}

/** Runs a hook or a logger. Its errors and rejections must not fail the call. */
function run(work: () => unknown, report: (error: unknown) => void = () => {}): void {
  const fail = (error: unknown) => {
    try {
      report(error);
    } catch {} // A logger that throws cannot report its own error.
  };
  try {
    Promise.resolve(work()).catch(fail);
  } catch (error) {
    fail(error);
  }
}
