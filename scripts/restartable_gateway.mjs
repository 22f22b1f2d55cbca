import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StepError } from "./child.mjs";

/** A gateway that can load a new build. Its port and its storage stay the same. */
export class RestartableGateway {
  #options;
  #running;
  #fail;

  failure = new Promise((_, reject) => {
    this.#fail = reject;
  });

  constructor(options) {
    const state = mkdtempSync(join(tmpdir(), "quillgate-start-"));
    process.once("exit", () => rmSync(state, { recursive: true, force: true, maxRetries: 5 }));
    this.#options = { ...options, state };
    this.failure.catch(() => {});
  }

  get url() {
    return this.#running.url;
  }

  async start() {
    // The module imports npm packages, which `npm start` installs first.
    const { startGateway } = await import("../tests/harness/gateway.mjs");
    const running = await startGateway(this.#options);
    this.#running = running;
    running.ended.then((how) => {
      if (running !== this.#running) return;
      const log = running.log().slice(-2000);
      this.#fail(new StepError(`the gateway ${how}; the end of its log:\n${log}`));
    });
  }

  async stop() {
    const running = this.#running;
    this.#running = undefined;
    await running?.stop();
  }

  async restart() {
    await this.stop();
    await this.start();
  }

  runCron() {
    return this.#running.runCron();
  }
}
