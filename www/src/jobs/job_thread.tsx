import { readPullRequest } from "quillgate/values";
import { TimeAgo } from "../shell/time_ago.tsx";
import type { JobBook } from "./job_book.ts";
import { isFinished, titleOf } from "./job_state.ts";
import * as styles from "./job_thread.module.css";
import type { JobFacts } from "./open_job.ts";
import { PromptBox } from "./prompt_box.tsx";
import type { ThreadMessage } from "./thread.ts";
import { JOB_WORDS } from "./words.ts";

/** Whether the heading of the page already shows the whole prompt. */
export function isHeading({ text, extent }: ThreadMessage): boolean {
  return extent === "whole" && text.trim() === titleOf(text);
}

export function Prompt({ message }: { message: ThreadMessage }) {
  return (
    <div class={`stack ${styles.said}`}>
      <SaidBy message={message} />
      <SaidText message={message} />
    </div>
  );
}

export function FollowUps({ messages }: { messages: readonly ThreadMessage[] }) {
  return (
    <ol class={`stack ${styles.thread}`} aria-label={JOB_WORDS.followUps}>
      {messages.map((message, index) => (
        <li key={index} class={`stack ${styles.said}`}>
          <SaidBy message={message} />
          <SaidText message={message} />
        </li>
      ))}
    </ol>
  );
}

function SaidBy({ message: { kind, author, sentAt } }: { message: ThreadMessage }) {
  return (
    <p class={`hint ${styles.by}`}>
      {kind === "prompt" ? JOB_WORDS.prompt : JOB_WORDS.followUp}
      {author !== null && JOB_WORDS.by(author)}
      {sentAt !== null && (
        <>
          {" · "}
          <TimeAgo at={sentAt} />
        </>
      )}
    </p>
  );
}

function SaidText({ message: { text, extent } }: { message: ThreadMessage }) {
  if (extent === "nothing") return <p class="hint">{JOB_WORDS.textNotSaved}</p>;
  return (
    <>
      <p class={styles.text}>{text}</p>
      {extent === "start" && <p class="hint">{JOB_WORDS.startOnly}</p>}
    </>
  );
}

interface FollowUpBoxProps {
  facts: JobFacts;
  book: JobBook;
  box: { current: HTMLTextAreaElement | null };
}

export function FollowUpBox({ facts, book, box }: FollowUpBoxProps) {
  const { id, status } = facts;
  if (status === "archived") return <p class="hint">{JOB_WORDS.archivedHint}</p>;
  const request = readPullRequest(facts.prLink);
  return (
    <PromptBox
      id={`follow-up-${id}`}
      label={JOB_WORDS.followUpLabel}
      hint={isFinished(facts) ? JOB_WORDS.followUpFinished : JOB_WORDS.followUpWorking}
      placeholder={JOB_WORDS.followUpExample}
      rows={3}
      draft={book.followUp(id)}
      sendLabel={JOB_WORDS.sendFollowUp}
      emphasis="side"
      box={box}
      doubt={{
        title: JOB_WORDS.followUpDoubt,
        advice: JOB_WORDS.followUpDoubtHint,
        places:
          request === null || request.href === null
            ? []
            : [{ label: JOB_WORDS.pullRequest(request.noun, request.name), href: request.href }],
      }}
      submit={(prompt, how) => book.sendMessage(id, prompt, how)}
    />
  );
}
