/** The series of views that a gateway's archive keeps. This is loaded by the first read of one. */

import type { DailyViewsParams } from "./analytics.js";
import type { CallResult } from "./api_promise.js";
import type * as errors from "./errors.js";
import type { RequestOptions } from "./options.js";
import type { Sender } from "./task.js";
import type { Transport } from "./transport.js";
import type { DailyViews, GroupedViews, VisitorTotals } from "./types.js";

/** A page of the report of views with nothing in it: the series takes its place. */
const NO_VIEWS = { totals: {}, views: [], hasMore: false };

/**
 * Reads a page of the series. Its request is the request for page views with another path and
 * more parameters, so that the same options, retries and errors apply.
 *
 * @param makeErrors functions of `errors.ts`. If this module imported that one, some bundlers would
 *   load it twice.
 */
export function readDailyViews(
  transport: Transport,
  params: DailyViewsParams | null | undefined,
  options: RequestOptions,
  site: Error,
  makeErrors: Pick<typeof errors, "toDecodeError" | "toRequiredError">,
): Promise<CallResult<DailyViews>> {
  const { path, prefix, group, limit, cursor, ...shared }: Partial<DailyViewsParams> = params ?? {};
  const query = Object.entries({ path, prefix, group, limit, cursor })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `&${name}=${encodeURIComponent(String(value))}`)
    .join("");
  let body: unknown;
  let response!: Response;
  const through = (sender: Sender): Sender => ({
    ...sender,
    async send(request, ...others) {
      const target = request.target.replace("/views?", "/views/daily?") + query;
      const received = await sender.send({ ...request, target }, ...others);
      const { status, headers, ok } = received;
      if (status < 200 || status > 299) return received;
      const json = async () => {
        body = await received.json();
        response = received;
        return NO_VIEWS;
      };
      return { status, headers, ok, json } as Response;
    },
  });
  const read = async () => {
    for (const field of ["dateFrom", "dateTo"] as const) {
      if (shared[field] === undefined) throw makeErrors.toRequiredError(field);
    }
    await transport.call("analytics.views", shared, options, through);
    const data = decodeSeries(body, (where, rule) => {
      throw makeErrors.toDecodeError(where, `must be ${rule}`, response);
    });
    return { data, response };
  };
  return transport.run(read, site, options.signal);
}

type Refuse = (where: string, rule: string) => never;

/** Checks a series, and copies what the type knows of it. */
function decodeSeries(body: unknown, refuse: Refuse): DailyViews {
  const list = (value: unknown, where: string): unknown[] =>
    Array.isArray(value) ? value : refuse(where, "an array");
  const text = (value: unknown, where: string): string =>
    typeof value === "string" ? value : refuse(where, "text");
  const count = (value: unknown, where: string): number =>
    Number.isSafeInteger(value) && (value as number) >= 0
      ? (value as number)
      : refuse(where, "an integer from 0 to 2^53 - 1");
  const countOrNull = (value: unknown, where: string) =>
    value == null ? null : count(value, where);
  const texts = (value: unknown, where: string) =>
    list(value, where).map((item, at) => text(item, `${where}[${at}]`));
  const object = <Type>(value: unknown, where: string): Partial<Record<keyof Type, unknown>> =>
    typeof value === "object" && value !== null ? value : refuse(where, "an object");
  const totals = (value: unknown, where: string): VisitorTotals => {
    const { human, ai, total } = object<VisitorTotals>(value, where);
    return {
      human: countOrNull(human, `${where}.human`),
      ai: countOrNull(ai, `${where}.ai`),
      total: countOrNull(total, `${where}.total`),
    };
  };
  const group = (value: unknown, at: number): GroupedViews => {
    const where = `views[${at}]`;
    const { date, days, missing, visitors } = object<GroupedViews>(value, where);
    return {
      date: text(date, `${where}.date`),
      ...totals(value, where),
      days: count(days, `${where}.days`),
      missing: texts(missing, `${where}.missing`),
      visitors: visitors == null ? null : totals(visitors, `${where}.visitors`),
    };
  };
  const { views, missing, nextCursor } = object<DailyViews>(body, "the body");
  return {
    views: list(views, "views").map(group),
    missing: texts(missing, "missing"),
    nextCursor: nextCursor == null ? null : text(nextCursor, "nextCursor"),
  };
}
