import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type {
  Client,
  Deployment,
  DeploymentListChange,
  ListedDeployment,
  StartedPreview,
  WithResponse,
} from "quillgate";
import type { FeedState, OpenStream } from "../live/feed.ts";
import { Following } from "../live/following.ts";
import { LiveList } from "../live/live_list.ts";
import { watchTarget } from "../live/watch_target.ts";
import { Draft, type SendOptions } from "../sending/draft.ts";
import { DEPLOYMENT } from "../sending/send_kind.ts";
import { allows, type Claims } from "../session/claims.ts";
import type { PersonData } from "../session/person_data.ts";
import { announce } from "../shell/announcer.tsx";
import { currentTime } from "../shell/clock_skew.ts";
import { isShownBy } from "../shell/problem.ts";
import { keyOf } from "../shell/storage.ts";
import { deploymentState, hasEnded, targetOf } from "./deployment_state.ts";
import { OpenDeployment } from "./open_deployment.ts";

/** A deployment or a preview that was just started. */
export interface Started extends StartedPreview {
  /** Whether an earlier attempt started it. */
  isReplay: boolean;
}

export interface DeploymentBookSession {
  client: Client;
  projectId: string;
  claims: Claims;
  data: PersonData;
  openStream: OpenStream<DeploymentListChange>;
  /** Called with the deployments of each response and event. */
  onDeployments?(deployments: readonly ListedDeployment[]): void;
  /** Called with the id of each deleted deployment. */
  onDeleted?(id: string): void;
  /** Aborted when the session ends. */
  ended: AbortSignal;
}

