import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Conversation, ConversationThread } from "quillgate";
import type { Session } from "../../session/session.ts";
import { Dialog } from "../../shell/dialog.tsx";
import { ProblemPanel } from "../../shell/problem_panel.tsx";
import { noteLimit } from "../../shell/rate_limit.ts";
import { type Read, useRead } from "../../shell/use_read.ts";
import { viewsOf } from "../cache/session_views.ts";
import { formatCell } from "../table/report_cell.tsx";
import * as styles from "./conversation_dialog.module.css";
import * as markdown from "./markdown.module.css";
import { renderMarkdown } from "./markdown.tsx";
import { OutsideLink } from "./outside_link.tsx";

interface ConversationDialogProps {
  session: Session;
  turn: Conversation;
  /** Null if the session may not start jobs, or if the question is empty. */
  onStartJob: (() => void) | null;
  onClose(): void;
}

/** Shows a question with its answer and sources, and the rest of the conversation on request. */
export function ConversationDialog(props: ConversationDialogProps) {
  const { session, turn, onStartJob, onClose } = props;
  const isWhole = useSignal(false);
  const read = (signal: AbortSignal) => readThread(session, turn.id ?? "", signal);
  const thread = useRead(session.end.signal, isWhole.value ? read : null, []);
  return (
    <Dialog open title="Conversation" onClose={onClose}>
      {thread.value === null ? (
        <>
          <Message author="reader" who="Reader" text={turn.query} at={turn.timestamp} />
          <Message author="assistant" who={answerLabel(turn)} text={turn.response} at={null} />
        </>
      ) : (
        <Transcript thread={thread.value} />
      )}
      {turn.id !== null && thread.value === null && (
        <LoadThread
          thread={thread}
          onLoad={() => {
            isWhole.value = true;
          }}
        />
      )}
      <Sources turn={turn} />
      <Facts turn={turn} />
      <div class="actions">
        {onStartJob && (
          <button type="button" class="primary" onClick={onStartJob}>
            Start a job
          </button>
        )}
      </div>
    </Dialog>
  );
}

function answerLabel({ responseType }: Conversation): string {
  return responseType === "clarifying_question" ? "Assistant (clarifying question)" : "Assistant";
}

interface MessageProps {
  author: "reader" | "assistant";
  who: string;
  text: string | null;
  at: string | null;
}

/** Only answers are Markdown. Questions are shown as readers typed them. */
function Message({ author, who, text, at }: MessageProps) {
  const shown = text?.trim() || "–";
  return (
    <section class={styles.message}>
      <h3>
        {who}
        {at !== null && <span class="hint">{formatCell(at, "time")}</span>}
      </h3>
      <div class={styles.body} dir="auto">
        {author === "assistant" ? renderMarkdown(shown) : <p class={markdown.plain}>{shown}</p>}
      </div>
    </section>
  );
}

function Transcript({ thread }: { thread: ConversationThread }) {
  const region = useRef<HTMLDivElement>(null);
  // Take over the focus, because the focused button was removed.
  useEffect(() => region.current?.focus(), []);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for inputs
    <div
      ref={region}
      class={styles.transcript}
      role="group"
      aria-label="Whole conversation"
      tabIndex={-1}
    >
      {thread.messages.map(({ role, content, createdAt }, index) => (
        <Message
          // Messages can share an id, and the list does not change.
          key={index}
          author={role === "user" ? "reader" : "assistant"}
          who={role === "user" ? "Reader" : "Assistant"}
          text={content}
          at={createdAt}
        />
      ))}
    </div>
  );
}

function Sources({ turn }: { turn: Conversation }) {
  const sources = turn.sources ?? [];
  if (sources.length === 0) return null;
  return (
    <section>
      <h3 id="sources">Sources</h3>
      <ul class={styles.sources} aria-labelledby="sources">
        {sources.map(({ title, url }, index) => (
          <li key={index}>
            <OutsideLink url={url}>{title?.trim() || url || "–"}</OutsideLink>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Facts({ turn }: { turn: Conversation }) {
  return (
    <dl class={`facts ${styles.about}`}>
      <div>
        <dt>Answer</dt>
        <dd>{formatCell(turn.resolutionStatus, "word")}</dd>
      </div>
      <div>
        <dt>Category</dt>
        <dd>{formatCell(turn.queryCategory, "text")}</dd>
      </div>
      <div>
        <dt>Asked from</dt>
        <dd>
          {turn.pageUrl === null ? (
            "–"
          ) : (
            <OutsideLink url={turn.pageUrl}>{turn.pageUrl}</OutsideLink>
          )}
        </dd>
      </div>
    </dl>
  );
}

interface LoadThreadProps {
  thread: Read<ConversationThread>;
  onLoad(): void;
}

/**
 * Loads the other messages on request only, because each load uses a request of the organization's
 * hourly budget.
 */
function LoadThread({ thread: { problem, isReading, retry }, onLoad }: LoadThreadProps) {
  if (problem) return <ProblemPanel problem={problem} onRetry={retry} />;
  return (
    <p class={styles.load}>
      <button type="button" class="quiet" aria-disabled={isReading} onClick={onLoad}>
        {isReading ? "Loading the conversation…" : "Show the whole conversation"}
      </button>
      <span class="hint">Uses 1 analytics request.</span>
    </p>
  );
}

function readThread(session: Session, id: string, signal: AbortSignal) {
  const { limit } = viewsOf(session);
  const client = session.client.withOptions({
    onResponse: ({ headers }) => noteLimit(limit, headers),
  });
  return client.analytics.conversation(id, { signal });
}
