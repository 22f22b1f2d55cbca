import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import * as menu from "../analytics/menu.module.css";
import type { Session } from "../session/session.ts";
import { type Address, parseAddress } from "../shell/address.ts";
import { Cross, Pencil } from "../shell/icons.tsx";
import { address } from "../shell/navigation.ts";
import { toast } from "../shell/toast.ts";
import { NameForm } from "./name_form.tsx";
import { openView, searchOf } from "./open_view.ts";
import { savedViewsOf } from "./session_shelf.ts";
import { isApplied, type ViewShelf } from "./view_shelf.ts";
import type { SavedView } from "./view_storage.ts";
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
  const panel = useRef<HTMLDivElement>(null);
  const views = shelf.views.value;

  /** Focuses an element once the list is drawn. */
  function focusSoon(find: (panel: HTMLDivElement) => HTMLElement | null | undefined) {
    requestAnimationFrame(() => panel.current && find(panel.current)?.focus());
  }

  function endRenaming(name: string) {
    renaming.value = null;
    const at = shelf.views.peek().findIndex((view) => view.name === name);
    focusSoon((panel) => panel.querySelectorAll<HTMLElement>(`.${styles.open}`)[at]);
  }

  return (
    <div ref={panel} class={styles.panel}>
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
                  onOpen={() => {
                    onClose();
                    openView(view);
                  }}
                  onRename={() => {
                    renaming.value = view.name;
                  }}
                  onDelete={() => {
                    remove(shelf, view);
                    focusSoon((panel) => panel.querySelector(`.${styles.open}, input`));
                  }}
                />
              )}
            </li>
          ))}
        </ul>
      )}
      <SaveForm shelf={shelf} onDone={onClose} />
      <p class="hint">{VIEW_WORDS.stay}</p>
    </div>
  );
}

interface ViewRowProps extends Pick<SavedViewsProps, "describe"> {
  view: SavedView;
  onOpen(): void;
  onRename(): void;
  onDelete(): void;
}

function ViewRow({ view: { name, search }, describe, onOpen, onRename, onDelete }: ViewRowProps) {
  const saved = parseAddress(search);
  return (
    <>
      <button
        type="button"
        class={`${menu.choice} ${styles.open}`}
        aria-pressed={searchOf(saved) === searchOf(address.value)}
        onClick={onOpen}
      >
        <span>
          <bdi>{name}</bdi>
          <span class={`hint ${menu.choiceHint}`}>{describe(saved)}</span>
        </span>
      </button>
      <button
        type="button"
        class="quiet icon-button"
        aria-label={VIEW_WORDS.rename(name)}
        onClick={onRename}
      >
        <Pencil />
      </button>
      <button
        type="button"
        class="quiet icon-button"
        aria-label={VIEW_WORDS.delete(name)}
        onClick={onDelete}
      >
        <Cross />
      </button>
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
  return (
    <NameForm
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

/** Saves the current report under a name. */
function SaveForm({ shelf, onDone }: { shelf: ViewShelf; onDone(): void }) {
  const search = searchOf(address.value);
  return (
    <NameForm
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
  const outcome = shelf.remove(view);
  const undo = () => {
    const restored = shelf.save(view.name, view.search);
    if (!isApplied(restored)) toast({ text: VIEW_PROBLEMS[restored] });
  };
  const note = outcome === "stored" ? "" : ` ${VIEW_WORDS.untilReload}`;
  toast({
    text: `${VIEW_WORDS.deleted(view.name)}.${note}`,
    action: { label: VIEW_WORDS.undo, run: undo },
  });
}
