import { MAX_NAME, MAX_VIEWS } from "./saved_view.ts";
import type { ViewProblem } from "./view_shelf.ts";

/** The strings of saved views. */
export const VIEW_WORDS = {
  views: "Saved views",
  empty: "Save this report with its period, filters and order, and open it again later.",
  stay: "Saved in this browser until you sign out.",
  name: "Save this report as",
  save: "Save view",
  replace: "Replace",
  rename: (name: string) => `Rename ${name}`,
  newName: "New name",
  renameShort: "Rename",
  cancel: "Cancel",
  delete: (name: string) => `Delete ${name}`,
  opened: (name: string) => `View opened: ${name}`,
  saved: (name: string) => `View saved: ${name}`,
  deleted: (name: string) => `View deleted: ${name}`,
  undo: "Undo",
  untilReload: "Your browser couldn’t store this change. It lasts until you reload the page.",
} as const;

export const VIEW_PROBLEMS: Readonly<Record<ViewProblem, string>> = {
  "no name": "Enter a name.",
  "name too long": `Use at most ${MAX_NAME} characters.`,
  exists: "A view with this name exists.",
  "too many": `You have ${MAX_VIEWS} saved views in this project. Delete one first.`,
  "too long": "The filter is too long to save. Shorten it first.",
};
