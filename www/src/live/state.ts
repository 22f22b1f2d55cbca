export type Tone = "working" | "ready" | "done" | "warning" | "failed" | "archived" | "unknown";

/** The state of a job or a deployment in words. */
export interface State {
  tone: Tone;
  word: string;
}
