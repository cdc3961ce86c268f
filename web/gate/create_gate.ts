/** The gate, put together (INTERFACES §4b). @module */

import { recordsOf, type RecordStore } from "@sig/consumer/store";
import type { Route } from "@sig/api/http";
import { GATE_CODE } from "../store/kinds.ts";
import type { ProviderContext } from "../openid/provider_context.ts";
import { hostCookie, nameAtPort } from "../sessions/cookies.ts";
import { createForwardAuth } from "./forward_auth.ts";
import type { GateCode, GateContext } from "./gate_context.ts";
import type { GateHosts } from "./gate_hosts.ts";
import { createGateLogin } from "./gate_login.ts";
import { createGateReturn } from "./gate_return.ts";

/** What the gate needs beyond the sessions. */
export interface GateOptions {
  /** The hosts that it is for. */
  readonly hosts: GateHosts;
  /** Where codes are kept. */
  readonly records: RecordStore;
  /** How old the issuer's word may be, in milliseconds. */
  readonly maxAgeMs: number;
}

/** Makes the routes that proxies and their people ask. */
export function createGateRoutes(
  provider: ProviderContext,
  { hosts, records, maxAgeMs }: GateOptions,
): readonly Route[] {
  const isSecure = provider.issuer.startsWith("https:");
  const context: GateContext = {
    ...provider,
    hosts,
    maxAgeMs,
    codes: recordsOf<GateCode>(records, GATE_CODE),
    gateCookie: ({ origin }) =>
      hostCookie(nameAtPort("sig-gate", origin), isSecure),
    beginCookie: hostCookie("sig-begin", isSecure),
  };
  return [
    createForwardAuth(context),
    createGateLogin(context),
    createGateReturn(context),
  ];
}
