/**
 * The hand-written gateway's way to page views with the costs of a cache and a budget added
 * one after another: what the uncached path of any gateway that keeps both must pay.
 */
import { DurableObject, env as variables } from "cloudflare:workers";
import { admitted } from "./admission.mjs";
import { forward, send } from "./forward.mjs";
import { problem } from "./rules.mjs";

/**
 * 1: a call of a Durable Object that does nothing; 2: the object asks the upstream and hands
 * the text over; 3: it reads the text as JSON and writes it anew; 4: it writes a reservation
 * and settles it; 5: it keeps the page in SQLite.
 */
const STEP = Number(variables.STEP);
const TABLES = `
  CREATE TABLE IF NOT EXISTS reservation (id INTEGER PRIMARY KEY, at INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS page (target TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID;
`;

export default {
  async fetch(request, env) {
    const call = await admitted(request);
    if (call.refused) return call.refused;
    const gate = env.GATE.getByName("organisation");
    if (STEP === 1) {
      await gate.nothing();
      return await forward(call);
    }
    const { status, body } = await gate.views(call.target);
    const { id, headers } = call;
    if (body === undefined) return problem(status, "upstream-unreachable", id, headers);
    headers["content-type"] = "application/json";
    return new Response(body, { status, headers });
  },
};

export class Gate extends DurableObject {
  #sql;

  constructor(state, env) {
    super(state, env);
    this.#sql = state.storage.sql;
    this.#sql.exec(TABLES);
  }

  nothing() {}

  async views(target) {
    const reservation = STEP >= 4 ? this.#reserve() : undefined;
    const answer = await send("GET", target);
    if (typeof answer === "number") return { status: answer };
    const text = await answer.text();
    const body = STEP >= 3 ? JSON.stringify(JSON.parse(text)) : text;
    if (STEP >= 4) this.#settle(reservation);
    if (STEP >= 5) this.#keep(target, body);
    return { status: answer.status, body };
  }

  #reserve() {
    const insert = "INSERT INTO reservation (at) VALUES (?) RETURNING id";
    return this.#sql.exec(insert, Date.now()).one().id;
  }

  #settle(id) {
    this.#sql.exec("UPDATE reservation SET at = ? WHERE id = ?", Date.now(), id);
  }

  #keep(target, body) {
    this.#sql.exec("INSERT OR REPLACE INTO page (target, body) VALUES (?, ?)", target, body);
  }
}
