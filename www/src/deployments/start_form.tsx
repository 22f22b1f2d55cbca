import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { DoubtPanel } from "../sending/doubt_panel.tsx";
import type { Draft, SendOptions } from "../sending/draft.ts";
import { SEND_WORDS } from "../sending/words.ts";
import { announce } from "../shell/announcer.tsx";
import { keepFocus } from "../shell/follow_focus.ts";
import { ProblemPanel } from "../shell/problem_panel.tsx";
import { toast } from "../shell/toast.ts";
import type { Started } from "./deployment_book.ts";
import * as styles from "./start_form.module.css";
import { START_WORDS } from "./words.ts";

/** Announces a start. Shows it if an earlier attempt started it: the person may want another. */
export function tellStart({ isReplay }: Started, text: string): void {
  if (isReplay) toast({ text: START_WORDS.replayed });
  else announce(text);
}

const DASHBOARD = "https://app.mintlify.com/";

interface StartFormProps {
  draft: Draft;
  startLabel: string;
  isMain: boolean;
  /** Returns the input to send; null if it is incomplete. */
  read(): string | null;
  submit(text: string, how: SendOptions): Promise<void>;
  onStarted(): void;
  /** The input. */
  children?: ComponentChildren;
  /** Another action, next to the one that starts. */
  beside?: ComponentChildren;
}

/** Starts a deployment or a preview once, also after a double click or a lost response. */
export function StartForm(props: StartFormProps) {
  const { draft, startLabel, isMain, read, submit, onStarted } = props;
  const button = useRef<HTMLButtonElement>(null);
  const sending = draft.sending.value;
  const problem = draft.problem.value;

  const send = () => start(() => draft.send(submit));
  const sendAnyway = () => start(() => draft.sendAnyway(submit));

  async function start(sendDraft: () => Promise<boolean>) {
    if (draft.sending.peek()) return;
    const text = read();
    if (text === null) return;
    if (draft.text.peek() !== text) draft.edit(text);
    end(await sendDraft());
  }

  function end(isSent: boolean) {
    if (isSent) onStarted();
    else keepFocus(button);
  }

  return (
    <form
      class={`stack ${styles.form}`}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {props.children}
      <div class="actions">
        <button
          ref={button}
          type="submit"
          class={isMain ? "primary" : ""}
          aria-disabled={sending}
          onClick={(event) => {
            // The second click of a double click can be meant for what was here before.
            if (event.detail > 1) event.preventDefault();
          }}
        >
          {sending ? START_WORDS.starting : startLabel}
        </button>
        {sending && (
          <button type="button" onClick={() => draft.cancel()}>
            {START_WORDS.stop}
          </button>
        )}
        {!sending && props.beside}
      </div>
      {problem?.remedy === "look first" && (
        <DoubtPanel
          problem={problem}
          words={{
            title: START_WORDS.doubt,
            advice: START_WORDS.doubtHint,
            places: [{ label: START_WORDS.dashboard, href: DASHBOARD }],
          }}
          keepLabel={START_WORDS.close}
          onSend={sendAnyway}
          onKeep={() => {
            draft.putAside();
            keepFocus(button);
          }}
        />
      )}
      {problem !== null && problem.remedy !== "look first" && (
        <ProblemPanel problem={problem} retryLabel={SEND_WORDS.sendAgain} onRetry={send} />
      )}
    </form>
  );
}
