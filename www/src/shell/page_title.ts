import { signal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import type { AddressChange } from "./address.ts";

/** The title of an item with its own page, such as a job. */
export interface PageTitle {
  heading: string;
  /** The browser tab's title. */
  tab: string;
  /** The breadcrumb above the heading. */
  parent: { label: string; change: AddressChange };
}

/** Replaces the route's title while set. */
export const pageTitle = signal<PageTitle | null>(null);

/** Sets the page's title while the calling component is mounted. */
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