/** The deployments and previews of one project, and those that this browser is starting. */
export class DeploymentBook {
  readonly list: LiveList<ListedDeployment>;
  /** The deployment on its own page; null for the list. */
  readonly opened = signal<OpenDeployment | null>(null);
  readonly #following: Following<ListedDeployment, null, DeploymentListChange>;
  readonly #drafts = new Map<string, Draft>();
  readonly #client: Client;
  readonly #given: DeploymentBookSession;
  readonly mayRead: boolean;
  readonly #ended: AbortSignal;
  /** The opened deployment while it runs. Only its own stream has its log. */
  readonly #watched = computed((): string | null => {
    const opened = this.opened.value;
    const facts = opened?.facts.value ?? null;
    if (opened === null || facts === null || hasEnded(facts) || opened.isDeleted.value) return null;
    return opened.id;
  });
  #watchAgain = () => {};

  constructor(given: DeploymentBookSession) {
    const { client, projectId, claims, data, openStream, ended } = given;
    this.#given = given;
    this.#client = client;
    this.#ended = ended;
    this.mayRead = allows(claims, "deployments:read");
    this.list = new LiveList(
      {
        idOf: ({ statusId }) => statusId,
        createdAtOf: ({ createdAt }) => createdAt,
        load: async (params, _filter, signal) => {
          const page = await client.deployments.list(params, { signal });
          const { deployments, nextCursor, revision } = page;
          return { items: deployments, nextCursor, revision };
        },
        all: null,
        isExact: () => true,
        requestKey: () => "",
        meets: () => true,
        applied: () => ({ meets: () => true, isFiltered: false, isSearch: false }),
      },
      ended,
      (deployments) => this.#meet(deployments),
    );
    this.#following = new Following({
      list: this.list,
      openStream,
      shareAs: keyOf("deployments", data.person, projectId),
      onEvent: (event) => this.#hear(event),
      isWanted: () => this.#watched.peek() !== null,
      ended,
    });
    const renew = ({ key }: { key: string }) => {
      for (const draft of this.#drafts.values()) if (draft.key === key) draft.renew();
    };
    data.onChangeElsewhere(["deployment", projectId], renew, ended);
  }

  get feedState(): ReadonlySignal<FeedState> {
    return this.#following.state;
  }

  /** Whether the list is visible and must stay current. */
  get inSight(): Signal<boolean> {
    return this.#following.inSight;
  }

  /** Follows the deployments until the session ends, if the session may read them. */
  start(): void {
    if (!this.mayRead) return;
    this.#following.start();
    const watch = async (id: string, signal: AbortSignal) => {
      const onUpdate = (deployment: Deployment) => this.#receive(id, deployment);
      onUpdate(await this.#client.deployments.wait(id, { onUpdate, signal }));
    };
    const onFailure = (id: string, error: unknown) => {
      const opened = this.opened.peek();
      if (opened?.id !== id || isShownBy(opened.problem.peek(), error)) return;
      opened.noteFailure(error);
    };
    this.#watchAgain = watchTarget(this.#watched, watch, onFailure, this.#ended);
  }

  /** Shows a deployment on its own page. */
  open(id: string): OpenDeployment {
    const current = this.opened.peek();
    if (current?.id === id) return current;
    const opened = new OpenDeployment(id, this.#given);
    const listed = this.list.find(id);
    if (listed) opened.receiveListed(listed);
    opened.load();
    this.opened.value = opened;
    this.#watchAgain();
    return opened;
  }

  /** Returns to the list. */
  close(): void {
    this.opened.value = null;
  }

  /** Loads the opened deployment again, and retries its stream if that failed. */
  async checkAgain(opened: OpenDeployment): Promise<void> {
    await opened.load();
    this.#watchAgain();
  }

  /** Returns the attempt to start something: the site, or the preview that a place offers. */
  draft(...place: ["site"] | ["preview"] | ["branch", string]): Draft {
    const { data, projectId } = this.#given;
    const entry = data.entry("deployment", projectId, ...place);
    const draft = this.#drafts.get(entry.key) ?? new Draft(entry, DEPLOYMENT);
    this.#drafts.set(entry.key, draft);
    return draft;
  }

  /** Deploys the site. */
  deploy(how: SendOptions): Promise<Started> {
    return this.#start(null, how, async (client, options) => {
      const { data, response } = await client.deployments.create(options).withResponse();
      return { data: { ...data, previewUrl: null }, response };
    });
  }

  createPreview(branch: string, how: SendOptions): Promise<Started> {
    return this.#start(branch, how, (client, options) =>
      client.previews.create({ branch }, options).withResponse(),
    );
  }

  /** Returns the newest known preview of a branch. */
  previewOf(branch: string): ListedDeployment | null {
    return this.list.listing.value?.items.find((item) => item.branch === branch) ?? null;
  }

  /** Deletes the gateway's record of a deployment. */
  async deleteRecord(id: string): Promise<void> {
    await this.#client.deployments.deleteRecord(id, { signal: this.#ended });
    this.#forget(id);
  }

  async #start(
    branch: string | null,
    { signal, isRetry, ...how }: SendOptions,
    send: (
      client: Client,
      options: Omit<SendOptions, "isRetry">,
    ) => Promise<Pick<WithResponse<StartedPreview>, "data" | "response">>,
  ): Promise<Started> {
    // The client would wait up to a minute for a limit. The person sees the time instead.
    const limited = new AbortController();
    const client = this.#client.withOptions({
      onRetry: ({ error }) => {
        if ((error as { status?: number }).status === 429) limited.abort(error);
      },
    });
    try {
      const signals = [signal, limited.signal, this.#ended];
      const options = { ...how, signal: AbortSignal.any(signals) };
      const { data, response } = await send(client, options);
      // The client itself also resends a request whose connection broke.
      const isReplay = isRetry && response.headers.has("idempotent-replayed");
      if (!isReplay) this.#noteStart({ ...data, branch });
      return { ...data, isReplay };
    } finally {
      this.#following.renew();
    }
  }

  #noteStart(started: StartedPreview & { branch: string | null }): void {
    // An event can arrive before the response.
    if (this.list.find(started.statusId)) return;
    const item: ListedDeployment = {
      ...started,
      status: "queued",
      isLive: null,
      summary: null,
      createdBy: this.#given.claims.subject,
      createdAt: new Date(currentTime()).toISOString(),
      checkedAt: null,
    };
    this.list.receive({ item });
  }

  #hear(event: Exclude<DeploymentListChange, { reset: true }>): void {
    if (event.deleted === undefined) this.list.receive({ item: event.deployment });
    else this.#forget(event.deleted);
  }

  #forget(id: string): void {
    this.list.receive({ deleted: id });
    this.#given.onDeleted?.(id);
    const opened = this.opened.peek();
    if (opened?.id === id) opened.noteDeleted();
  }

  #meet(deployments: readonly ListedDeployment[]): void {
    this.#given.onDeployments?.(deployments);
    const opened = this.opened.peek();
    const listed = deployments.find(({ statusId }) => statusId === opened?.id);
    if (opened === null || listed === undefined) return;
    const before = opened.facts.peek();
    opened.receiveListed(listed);
    const facts = opened.facts.peek() ?? listed;
    if (before?.status === facts.status && before.summary === facts.summary) return;
    opened.load();
    if (before === null || before.status === facts.status) return;
    announce(`${deploymentState(facts).word}: ${targetOf(facts)}`);
  }

  /** Applies the new state of the opened deployment to its page and to the list. */
  #receive(id: string, deployment: Deployment): void {
    const opened = this.opened.peek();
    if (opened?.id !== id) return;
    const before = opened.facts.peek();
    opened.receive(deployment);
    const facts = opened.facts.peek();
    if (facts === null || facts.status === before?.status) return;
    announce(`${deploymentState(facts).word}: ${targetOf(facts)}`);
    const listed = this.list.find(id);
    const { status, isLive, summary } = facts;
    if (listed) this.list.receive({ item: { ...listed, status, isLive, summary } });
  }
}
