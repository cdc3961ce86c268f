/** Counters, gauges and routes for OpenTelemetry, if the runtime provides it. @module */

import type { RecordStore } from "@sig/consumer/store";
import { type CheckAnswer, isSigError } from "@sig/core";

/** Attributes of a value: they never contain a subject, a path or an id. */
export type TelemetryAttributes = { readonly [name: string]: string };

/** Counters and gauges for the operator of a service. */
export interface Telemetry {
  /** Adds one to a counter such as `sig.decisions`. */
  count(name: string, attributes?: TelemetryAttributes): void;
  /** Defines a gauge; `read` is called for each export. */
  gauge(
    name: string,
    unit: string,
    read: () => Iterable<
      readonly [value: number, attributes?: TelemetryAttributes]
    >,
  ): void;
  /** Sets the route in the span of the current request. */
  route(path: string): void;
}

/** The parts of OpenTelemetry's JavaScript API that are used here. */
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
 * The global key of `@opentelemetry/api` 1.x. Deno registers its own
 * implementation there if `OTEL_DENO` is set, so no package is needed.
 */
const REGISTERED = Symbol.for("opentelemetry.js.api.1");
/** The key of a context's span. */
const SPAN = Symbol.for("OpenTelemetry Context Key SPAN");

/**
 * Returns the telemetry of this process; undefined if it is off, so that
 * nothing is counted or measured.
 *
 * @example
 * ```ts
 * import { findTelemetry } from "@sig/api/internal/http";
 *
 * findTelemetry("0.1.0")?.count("sig.logins");
 * ```
 *
 * @param version The version of the reporting package.
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

/** The parts of an answer that metrics need. */
export type Decided = Pick<
  CheckAnswer,
  "decision" | "reasons" | "issuer" | "freshness" | "source"
>;

/** Counts answers and refresh failures. */
export interface AnswerMetrics {
  /**
   * Counts an answer. `isListed` says whether its issuer is listed and was
   * queried.
   */
  decided(answer: Decided, isListed: boolean): void;
  /** Counts the failure of work that queries issuers. */
  failed(error: unknown): void;
}

/**
 * Creates the metrics of decisions and failures, and the gauge of each listed
 * issuer's feed age. All other issuers count as `other`, since clients choose
 * their names.
 */
export function createAnswerMetrics(
  telemetry: Telemetry,
  now: () => Date,
): AnswerMetrics {
  const observedMs = new Map<string, number>();
  /** Concurrent requests share the error of a refresh, which counts once. */
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
    failed(error) {
      // The error of the refresh, which questions that came later have too.
      while (isSigError(error) && isSigError(error.cause)) error = error.cause;
      if (!isRefreshFailure(error) || counted.has(error)) return;
      counted.add(error);
      telemetry.count("sig.refresh.failures");
    },
  };
}

/** Excludes errors of the question itself and of the service's limits. */
function isRefreshFailure(error: unknown): error is Error {
  return isSigError(error) &&
    ["unavailable", "invalid", "conflict"].includes(error.category) &&
    !["overloaded", "store_unavailable", "consistency_unavailable"].includes(
      error.code,
    );
}

/** Wraps a store so that its failures are counted. */
export function countStoreErrors<S extends RecordStore>(
  store: S,
  telemetry: Telemetry | undefined,
): S {
  if (telemetry === undefined) return store;
  return watchErrors(store, (error) => {
    if (isSigError(error, "store_unavailable")) {
      telemetry.count("sig.store.errors");
    }
  });
}

/** Wraps an object; `note` is called with each rejection of its methods. */
export function watchErrors<T extends object>(
  watched: T,
  note: (error: unknown) => void,
): T {
  const rethrow = (error: unknown): never => {
    note(error);
    throw error;
  };
  return new Proxy(watched, {
    get(target, name) {
      const member = Reflect.get(target, name, target);
      if (typeof member !== "function") return member;
      return (...given: unknown[]) => {
        const result = member.apply(target, given);
        return result instanceof Promise ? result.catch(rethrow) : result;
      };
    },
  });
}
