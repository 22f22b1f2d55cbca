import { signal } from "@preact/signals";
import type { Session } from "../../session/session.ts";
import type { Listing } from "../rows/listing.ts";
import type { WholeExport } from "./whole_export.ts";

/** An export of a whole report. It continues while other routes are open. */
export interface CurrentExport {
  work: WholeExport;
  listing: Listing;
  session: Session;
}

/** The export in progress, if any. */
export const currentExport = signal<CurrentExport | null>(null);
