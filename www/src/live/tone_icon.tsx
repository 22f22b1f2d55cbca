import type { ComponentChildren } from "preact";
import { Icon } from "../shell/icons.tsx";
import type { Tone } from "./state.ts";

/** A shape for each state, because colour alone is not accessible. */
const SHAPES: Record<Tone, () => ComponentChildren> = {
  working: () => <path d="M10 3a7 7 0 1 1-7 7" />,
  ready: () => (
    <>
      <circle cx="6" cy="5" r="2" />
      <circle cx="6" cy="15" r="2" />
      <circle cx="14" cy="15" r="2" />
      <path d="M6 7v6m8 0V9q0-4-4-4" />
    </>
  ),
  done: () => <path d="m4 10.5 4 4 8-9" />,
  warning: () => <path d="M10 3 2.500 16.500h15zm0 5v4m0 2.500v.1" />,
  failed: () => <path d="m5 5 10 10M15 5 5 15" />,
  archived: () => <path d="M3 4h14v4H3zm1 4v8h12V8m-8 3h4" />,
  unknown: () => (
    <>
      <circle cx="10" cy="10" r="7" />
      <path d="M8 8a2 2 0 1 1 2.5 2q-.5.3-.5 1.500m0 2v.1" />
    </>
  ),
};

export function ToneIcon({ tone }: { tone: Tone }) {
  return tone === "working" ? (
    <Icon name="spinning">{SHAPES[tone]()}</Icon>
  ) : (
    <Icon>{SHAPES[tone]()}</Icon>
  );
}
