import type { ComponentChildren } from "preact";
import { External } from "./icons.tsx";

interface OutsideLinkProps {
  href: string;
  class?: string | undefined;
  children: ComponentChildren;
}

/** A link to another site, in a new tab. */
export function OutsideLink({ href, class: className, children }: OutsideLinkProps) {
  return (
    <a class={className} href={href} target="_blank" rel="noopener">
      <span>{children}</span> <External />
    </a>
  );
}

/**
 * Returns a URL from a response if it is safe to open: it uses `https:` and has no user name and no
 * password.
 */
export function safeHref(text: string | null): string | null {
  const url = text !== null && URL.canParse(text) ? new URL(text) : null;
  const isSafe = url?.protocol === "https:" && url.username === "" && url.password === "";
  return isSafe ? url.href : null;
}
