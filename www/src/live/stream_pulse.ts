import type { FetchInit } from "quillgate";

/** Receives notifications about the bytes of a client's event streams. */
export interface StreamListener {
  /** Called with each chunk, heartbeats included. */
  onData(): void;
  /** Called when a stream ends, breaks or is canceled. The client may open another stream. */
  onEnd(): void;
}

/** Wraps `fetch` so that it reports the data of event streams. */
export function listenToStreams(
  listener: StreamListener,
  send: (url: string, init: FetchInit) => Promise<Response>,
): (url: string, init: FetchInit) => Promise<Response> {
  return async (url, init) => {
    const response = await send(url, init);
    const type = response.headers.get("content-type") ?? "";
    if (!response.ok || response.body === null || !type.startsWith("text/event-stream")) {
      return response;
    }
    return new Response(observe(response.body, listener), response);
  };
}

function observe(
  body: ReadableStream<Uint8Array>,
  { onData, onEnd }: StreamListener,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) {
          onEnd();
          controller.close();
          return;
        }
        onData();
        controller.enqueue(value);
      } catch (error) {
        onEnd();
        controller.error(error);
      }
    },
    cancel(reason) {
      onEnd();
      return reader.cancel(reason);
    },
  });
}
