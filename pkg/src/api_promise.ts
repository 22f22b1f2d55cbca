/** The promise that most methods return. */

/** A result with its HTTP response. The body of the response has already been read. */
export interface WithResponse<T> {
  data: T;
  response: Response;
  /** The `X-Request-Id` of the response, or `null`. */
  requestId: string | null;
}

/** A result that the core has checked, with its response. */
export interface CallResult<T> {
  data: T;
  response: Response;
}

/** A promise of a call's result. `withResponse` also returns the HTTP response. */
export class ApiPromise<T> implements Promise<T> {
  readonly #result: Promise<CallResult<T>>;

  constructor(result: Promise<CallResult<T>>) {
    this.#result = result;
  }

  /** Returns the result together with the HTTP response. */
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
