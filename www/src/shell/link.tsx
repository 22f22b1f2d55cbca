import type { ComponentChildren } from "preact";
import type { AddressChange } from "./address.ts";
import { followLink, linkTo } from "./navigation.ts";

interface LinkProps {
  to: AddressChange;
  class?: string | undefined;
  "aria-describedby"?: string;
  children: ComponentChildren;
}

/** A link to another address of this page. */
export function Link({ to, children, ...attributes }: LinkProps) {
  return (
    <a {...attributes} href={linkTo(to)} onClick={(event) => followLink(event, to)}>
      {children}
    </a>
  );
}
