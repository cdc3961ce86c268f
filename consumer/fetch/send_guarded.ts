/** Sending one request to a host that nobody vouches for. @module */

import { toFetchError } from "./fetch_error.ts";
import {
  type FetchLimits,
  type GuardedFetchOptions,
  requireFetchOptions,
} from "./fetch_options.ts";
import { createNetworkBudget, type NetworkBudget } from "./network_budget.ts";
import { loadNodeBuiltins, type NodeBuiltins } from "./node_builtins.ts";
import { CannotPin, createPinnedTransport } from "./pinned_transport.ts";
import { createPlainTransport } from "./plain_transport.ts";
import { type Resolve, resolveAddresses } from "./resolve_addresses.ts";
import type {
  RequestMethod,
  Transport,
  TransportResponse,
} from "./transport.ts";
import { vetUrl } from "./url_policy.ts";

/** What is asked. */
export interface GuardedRequest {
  /** GET unless told. */
  readonly method?: RequestMethod;
  /** Header fields by lower-case name, without `host`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Allow `http:` to public addresses too. */
  readonly allowHttp?: boolean;
}

/** A response whose head has arrived, and nobody has judged yet. */
export interface GuardedResponse {
  /** The response. Whoever gets it closes it. */
  readonly response: TransportResponse;
  /** The URL, as it was parsed. */
  readonly url: URL;
  /** How much of it may be had. */
  readonly limits: FetchLimits;
  /** The time that is left. */
  readonly budget: NetworkBudget;
  /** Turns what reading the body throws into a `SigError`. */
  fail(error: unknown): unknown;
}

/**
 * Vets a URL, resolves its host, and asks exactly the addresses that were
 * vetted. (docs/protocol.md §10)
 *
 * @throws {SigError} and others as `guardedFetch`, up to the answer's head.
 */
export async function sendGuarded(
  input: string | URL,
  options: GuardedFetchOptions,
  { headers, method = "GET", allowHttp = false }: GuardedRequest,
): Promise<GuardedResponse> {
  const limits = requireFetchOptions(options);
  const { literal, url } = vetUrl(input, {
    allowHttp,
    allowPrivate: options.allowPrivate ?? false,
  });
  const budget = createNetworkBudget(limits.totalTimeoutMs, options.signal);
  const node = options.fetch === undefined ? loadNodeBuiltins() : undefined;
  const fail = (error: unknown) =>
    toFetchError(error, url, limits, options.signal);
  try {
    const resolve = options.resolve ?? systemResolver(node);
    const addresses = literal !== undefined
      ? [literal]
      : resolve === undefined
      ? []
      : await budget.wait(
        resolveAddresses(url, resolve, options.allowPrivate ?? false),
        limits.connectTimeoutMs,
      );
    const send = node === undefined
      ? plainTransport(options)
      : pinnedWherePossible(node, plainTransport(options));
    const response = await send({
      url,
      method,
      headers,
      addresses,
      connectTimeoutMs: limits.connectTimeoutMs - budget.spentMs,
      ...(options.caCertificates === undefined
        ? {}
        : { caCertificates: options.caCertificates }),
    }, budget);
    return { response, url, limits, budget, fail };
  } catch (error) {
    throw fail(error);
  }
}

/** The operating system's resolver: it knows the hosts file and the order. */
function systemResolver(node: NodeBuiltins | undefined): Resolve | undefined {
  if (node === undefined) return undefined;
  return async (host) => {
    const answers = await node.dns.promises.lookup(host, { all: true });
    return answers.map(({ address }) => address);
  };
}

function plainTransport({ fetch }: GuardedFetchOptions): Transport {
  return createPlainTransport(
    fetch ?? ((request) => globalThis.fetch(request)),
  );
}

/** By the platform's fetch where it lets nobody else make a connection. */
function pinnedWherePossible(node: NodeBuiltins, plain: Transport): Transport {
  const pinned = createPinnedTransport(node);
  return async (request, budget) => {
    try {
      return await pinned(request, budget);
    } catch (error) {
      if (!(error instanceof CannotPin)) throw error;
      return await plain(request, budget);
    }
  };
}
