import type { ComponentChildren } from "preact";

interface OutsideLinkProps {
  url: string | null;
  children: ComponentChildren;
}

/** Links to another site in a new tab. Anything but an HTTP URL stays text. */
export function OutsideLink({ url, children }: OutsideLinkProps) {
  const href = safeLink(url);
  if (href === null) return <bdi>{children}</bdi>;
  return (
    <a href={href} title={href} target="_blank" rel="noopener noreferrer">
      <bdi>{children}</bdi>
    </a>
  );
}

/** Returns a URL that is safe to link to; null without a valid HTTP or HTTPS URL. */
export function safeLink(url: string | null): string | null {
  const parsed = url !== null && URL.canParse(url) ? new URL(url) : null;
  return parsed !== null && /^https?:$/.test(parsed.protocol) ? parsed.href : null;
}
