/** Counters, gauges and routes for OpenTelemetry, where the runtime has it. @module */

import type { RecordStore } from "@sig/consumer/store";
import { type CheckAnswer, isSigError } from "@sig/core";

/** What is attached to a value: nothing that names a subject, a path or an id. */
export type TelemetryAttributes = { readonly [name: string]: string };

/** Counts and measures what the operator of a service watches. */
export interface Telemetry {
  /** Adds one to `sig.decisions` and the like. */
  count(name: string, attributes?: TelemetryAttributes): void;
  /** What a gauge shows whenever it is read. */
  gauge(
    name: string,
    unit: string,
    read: () => Iterable<
      readonly [value: number, attributes?: TelemetryAttributes]
    >,
  ): void;
  /** Puts the route into the span of the request that is being answered. */
  route(path: string): void;
}

/** The parts of OpenTelemetry's interface for JavaScript that are used here. */
interface OpenTelemetry {
  readonly context?: {
    active(): { getValue(key: symbol): Span | undefined };
  };
  readonly metrics?: { getMeter(name: string, version: string): Meter };
}
interface Span {
  setAttribute(name: string, value: string): unknown;
}
interface Meter {
  createCounter(
    name: string,
  ): { add(value: number, attributes?: TelemetryAttributes): void };
  createObservableGauge(name: string, options: { readonly unit: string }): {
    addCallback(
      read: (
        result: {
          observe(value: number, attributes?: TelemetryAttributes): void;
        },
      ) => void,
    ): void;
  };
}

/**
 * Where `@opentelemetry/api` 1.x keeps what is registered: Deno puts its own
 * there when `OTEL_DENO` is set, so no package is needed.
 */
const REGISTERED = Symbol.for("opentelemetry.js.api.1");
/** Under which a context has its span. */
const SPAN = Symbol.for("OpenTelemetry Context Key SPAN");

/**
 * The telemetry of this process; undefined where it is off, so that nothing is
 * counted or measured then.
 *
 * @example
 * ```ts
 * import { findTelemetry } from "@sig/api/http";
 *
 * findTelemetry("0.1.0")?.count("sig.logins");
 * ```
 *
 * @param version Of the package that reports.
 */
export function findTelemetry(version: string): Telemetry | undefined {
  const api: OpenTelemetry | undefined = Reflect.get(globalThis, REGISTERED);
  if (api === undefined) return undefined;
  const meter = api.metrics?.getMeter("sig", version);
  const counters = new Map<string, ReturnType<Meter["createCounter"]>>();
  return {
    count(name, attributes) {
      if (meter === undefined) return;
      const counter = counters.get(name) ?? meter.createCounter(name);
      counters.set(name, counter);
      counter.add(1, attributes);
    },
    gauge(name, unit, read) {
      meter?.createObservableGauge(name, { unit }).addCallback((result) => {
        for (const [value, attributes] of read()) {
          result.observe(value, attributes);
        }
      });
    },
    route(path) {
      api.context?.active().getValue(SPAN)?.setAttribute("http.route", path);
    },
  };
}

/** What counts of an answer. */
export type Decided = Pick<
  CheckAnswer,
  "decision" | "reasons" | "issuer" | "freshness" | "source"
>;

/** Counts answers and failures of issuers. */
export interface AnswerMetrics {
  /** An answer was given; `issuer` is the listed one that was asked, if any. */
  decided(answer: Decided, isListed: boolean): void;
  /** Counts the failure of work that asks issuers, and throws it. */
  noting<T>(work: Promise<T>): Promise<T>;
}

/**
 * Makes what counts decisions and failures, and knows how old each listed
 * issuer's feed is. Others are one `issuer`, `other`: strangers name them.
 */
export function createAnswerMetrics(
  telemetry: Telemetry,
  now: () => Date,
): AnswerMetrics {
  const observedMs = new Map<string, number>();
  /** All who wait for a refresh get the same error, which counts once. */
  const counted = new WeakSet<object>();
  telemetry.gauge("sig.feed.age_seconds", "s", function* () {
    for (const [issuer, ms] of observedMs) {
      yield [Math.max(0, now().getTime() - ms) / 1000, { issuer }];
    }
  });
  return {
    decided({ decision, reasons, issuer, freshness }, isListed) {
      telemetry.count("sig.decisions", {
        decision,
        reason: reasons[0]?.code ?? "none",
        issuer: isListed ? issuer : "other",
      });
      if (!isListed || freshness === null) return;
      observedMs.set(issuer, Date.parse(freshness.observed_at));
    },
    async noting(work) {
      try {
        return await work;
      } catch (error) {
        const failure = isSigError(error, "feed_stale")
          ? error.cause ?? error
          : error;
        if (isRefreshFailure(failure) && !counted.has(failure)) {
          counted.add(failure);
          telemetry.count("sig.refresh.failures");
        }
        throw error;
      }
    },
  };
}

/** Not a question that is wrong, refused or too early. */
function isRefreshFailure(error: unknown): error is Error {
  return isSigError(error) &&
    ["unavailable", "invalid", "conflict"].includes(error.category) &&
    !["overloaded", "store_unavailable", "consistency_unavailable"].includes(
      error.code,
    );
}

/** The same store, whose failures are counted. */
export function countStoreErrors<S extends RecordStore>(
  store: S,
  telemetry: Telemetry | undefined,
): S {
  if (telemetry === undefined) return store;
  const note = (error: unknown): never => {
    if (isSigError(error, "store_unavailable")) {
      telemetry.count("sig.store.errors");
    }
    throw error;
  };
  return new Proxy(store, {
    get(target, name) {
      const member = Reflect.get(target, name, target);
      if (typeof member !== "function") return member;
      return (...given: unknown[]) => {
        const result = member.apply(target, given);
        return result instanceof Promise ? result.catch(note) : result;
      };
    },
  });
}
