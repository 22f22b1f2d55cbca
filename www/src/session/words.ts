import { counted } from "../shell/wording.ts";

/** The strings of the signed-in session: its bar, menu and messages. */
export const SESSION_WORDS = {
  signOut: "Sign out",
  signOutTitle: "Sign out?",
  /** Returns a phrase such as "2 drafts and 1 saved view", or an empty string if both are 0. */
  lossOf: (drafts: number, views: number) =>
    [
      ...(drafts > 0 ? [counted(drafts, "draft")] : []),
      ...(views > 0 ? [counted(views, "saved view")] : []),
    ].join(" and "),
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
  commands: "Command palette",
  shortcuts: "Keyboard shortcuts",
  help: "Mintlify docs",
  anotherToken: "Use another token",
  signInAgain: "Sign in again",
  noCookie:
    "You signed in, but your browser didn’t keep the session. Open this page over https and allow cookies.",
  signedOutElsewhere: "You signed out in another tab.",
  ended: "Your session has expired. Sign in again. Your drafts are saved.",
  endsSoon: (time: string) => `Your session expires in ${time}. Your drafts are saved.`,
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
