import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { now } from "../shell/clock.ts";
import { defer } from "../shell/deferred.tsx";
import { showKeys } from "../shell/keys.ts";
import { duration } from "../shell/wording.ts";
import type { Claims } from "./claims.ts";
import { session, signOut, switchProject } from "./session.ts";

const loadPanel = () => import("./session_panel.tsx");
const SessionPanel = defer(async () => (await loadPanel()).SessionPanel);
const SOON_MS = 10 * 60_000;

/** Before it is opened, so that it opens with something in it. */
function fetchPanel(): void {
  loadPanel().catch(() => {});
}

/** Who is signed in, to which project, and for how long. */
export function SessionBar({ claims }: { claims: Claims }) {
  return (
    <div class="session">
      <ProjectSwitcher claims={claims} />
      <SessionMenu claims={claims} />
      <button type="button" class="quiet" onClick={signOut}>
        Sign out
      </button>
    </div>
  );
}

function ProjectSwitcher({ claims: { projects } }: { claims: Claims }) {
  const open = session.value?.projectId;
  if (projects.length <= 1) return <p class="session-project">{open}</p>;
  return (
    <select
      class="session-project"
      aria-label="Project"
      value={open ?? ""}
      onChange={(event) => switchProject(event.currentTarget.value)}
    >
      {open === undefined && (
        <option value="" disabled>
          Choose a project
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
  const open = useSignal(false);
  const menu = useRef<HTMLDivElement>(null);
  const toggle = useRef<HTMLButtonElement>(null);
  const left = claims.expiresAt - now.value;

  // In the step that draws the panel: what comes right after it closes it too.
  useLayoutEffect(() => {
    if (!open.value) return;
    const closeOutside = ({ target }: Event) => {
      if (!(target instanceof Node && menu.current?.contains(target))) open.value = false;
    };
    document.addEventListener("pointerdown", closeOutside);
    document.addEventListener("focusin", closeOutside);
    return () => {
      document.removeEventListener("pointerdown", closeOutside);
      document.removeEventListener("focusin", closeOutside);
    };
  }, [open.value, open]);

  function openKeys() {
    open.value = false;
    toggle.current?.focus();
    showKeys();
  }

  function closeOnEscape(event: KeyboardEvent) {
    if (event.key !== "Escape" || !open.peek()) return;
    open.value = false;
    toggle.current?.focus();
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape is for the button and the panel alike
    <div ref={menu} class="session-menu" onKeyDown={closeOnEscape}>
      <button
        ref={toggle}
        type="button"
        class="quiet session-toggle"
        aria-expanded={open.value}
        aria-controls="session-panel"
        onPointerEnter={fetchPanel}
        onFocus={fetchPanel}
        onClick={() => {
          open.value = !open.value;
        }}
      >
        <span class="visually-hidden">Session of </span>
        <span class="session-subject">{claims.subject ?? "no name"}</span>
        {left < SOON_MS && <span class="session-soon">{duration(left)}</span>}
      </button>
      <div id="session-panel" class="session-panel" hidden={!open.value}>
        {open.value && <SessionPanel claims={claims} onKeys={openKeys} />}
      </div>
    </div>
  );
}
