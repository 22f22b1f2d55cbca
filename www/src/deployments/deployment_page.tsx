import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Deployment } from "quillgate";
import { parseInstant } from "quillgate/values";
import * as detailStyles from "../live/item_details.module.css";
import { Freshness, type ItemFact, ItemFacts, showInstant } from "../live/item_details.tsx";
import * as styles from "../live/item_page.module.css";
import { MissingItem } from "../live/missing_item.tsx";
import { StateLine } from "../live/state_line.tsx";
import { describeSpan, type SpanTime } from "../live/time.ts";
import { useItemTitle } from "../live/wanted_focus.ts";
import { allows } from "../session/claims.ts";
import type { Session } from "../session/session.ts";
import { now } from "../shell/clock.ts";
import { deferDialog } from "../shell/deferred.tsx";
import { HEADING_ID } from "../shell/heading.tsx";
import { OutsideLink, safeHref } from "../shell/outside_link.tsx";
import { ProblemPanel } from "../shell/problem_panel.tsx";
import { CommitDetails } from "./commit_details.tsx";
import type { DeploymentBook } from "./deployment_book.ts";
import { DeploymentLog } from "./deployment_log.tsx";
import { deploymentState, hasEnded, isRunning } from "./deployment_state.ts";
import type { DeploymentFacts, OpenDeployment } from "./open_deployment.ts";
import { PreviewLink } from "./preview_link.tsx";
import { deploymentsOf } from "./session_deployments.ts";
import { STATE_WORDS } from "./state_words.ts";
import { DEPLOYMENT_WORDS } from "./words.ts";

const DeleteDialog = deferDialog(async () => (await import("./delete_dialog.tsx")).DeleteDialog);

/** Shows one deployment: its state, its log, its commit and its details. */
export function DeploymentPage({ id, session }: { id: string; session: Session }) {
  const book = deploymentsOf(session);
  useEffect(() => {
    book.open(id);
    return () => book.close();
  }, [book, id]);
  const current = book.opened.value;
  const opened = current?.id === id ? current : null;
  const facts = opened?.facts.value ?? null;
  const problem = opened?.problem.value ?? null;
  const state = deploymentState(facts);
  const branch = facts?.branch ?? null;
  useItemTitle(id, {
    heading: branch === null ? DEPLOYMENT_WORDS.siteDeployment : STATE_WORDS.previewOf(branch),
    state: facts === null ? null : state.word,
    parent: { label: DEPLOYMENT_WORDS.all, change: { deployments: { id: null } } },
  });
  const isMissing = facts === null && opened?.isMissing.value === true;
  return (
    <article
      class={`stack ${styles.item}`}
      aria-labelledby={HEADING_ID}
      aria-busy={opened?.deployment.value === null && problem === null && !isMissing}
    >
      {facts !== null && opened !== null && (
        <div class="toolbar">
          <StateLine state={state} time={timeOf(facts, opened.deployment.value, now.value)} />
        </div>
      )}
      {isMissing && (
        <MissingItem
          title={DEPLOYMENT_WORDS.notFound(session.projectId)}
          hint={DEPLOYMENT_WORDS.notFoundHint}
          id={id}
        />
      )}
      {problem !== null && opened !== null && !isMissing && (
        <ProblemPanel
          problem={problem}
          retryLabel={DEPLOYMENT_WORDS.checkAgain}
          onRetry={() => book.checkAgain(opened)}
        />
      )}
      {facts === null && problem === null && !isMissing && (
        <p class="hint">{DEPLOYMENT_WORDS.loading}</p>
      )}
      {facts !== null && opened !== null && (
        <Known session={session} book={book} opened={opened} facts={facts} />
      )}
    </article>
  );
}

/** Both times of a finished run are Mintlify's, because the gateway's clock can differ. */
function timeOf(
  facts: DeploymentFacts,
  deployment: Deployment | null,
  now: number,
): SpanTime | null {
  const createdAt = parseInstant(facts.createdAt);
  if (!hasEnded(facts)) {
    const state = isRunning(facts) ? "running" : "other";
    return describeSpan({ state, createdAt }, { startedAt: createdAt, finishedAt: null }, now);
  }
  const startedAt = parseInstant(deployment?.createdAt);
  const finishedAt = startedAt === null ? null : parseInstant(deployment?.endedAt);
  return describeSpan({ state: "finished", createdAt }, { startedAt, finishedAt }, now);
}

