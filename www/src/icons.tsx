import type { ComponentChildren } from "preact";
import type { Tone } from "./job_state.ts";

function Icon({ children, name }: { children: ComponentChildren; name?: string }) {
  return (
    <svg class={`icon ${name ?? ""}`} viewBox="0 0 20 20" aria-hidden="true">
      {children}
    </svg>
  );
}

export function Logo() {
  return (
    <svg class="logo" viewBox="0 0 32 32" aria-hidden="true">
      <path class="logo-gate" d="M4 29V14a12 12 0 0 1 24 0v15h-4V14a8 8 0 0 0-16 0v15z" />
      <path
        class="logo-quill"
        d="M21.5 9.5c-5.5 1-9 4.7-9.3 10.3L11 29h2l.8-5.6c4.8-.7 8-5 7.7-13.9z"
      />
    </svg>
  );
}

export function Lock() {
  return (
    <Icon>
      <rect x="4" y="9" width="12" height="8" rx="2" />
      <path d="M7 9V6.500a3 3 0 0 1 6 0V9" />
    </Icon>
  );
}

export function Download() {
  return (
    <Icon>
      <path d="M10 3v9m-4-4 4 4 4-4M4 16h12" />
    </Icon>
  );
}

export function External() {
  return (
    <Icon>
      <path d="M11 4h5v5m0-5-8 8M8 5H4v11h11v-4" />
    </Icon>
  );
}

/** A shape for each state, so that none is told by colour alone. */
export function ToneIcon({ tone }: { tone: Tone }) {
  switch (tone) {
    case "working":
      return (
        <Icon name="spinning">
          <path d="M10 3a7 7 0 1 1-7 7" />
        </Icon>
      );
    case "ready":
      return (
        <Icon>
          <circle cx="6" cy="5" r="2" />
          <circle cx="6" cy="15" r="2" />
          <circle cx="14" cy="15" r="2" />
          <path d="M6 7v6m8 0V9q0-4-4-4" />
        </Icon>
      );
    case "done":
      return (
        <Icon>
          <path d="m4 10.5 4 4 8-9" />
        </Icon>
      );
    case "failed":
      return (
        <Icon>
          <path d="m5 5 10 10M15 5 5 15" />
        </Icon>
      );
    case "archived":
      return (
        <Icon>
          <path d="M3 4h14v4H3zm1 4v8h12V8m-8 3h4" />
        </Icon>
      );
    case "unknown":
      return (
        <Icon>
          <circle cx="10" cy="10" r="7" />
          <path d="M8 8a2 2 0 1 1 2.5 2q-.5.3-.5 1.500m0 2v.1" />
        </Icon>
      );
  }
}
