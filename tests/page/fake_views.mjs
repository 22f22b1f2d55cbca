import assert from "node:assert/strict";

const PAGE_SIZE = 250;

/** Returns a client with `count` rows of views. `answer` returns a response's headers, or throws. */
export function fakeViews(count, { before, answer }) {
  const requests = [];
  const pagesOf = async function* (params, { signal, headers }, onResponse) {
    const { dateFrom, dateTo, limit = PAGE_SIZE, offset: start = 0 } = params.resumeFrom ?? params;
    assert.equal(limit, PAGE_SIZE);
    for (let offset = start; ; offset += PAGE_SIZE) {
      const request = { dateFrom, dateTo, offset, headers };
      await before(request);
      signal.throwIfAborted();
      requests.push(request);
      onResponse({ headers: new Headers(answer(request)) });
      const views = Array.from({ length: Math.min(PAGE_SIZE, count - offset) }, (_, at) => ({
        path: `/${offset + at}`,
        human: 1,
        ai: 0,
        total: 1,
      }));
      const next = { dateFrom, dateTo, limit, offset: offset + PAGE_SIZE };
      const nextPosition = next.offset < count ? next : null;
      yield { views, totals: { human: count, ai: 0, total: count }, nextPosition };
      if (nextPosition === null) return;
    }
  };
  const withOptions = ({ onResponse }) => ({
    analytics: {
      views: (params, options) => ({ pages: () => pagesOf(params, options, onResponse) }),
    },
  });
  return { requests, withOptions };
}

/** Returns the error of a client that Mintlify's API answers with 502. */
export const failure = () =>
  Object.assign(new Error("bad gateway"), { name: "ServerError", status: 502 });
