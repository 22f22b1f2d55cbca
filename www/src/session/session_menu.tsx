import { useSignal } from "@preact/signals";
import { now } from "../shell/clock.ts";
import { defer } from "../shell/deferred.tsx";
import { showKeys } from "../shell/keys.ts";
import { Menu } from "../shell/menu.tsx";
import { duration } from "../shell/wording.ts";
import type { Claims } from "./claims.ts";
import { personLoss, session, signOut, switchProject } from "./session.ts";
import * as styles from "./session_menu.module.css";
import { SignOutDialog } from "./sign_out_dialog.tsx";
import { SESSION_WORDS } from "./words.ts";

const loadPanel = () => import("./session_panel.tsx");
const SessionPanel = defer(async () => (await loadPanel()).SessionPanel);
const SOON_MS = 10 * 60_000;

/** Preloads the panel, so that it opens with its content. */
function fetchPanel(): void {
  loadPanel().catch(() => {});
}

/** Shows the project, the account menu and the sign-out button. */
export function SessionBar({ claims }: { claims: Claims }) {
  return (
    <div class={styles.bar}>
      <ProjectSwitcher claims={claims} />
      <SessionMenu claims={claims} />
      <SignOutButton />
    </div>
  );
}

/** Asks for confirmation if signing out would delete drafts, saved views or templates. */
function SignOutButton() {
  const loss = useSignal("");

  function start() {
    loss.value = SESSION_WORDS.lossOf(personLoss());
    if (loss.peek() === "") signOut();
  }

  return (
    <>
      <button type="button" class="quiet" onClick={start}>
        {SESSION_WORDS.signOut}
      </button>
      {loss.value !== "" && (
        <SignOutDialog
          loss={loss.value}
          onClose={() => {
            loss.value = "";
          }}
        />
      )}
    </>
  );
}

function ProjectSwitcher({ claims: { projects } }: { claims: Claims }) {
  const open = session.value?.projectId;
  if (projects.length <= 1) return <p class={styles.project}>{open}</p>;
  return (
    <select
      class={styles.project}
      aria-label={SESSION_WORDS.project}
      value={open ?? ""}
      onChange={(event) => switchProject(event.currentTarget.value)}
    >
      {open === undefined && (
        <option value="" disabled>
          {SESSION_WORDS.chooseProject}
        </option>
      )}
      {projects.map((id) => (
        <option key={id} value={id}>
          {id}
        </option>
      ))}
    </select>
  );
}

function SessionMenu({ claims }: { claims: Claims }) {
  const left = claims.expiresAt - now.value;
  return (
    <Menu
      buttonClass={`quiet ${styles.toggle}`}
      panelClass={styles.panel}
      name={SESSION_WORDS.account}
      align="end"
      onIntent={fetchPanel}
      value={
        <>
          <span class={styles.subject}>{claims.subject ?? SESSION_WORDS.unnamed}</span>
          {left < SOON_MS && <span class={styles.soon}>{duration(left)}</span>}
        </>
      }
    >
      {(close) => (
        <SessionPanel
          claims={claims}
          onKeys={() => {
            close();
            showKeys();
          }}
        />
      )}
    </Menu>
  );
}
