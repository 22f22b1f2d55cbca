import { Dialog } from "./dialog.tsx";
import * as styles from "./key_list.module.css";
import { GENERAL, type KeyBinding, keyGroups, keysEnabled, switchKeys } from "./keys.ts";

const PALETTE_KEY = /Mac|iPhone|iPad/.test(navigator.userAgent) ? "⌘" : "Ctrl";
const PALETTE = { keys: `${PALETTE_KEY} K`, label: "Command palette", run: () => {} };

/** The list of shortcuts, which "?" opens. */
export function KeyList({ onClose }: { onClose(): void }) {
  return (
    <Dialog open title="Keyboard shortcuts" onClose={onClose}>
      {keyGroups.value.map(({ owner, bindings }) => (
        <section key={owner} class={styles.group}>
          <h3>{owner}</h3>
          <dl>
            {owner === GENERAL && <Shortcut binding={PALETTE} />}
            {bindings.map((binding) => (
              <Shortcut key={binding.keys} binding={binding} />
            ))}
          </dl>
        </section>
      ))}
      <label class="check">
        <input
          type="checkbox"
          checked={keysEnabled.value}
          onChange={(event) => switchKeys(event.currentTarget.checked)}
        />
        Enable keyboard shortcuts
      </label>
    </Dialog>
  );
}

function Shortcut({ binding: { keys, label } }: { binding: KeyBinding }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>
        {keys.split(" ").map((key) => (
          <kbd key={key}>{key}</kbd>
        ))}
      </dd>
    </div>
  );
}
