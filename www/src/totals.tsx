import type { ViewTotals } from "quillgate";
import { count, share } from "./wording.ts";

/** The site-wide counts of a range; grey bars stand in for them until they are known. */
export function Totals({ totals }: { totals: ViewTotals | null }) {
  const { human = null, ai = null, total = null } = totals ?? {};
  const figures = [
    { name: "Human views", value: count(human), note: "People reading the docs", kind: "human" },
    { name: "AI views", value: count(ai), note: "Agents and assistants", kind: "ai" },
    { name: "All views", value: count(total), note: "Both, on the whole site", kind: "all" },
    { name: "AI share", value: share(ai, total), note: "AI views of all views", kind: "share" },
  ];
  return (
    <section aria-labelledby="totals" aria-busy={totals === null}>
      <h2 id="totals" class="visually-hidden">
        Totals of the whole site
      </h2>
      <dl class="totals">
        {figures.map(({ name, value, note, kind }) => (
          <div key={name} class={`card figure figure-${kind}`}>
            <dt>{name}</dt>
            <dd class={totals === null ? "figure-value waiting" : "figure-value"}>{value}</dd>
            <dd class="hint">{note}</dd>
          </div>
        ))}
      </dl>
      <ShareBar human={human} ai={ai} />
    </section>
  );
}

/** Only repeats the figures above as a picture, so it is not read out. */
function ShareBar({ human, ai }: { human: number | null; ai: number | null }) {
  const whole = (human ?? 0) + (ai ?? 0);
  const part = whole === 0 ? 0 : ((human ?? 0) / whole) * 100;
  return (
    <div class={whole === 0 ? "share-bar" : "share-bar filled"} aria-hidden="true">
      <span style={{ width: `${part}%` }} />
    </div>
  );
}
