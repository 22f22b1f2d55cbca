import { useSignal } from "@preact/signals";
import type { RefCallback, RefObject } from "preact";
import { useRef } from "preact/hooks";
import type { Session } from "../session/session.ts";
import { type Address, parseAddress } from "../shell/address.ts";
import * as choices from "../shell/choices.module.css";
import { IconButton } from "../shell/icon_button.tsx";
import { Cross, Pencil } from "../shell/icons.tsx";
import { address } from "../shell/navigation.ts";
import { toast } from "../shell/toast.ts";
import { NameForm } from "./name_form.tsx";
import { openView, searchOf } from "./open_view.ts";
import type { SavedView } from "./saved_view.ts";
import { savedViewsOf } from "./session_shelf.ts";
import { isApplied, type ViewShelf } from "./view_shelf.ts";
import * as styles from "./views_panel.module.css";
import { VIEW_PROBLEMS, VIEW_WORDS } from "./words.ts";

interface SavedViewsProps {
  session: Session;
  /** Returns the report and period of an address in words. */
  describe(address: Address): string;
  /** Closes the menu and returns the focus to its button. */
  onClose(): void;
}

/** Opens, renames and deletes the saved views, and saves the current report. */
export function SavedViews({ session, describe, onClose }: SavedViewsProps) {
  const shelf = savedViewsOf(session);
  const renaming = useSignal<string | null>(null);
  const nameInput = useRef<HTMLInputElement>(null);
  const openButtons = useRef(new Map<string, HTMLButtonElement>());
  const views = shelf.views.value;

  /** Focuses a view once the list is drawn; without views, the name of a new one. */
  function focusSoon(name = shelf.views.peek()[0]?.name) {
    requestAnimationFrame(() => {
      const button = name === undefined ? undefined : openButtons.current.get(name);
      (button ?? nameInput.current)?.focus();
    });
  }

  function endRenaming(name: string) {
    renaming.value = null;
    focusSoon(name);
  }

  return (
    <div class={styles.panel}>
      {views.length === 0 && <p class="hint">{VIEW_WORDS.empty}</p>}
      {views.length > 0 && (
        <ul aria-label={VIEW_WORDS.views}>
          {views.map((view) => (
            <li key={view.name} class={styles.view}>
              {renaming.value === view.name ? (
                <RenameForm shelf={shelf} view={view} onEnd={endRenaming} />
              ) : (
                <ViewRow
                  view={view}
                  describe={describe}
                  openButton={(button) => {
                    if (button) openButtons.current.set(view.name, button);
                    else openButtons.current.delete(view.name);
                  }}
                  onOpen={() => {
                    onClose();
                    openView(view);
                  }}
                  onRename={() => {
                    renaming.value = view.name;
                  }}
                  onDelete={() => {
                    remove(shelf, view);
                    focusSoon();
                  }}
                />
              )}
            </li>
          ))}
        </ul>
      )}
      <SaveForm shelf={shelf} input={nameInput} onDone={onClose} />
      <p class="hint">{VIEW_WORDS.stay}</p>
    </div>
  );
}

interface ViewRowProps extends Pick<SavedViewsProps, "describe"> {
  view: SavedView;
  openButton: RefCallback<HTMLButtonElement>;
  onOpen(): void;
  onRename(): void;
  onDelete(): void;
}

function ViewRow({ view: { name, search }, describe, ...props }: ViewRowProps) {
  const { openButton, onOpen, onRename, onDelete } = props;
  const saved = parseAddress(search);
  return (
    <>
      <button
        ref={openButton}
        type="button"
        class={`${choices.choice} ${styles.open}`}
        aria-pressed={searchOf(saved) === searchOf(address.value)}
        onClick={onOpen}
      >
        <span>
          <bdi>{name}</bdi>
          <span class={`hint ${choices.hint}`}>{describe(saved)}</span>
        </span>
      </button>
      <IconButton label={VIEW_WORDS.rename(name)} icon={Pencil} onClick={onRename} />
      <IconButton label={VIEW_WORDS.delete(name)} icon={Cross} onClick={onDelete} />
    </>
  );
}

interface RenameFormProps {
  shelf: ViewShelf;
  view: SavedView;
  /** Called with the view's current name when renaming ends or is canceled. */
  onEnd(name: string): void;
}

function RenameForm({ shelf, view, onEnd }: RenameFormProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <NameForm
      input={input}
      label={VIEW_WORDS.newName}
      submit={VIEW_WORDS.renameShort}
      name={view.name}
      onSubmit={(name) => shelf.rename(view, name)}
      onReplace={null}
      onDone={(name, applied) => {
        if (applied === "until reload") toast({ text: VIEW_WORDS.untilReload });
        onEnd(name);
      }}
      onCancel={() => onEnd(view.name)}
    />
  );
}

interface SaveFormProps {
  shelf: ViewShelf;
  input: RefObject<HTMLInputElement | null>;
  onDone(): void;
}

/** Saves the current report under a name. */
function SaveForm({ shelf, input, onDone }: SaveFormProps) {
  const search = searchOf(address.value);
  return (
    <NameForm
      input={input}
      label={VIEW_WORDS.name}
      submit={VIEW_WORDS.save}
      name=""
      onSubmit={(name) => shelf.save(name, search)}
      onReplace={(name) => shelf.replace(name, search)}
      onDone={(name, applied) => {
        toast({ text: applied === "stored" ? VIEW_WORDS.saved(name) : VIEW_WORDS.untilReload });
        onDone();
      }}
      onCancel={null}
    />
  );
}

function remove(shelf: ViewShelf, view: SavedView): void {
  const restore = shelf.remove(view);
  const undo = () => {
    const restored = restore();
    if (restored === "until reload") toast({ text: VIEW_WORDS.untilReload });
    else if (!isApplied(restored)) toast({ text: VIEW_PROBLEMS[restored] });
  };
  toast({
    text: `${VIEW_WORDS.deleted(view.name)}.`,
    action: { label: VIEW_WORDS.undo, run: undo, isUndo: true },
  });
}
