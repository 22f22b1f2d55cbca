import { signal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import type { AddressChange } from "./address.ts";

/** The title of something that a route shows on its own, such as one job. */
export interface PageTitle {
  heading: string;
  /** The browser tab's title. */
  tab: string;
  /** Where the breadcrumb above the heading leads. */
  parent: { label: string; change: AddressChange };
}

/** Replaces the route's own title while it is set. */
export const pageTitle = signal<PageTitle | null>(null);

/** Sets the page's title while the calling component is shown. */
export function usePageTitle({ heading, tab, parent }: PageTitle): void {
  useLayoutEffect(() => {
    pageTitle.value = { heading, tab, parent };
  }, [heading, tab]);
  useLayoutEffect(
    () => () => {
      pageTitle.value = null;
    },
    [],
  );
}
