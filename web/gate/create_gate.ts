/** The gate, put together (docs/gate.md). @module */

import type { Hono } from "hono";
import { recordsOf, type RecordStore } from "@sig/consumer/store";
import type { ServiceEnv } from "@sig/api/http";
import { GATE_CODE } from "../store/kinds.ts";
import type { ProviderContext } from "../openid/provider_context.ts";
import { hostCookie, nameAtPort } from "../sessions/cookies.ts";
import { addForwardAuth } from "./forward_auth.ts";
import type { GateCode, GateContext } from "./gate_context.ts";
import type { GateHosts } from "./gate_hosts.ts";
import { addGateLogin } from "./gate_login.ts";
import { addGateReturn } from "./gate_return.ts";

/** What the gate needs beyond the sessions. */
export interface GateOptions {
  /** The hosts that it is for. */
  readonly hosts: GateHosts;
  /** Where codes are kept. */
  readonly records: RecordStore;
  /** How old the issuer's word may be, in milliseconds. */
  readonly maxAgeMs: number;
}

/**
 * Adds the routes that proxies and their people ask.
 *
 * @param pages Whose errors are pages.
 */
export function addGateRoutes(
  app: Hono<ServiceEnv>,
  pages: Hono<ServiceEnv>,
  provider: ProviderContext,
  { hosts, records, maxAgeMs }: GateOptions,
): void {
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
  addForwardAuth(app, context);
  addGateLogin(pages, context);
  addGateReturn(pages, context);
}
