import { useSignal } from "@preact/signals";
import type { ComponentChildren, RefObject } from "preact";
import { useRef } from "preact/hooks";
import { DoubtPanel, type DoubtWords } from "../sending/doubt_panel.tsx";
import type { Draft, Submit } from "../sending/draft.ts";
import { keepFocus } from "../shell/follow_focus.ts";
import { ProblemPanel } from "../shell/problem_panel.tsx";
import { counted } from "../shell/wording.ts";
import { type Blank, findBlanks, focusFirstBlank, selectNextBlank } from "./blanks.ts";
import { COMPOSER_WORDS } from "./composer_words.ts";
import * as styles from "./prompt_box.module.css";

interface PromptBoxProps {
  id: string;
  label: string;
  hint: string;
  placeholder: string;
  rows: number;
  draft: Draft;
  sendLabel: string;
  /** Whether sending is the main action of the page. */
  emphasis: "main" | "side";
  /** The words for an unknown outcome. */
  doubt: DoubtWords;
  submit: Submit;
  /** Sends the draft. @default `draft.send` */
  send?: (submit: Submit) => Promise<boolean>;
  onSent?: () => void;
  /** Called after a failure. The draft has the reason. */
  onKept?: () => void;
  box?: RefObject<HTMLTextAreaElement | null>;
  /** More actions, next to the send button. */
  children?: ComponentChildren;
}

/**
 * A text box with a send button. Ctrl+Enter (⌘+Enter) also sends. A blank such as `[page]` is a
 * field: Tab selects the next one, and sending asks for confirmation while one is left.
 */
export function PromptBox(props: PromptBoxProps) {
  const { id, draft, submit } = props;
  const complaint = useSignal("");
  const blankLeft = useSignal<Blank | null>(null);
  const ownBox = useRef<HTMLTextAreaElement>(null);
  const box = props.box ?? ownBox;
  const sending = draft.sending.value;
  const problem = draft.problem.value;
  const hasBlanks = findBlanks(draft.text.value).length > 0;

  async function send() {
    if (draft.text.peek().trim() === "") {
      complaint.value = COMPOSER_WORDS.missing;
      box.current?.focus();
      return;
    }
    const [blank] = findBlanks(draft.text.peek());
    if (blank === undefined) return sendWhole();
    blankLeft.value = blank;
    focusFirstBlank(box.current);
  }

  async function sendWhole() {
    blankLeft.value = null;
    end(await (props.send ? props.send(submit) : draft.send(submit)));
  }

  async function sendAnyway() {
    end(await draft.sendAnyway(submit));
  }

  function end(isSent: boolean) {
    if (isSent) props.onSent?.();
    else props.onKept?.();
    keepFocus(box);
  }

  return (
    <form
      class={`stack ${styles.box}`}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <label for={id}>{props.label}</label>
      <textarea
        id={id}
        ref={box}
        rows={props.rows}
        value={draft.text.value}
        placeholder={props.placeholder}
        readOnly={sending}
        aria-describedby={`${id}-hint ${id}-complaint`}
        onInput={(event) => {
          complaint.value = "";
          blankLeft.value = null;
          draft.edit(event.currentTarget.value);
        }}
        onKeyDown={(event) => {
          if (event.key === "Tab" && !event.isComposing) {
            const direction = event.shiftKey ? "backward" : "forward";
            if (selectNextBlank(event.currentTarget, direction)) event.preventDefault();
          }
          if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          send();
        }}
      />
      <div class={styles.foot}>
        <p id={`${id}-hint`} class="hint">
          {props.hint}
          {hasBlanks && ` ${COMPOSER_WORDS.nextBlank}`}
        </p>
        <p class={`hint ${styles.count}`}>{counted(draft.text.value.length, "character")}</p>
      </div>
      <p id={`${id}-complaint`} class="field-problem" role="alert">
        {complaint.value}
      </p>
      {draft.isRefused.value && (
        <p class="field-problem" role="alert">
          {COMPOSER_WORDS.draftRefused}
        </p>
      )}
      {blankLeft.value !== null && (
        <div class="notice" role="alert">
          <p>{COMPOSER_WORDS.blankLeft(blankLeft.value.text)}</p>
          <button type="button" onClick={sendWhole}>
            {COMPOSER_WORDS.anyway(props.sendLabel)}
          </button>
        </div>
      )}
      <div class="actions">
        <button
          type="submit"
          class={props.emphasis === "main" ? "primary" : ""}
          aria-disabled={sending}
        >
          {sending ? COMPOSER_WORDS.sending : props.sendLabel}
        </button>
        {sending ? (
          <button
            type="button"
            onClick={() => {
              draft.cancel();
              keepFocus(box);
            }}
          >
            {COMPOSER_WORDS.cancel}
          </button>
        ) : (
          <span class="keys">
            <kbd>{SEND_KEY}</kbd> <kbd>Enter</kbd>
          </span>
        )}
        {props.children}
      </div>
      {problem?.remedy === "look first" && (
        <DoubtPanel
          problem={problem}
          words={props.doubt}
          keepLabel={COMPOSER_WORDS.keepDraft}
          onSend={sendAnyway}
          onKeep={() => {
            draft.putAside();
            box.current?.focus();
          }}
        />
      )}
      {problem && problem.remedy !== "look first" && (
        <ProblemPanel problem={problem} retryLabel={COMPOSER_WORDS.sendAgain} onRetry={sendWhole} />
      )}
    </form>
  );
}

const SEND_KEY = /Mac|iPhone|iPad/.test(navigator.userAgent) ? "⌘" : "Ctrl";
