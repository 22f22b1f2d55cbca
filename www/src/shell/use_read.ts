import { batch, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { currentTime } from "./clock_skew.ts";
import { describeProblem, type Problem } from "./problem.ts";

export interface Read<Value> {
  /** The latest value; null until the first response. */
  value: Value | null;
  /** The failure of the latest request; null while it runs. */
  problem: Problem | null;
  isReading: boolean;
  /** Reads the value again. */
  retry(): void;
}

/**
 * Reads a value when the component is mounted and whenever an input changes. Ignores the response
 * after the component is gone or the session has ended.
 *
 * @param read null as long as the value is not wanted
 */
export function useRead<Value>(
  ended: AbortSignal,
  read: ((signal: AbortSignal) => Promise<Value>) | null,
  inputs: readonly unknown[],
): Read<Value> {
  const value = useSignal<Value | null>(null);
  const problem = useSignal<Problem | null>(null);
  const attempt = useSignal(0);
  const isReading = useSignal(read !== null);
  useEffect(() => {
    isReading.value = read !== null;
    if (read === null) return;
    const leave = new AbortController();
    const signal = AbortSignal.any([leave.signal, ended]);
    problem.value = null;
    const settle = (change: () => void) => {
      if (signal.aborted) return;
      batch(() => {
        change();
        isReading.value = false;
      });
    };
    read(signal).then(
      (answer) =>
        settle(() => {
          value.value = answer;
        }),
      (error) =>
        settle(() => {
          problem.value = describeProblem(error, currentTime());
        }),
    );
    return () => leave.abort();
  }, [ended, read === null, attempt.value, ...inputs]);
  const retry = () => {
    batch(() => {
      isReading.value = read !== null;
      problem.value = null;
      attempt.value += 1;
    });
  };
  return { value: value.value, problem: problem.value, isReading: isReading.value, retry };
}
