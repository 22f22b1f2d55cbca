import type { Command } from "../shell/commands.ts";
import { THEMES } from "../shell/preferences.ts";
import { chooseTheme, theme } from "../shell/theme.ts";
import { toast } from "../shell/toast.ts";
import type { Claims } from "./claims.ts";
import { session, switchProject } from "./session.ts";
import { SESSION_WORDS } from "./words.ts";

/** Returns one command for each other project. The command opens the project. */
export function projectCommands({ projects }: Claims): Command[] {
  return projects
    .filter((id) => id !== session.value?.projectId)
    .map((id) => ({ label: SESSION_WORDS.openProject(id), run: () => switchProject(id) }));
}

/** Returns the commands that every route has. */
export function generalCommands(): Command[] {
  const themes = THEMES.filter((choice) => choice !== theme.value).map((choice) => ({
    label: SESSION_WORDS.useTheme(SESSION_WORDS.themes[choice]),
    needsQuery: true,
    run: () => chooseTheme(choice),
  }));
  return [{ label: SESSION_WORDS.copyLink, run: copyLink }, ...themes];
}

async function copyLink(): Promise<void> {
  try {
    await navigator.clipboard.writeText(location.href);
    toast({ text: SESSION_WORDS.linkCopied });
  } catch {
    toast({ text: SESSION_WORDS.linkNotCopied });
  }
}
