/** A call's result, and the response that carried it for those who want it. */

/** A result with the response that carried it, whose body has been read. */
export interface WithResponse<T> {
  data: T;
  response: Response;
  /** `X-Request-Id`, when the answer has one. */
  requestId: string | null;
}

/** What the core resolves a call to. */
export interface CallResult<T> {
  data: T;
  response: Response;
}

/** A promise of a call's result. */
export class ApiPromise<T> implements Promise<T> {
  readonly #result: Promise<CallResult<T>>;

  constructor(result: Promise<CallResult<T>>) {
    this.#result = result;
  }

  /** The result with the response that carried it. */
  async withResponse(): Promise<WithResponse<T>> {
    const { data, response } = await this.#result;
    return { data, response, requestId: response.headers.get("x-request-id") };
  }

  // biome-ignore lint/suspicious/noThenProperty: this is a promise.
  then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#result.then(({ data }) => data).then(onFulfilled, onRejected);
  }

  catch<B = never>(onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<T | B> {
    return this.then(null, onRejected);
  }

  finally(onFinally?: (() => void) | null): Promise<T> {
    return this.then().finally(onFinally);
  }

  get [Symbol.toStringTag](): string {
    return "ApiPromise";
  }
}
