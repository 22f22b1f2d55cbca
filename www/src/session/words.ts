import { counted, listed } from "../shell/wording.ts";
import type { Loss } from "./person_data.ts";

/** Says whether drafts outlast the session. Some may only be in this tab. */
function aboutDrafts(refused: number): string {
  if (refused === 0) return "Your drafts are saved.";
  return `Your browser couldn’t save ${counted(refused, "draft")}. Keep this tab open.`;
}

/** The strings of the signed-in session: its bar, menu and messages. */
export const SESSION_WORDS = {
  signOut: "Sign out",
  signOutTitle: "Sign out?",
  /** Returns a phrase such as "2 drafts and 1 saved view", or an empty string without a loss. */
  lossOf: ({ drafts, views, templates }: Loss) =>
    listed([
      ...(drafts > 0 ? [counted(drafts, "draft")] : []),
      ...(views > 0 ? [counted(views, "saved view")] : []),
      ...(templates > 0 ? [counted(templates, "template")] : []),
    ]),
  signOutLoss: (loss: string) => `Signing out deletes ${loss} in this browser.`,
  signOutAndDelete: (loss: string) => `Sign out and delete ${loss}`,
  cancel: "Cancel",
  project: "Project",
  chooseProject: "Choose a project",
  account: "Account",
  signedInAs: "Signed in as",
  unnamed: "Unnamed user",
  permissions: "Permissions",
  none: "None",
  expires: "Expires",
  theme: "Theme",
  themes: { system: "System", light: "Light", dark: "Dark" },
  useTheme: (theme: string) => `Use the ${theme.toLowerCase()} theme`,
  projects: "Projects",
  copyLink: "Copy link to this page",
  linkCopied: "Link copied",
  linkNotCopied: "Couldn’t copy the link",
  shortcuts: "Keyboard shortcuts",
  help: "Mintlify docs",
  anotherToken: "Use another token",
  signInAgain: "Sign in again",
  noCookie:
    "You signed in, but your browser didn’t keep the session. Open this page over https and allow cookies.",
  signedOutElsewhere: "You signed out in another tab.",
  /** @param refused the number of drafts that are not stored */
  ended: (refused: number) => `Your session has expired. Sign in again. ${aboutDrafts(refused)}`,
  endsSoon: (time: string, refused: number) =>
    `Your session expires in ${time}. ${aboutDrafts(refused)}`,
  stillSignedIn: "You’re still signed in until you sign in with another token.",
  signOutFailed:
    "We couldn’t reach the gateway to sign you out, so this browser may still be signed in.",
  signOutAgain: "Sign out again",
  missingFor: (lost: string) => `to ${lost}.`,
  noProjects: "Your session has no projects.",
  wrongProject: (project: string) => `You don’t have access to the project “${project}”.`,
  openProject: (project: string) => `Open ${project}`,
  routeNeeds: (route: string) => `to see ${route}.`,
  goTo: (route: string) => `Go to ${route}`,
} as const;
