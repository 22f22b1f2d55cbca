import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import * as listStyles from "../live/listed.module.css";
import { Listed } from "../live/listed.tsx";
import { Liveness } from "../live/liveness.tsx";
import { useFocusOnMove } from "../live/wanted_focus.ts";
import { allows } from "../session/claims.ts";
import { ScopeHint } from "../session/scope_notice.tsx";
import type { Session } from "../session/session.ts";
import { defer, deferDialog } from "../shell/deferred.tsx";
import { address } from "../shell/navigation.ts";
import { DeploymentRows } from "./deployment_rows.tsx";
import * as styles from "./deployments.module.css";
import { deploymentsOf } from "./session_deployments.ts";
import { DEPLOYMENT_WORDS, START_WORDS } from "./words.ts";

const DeploymentPage = defer(async () => (await import("./deployment_page.tsx")).DeploymentPage);
const loadDialogs = () => import("./start_dialogs.tsx");
const DeployDialog = deferDialog(async () => (await loadDialogs()).DeployDialog);
const PreviewDialog = deferDialog(async () => (await loadDialogs()).PreviewDialog);

const TITLE = "deployments-of-the-project";

/** The deployments route: the list or one deployment. */
export function Deployments({ session }: { session: Session }) {
  const { id } = address.value.deployments;
  useFocusOnMove(id);
  return (
    <div class={`stack ${styles.route}`}>
      {id === null ? (
        <DeploymentList session={session} />
      ) : (
        <DeploymentPage key={id} id={id} session={session} />
      )}
    </div>
  );
}

/** Lists the deployments and previews that were started through the gateway. */
function DeploymentList({ session }: { session: Session }) {
  const book = deploymentsOf(session);
  const { list } = book;
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    book.inSight.value = true;
    list.refresh();
    return () => {
      book.inSight.value = false;
    };
  }, [book]);
  return (
    <section class={`stack ${listStyles.list}`} aria-labelledby={TITLE}>
      <h2 ref={heading} id={TITLE} class="visually-hidden" tabIndex={-1}>
        {DEPLOYMENT_WORDS.heading}
      </h2>
      <div class="toolbar">
        <p class={`hint ${styles.hint}`}>{DEPLOYMENT_WORDS.listHint}</p>
        <StartButtons session={session} />
      </div>
      <Listed
        list={list}
        noun="deployment"
        keys={{
          group: DEPLOYMENT_WORDS.title,
          next: DEPLOYMENT_WORDS.next,
          previous: DEPLOYMENT_WORDS.previous,
        }}
        heading={heading}
        renderRows={(deployments, focused) => (
          <DeploymentRows deployments={deployments} isBusy={list.busy.value} focused={focused} />
        )}
        empty={
          <div class="empty">
            <p class="empty-title">{DEPLOYMENT_WORDS.empty}</p>
            <p>{DEPLOYMENT_WORDS.emptyHint(session.projectId)}</p>
          </div>
        }
      />
      {list.listing.value !== null && (
        <Liveness list={list} state={book.feedState.value} refreshed={DEPLOYMENT_WORDS.refreshed} />
      )}
    </section>
  );
}

function StartButtons({ session }: { session: Session }) {
  const open = useSignal<"site" | "preview" | null>(null);
  const close = () => {
    open.value = null;
  };
  if (!allows(session.claims, "deployments:create")) {
    return <ScopeHint scope="deployments:create" lost={START_WORDS.mayNotStart} />;
  }
  return (
    <div class="actions">
      <button
        type="button"
        onClick={() => {
          open.value = "preview";
        }}
      >
        {START_WORDS.preview}
      </button>
      <button
        type="button"
        class="primary"
        onClick={() => {
          open.value = "site";
        }}
      >
        {START_WORDS.deploy}
      </button>
      {open.value === "site" && <DeployDialog session={session} onClose={close} />}
      {open.value === "preview" && <PreviewDialog session={session} onClose={close} />}
    </div>
  );
}