interface KnownProps {
  session: Session;
  book: DeploymentBook;
  opened: OpenDeployment;
  facts: DeploymentFacts;
}

function Known({ session, book, opened, facts }: KnownProps) {
  const deployment = opened.deployment.value;
  return (
    <>
      {opened.isDeleted.value && (
        <p class="notice" role="status">
          {DEPLOYMENT_WORDS.recordDeleted}
        </p>
      )}
      <Result facts={facts} />
      <PreviewLink preview={facts} isMain />
      <div class={styles.columns}>
        <div class={`stack ${styles.said}`}>
          <DeploymentLog lines={deployment === null ? null : (deployment.logs ?? [])} />
          {deployment?.commit && <CommitDetails commit={deployment.commit} />}
        </div>
        <aside class={`stack ${detailStyles.aside}`} aria-label={DEPLOYMENT_WORDS.about}>
          <Facts session={session} opened={opened} facts={facts} />
          <Freshness
            newsAt={opened.newsAt.value}
            isWatched={!hasEnded(facts) && opened.problem.value === null && !opened.isDeleted.value}
            isLoading={opened.loading.value}
            onCheck={() => book.checkAgain(opened)}
          />
        </aside>
      </div>
    </>
  );
}

/** Explains how the deployment ended. */
function Result({ facts: { status, isLive, summary, branch } }: { facts: DeploymentFacts }) {
  if (status !== "failure") return summary === null ? null : <p>{summary}</p>;
  if (isLive === true) {
    return (
      <div class="notice">
        <p class={styles.noticeTitle}>{DEPLOYMENT_WORDS.warning}</p>
        <p>{summary ?? DEPLOYMENT_WORDS.noReason}</p>
        <p>{DEPLOYMENT_WORDS.warningHint}</p>
      </div>
    );
  }
  const isSite = branch === null;
  return (
    <div class="problem">
      <p class="problem-title">
        {isSite ? DEPLOYMENT_WORDS.failed : DEPLOYMENT_WORDS.previewFailed}
      </p>
      <p>{summary ?? DEPLOYMENT_WORDS.noReason}</p>
      <p>{isSite ? DEPLOYMENT_WORDS.failedHint : DEPLOYMENT_WORDS.previewFailedHint}</p>
    </div>
  );
}

function Facts({ session, opened, facts }: Omit<KnownProps, "book">) {
  const deployment = opened.deployment.value;
  const words = DEPLOYMENT_WORDS.facts;
  const rows: ItemFact[] = [
    [words.status, facts.status],
    [words.branch, facts.branch],
    [words.startedBy, facts.createdBy],
    [words.author, deployment?.author?.name ?? null],
    [words.source, deployment?.source ?? null],
    [words.subdomain, deployment?.subdomain ?? null],
    [words.created, showInstant(facts.createdAt)],
    [words.ended, showInstant(deployment?.endedAt ?? null)],
    [words.id, facts.id],
  ];
  const screenshot = safeHref(deployment?.screenshot ?? null);
  const isDeleting = useSignal(false);
  const mayDelete = allows(session.claims, "gateway:operate") && !opened.isDeleted.value;
  return (
    <>
      <ItemFacts
        title={DEPLOYMENT_WORDS.details}
        rows={rows}
        id={facts.id}
        change={{ deployments: { id: facts.id } }}
        copyLink={DEPLOYMENT_WORDS.copyPageLink}
      >
        {mayDelete && (
          <button
            type="button"
            class="quiet"
            onClick={() => {
              isDeleting.value = true;
            }}
          >
            {DEPLOYMENT_WORDS.deleteRecord}
          </button>
        )}
      </ItemFacts>
      {/* Only a link, because the picture comes from another site. */}
      {screenshot !== null && (
        <p class="hint">
          <OutsideLink href={screenshot}>{DEPLOYMENT_WORDS.screenshot}</OutsideLink>
        </p>
      )}
      {isDeleting.value && (
        <DeleteDialog
          session={session}
          id={facts.id}
          onClose={() => {
            isDeleting.value = false;
          }}
        />
      )}
    </>
  );
}
