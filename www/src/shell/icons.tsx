import type { ComponentChildren } from "preact";
import * as styles from "./icons.module.css";

export function Icon({ children, name }: { children: ComponentChildren; name?: string }) {
  return (
    <svg class={`icon ${name ?? ""}`} viewBox="0 0 20 20" aria-hidden="true">
      {children}
    </svg>
  );
}

export function Logo() {
  return (
    <svg class={styles.logo} viewBox="0 0 32 32" aria-hidden="true">
      <path class={styles.gate} d="M4 29V14a12 12 0 0 1 24 0v15h-4V14a8 8 0 0 0-16 0v15z" />
      <path
        class={styles.quill}
        d="M21.5 9.5c-5.5 1-9 4.7-9.3 10.3L11 29h2l.8-5.6c4.8-.7 8-5 7.7-13.9z"
      />
    </svg>
  );
}

/** Returns an icon with the given shapes. */
const icon = (draw: () => ComponentChildren) => () => <Icon>{draw()}</Icon>;

export const Lock = icon(() => (
  <>
    <rect x="4" y="9" width="12" height="8" rx="2" />
    <path d="M7 9V6.500a3 3 0 0 1 6 0V9" />
  </>
));
export const Download = icon(() => <path d="M10 3v9m-4-4 4 4 4-4M4 16h12" />);
export const Sliders = icon(() => (
  <>
    <path d="M3 6h8m4 0h2M3 14h2m4 0h8" />
    <circle cx="13" cy="6" r="2" />
    <circle cx="7" cy="14" r="2" />
  </>
));
export const External = icon(() => <path d="M11 4h5v5m0-5-8 8M8 5H4v11h11v-4" />);
export const Plus = icon(() => <path d="M10 4v12M4 10h12" />);
export const Cross = icon(() => <path d="m5 5 10 10M15 5 5 15" />);
export const Bookmark = icon(() => <path d="M5 3h10v14l-5-4-5 4z" />);
export const Pencil = icon(() => <path d="M4 16l1-4 8-8 3 3-8 8zm7-10 3 3" />);
