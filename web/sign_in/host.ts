/** How a login hosts an OpenID Provider, which it does not import. @module */

import type { RecordStore } from "@sig/consumer/store";
import type { AllowOrigin, ServiceEnv } from "@sig/api/internal/http";
import type { Hono } from "hono";
import type { CreateChallengeOptions } from "../login/create_challenge.ts";
import type { LoginGate } from "../login/relationship.ts";
import type { VerifyLoginOptions } from "../login/verify_login.ts";
import type { WatchReport } from "../sessions/watch.ts";

/** The background work of a provider. */
export interface ProviderWork {
  /** Checks all sessions and ends those that the issuer denies. */
  watch(): Promise<WatchReport>;
  /** Sends the logout tokens that are due; returns how many were delivered. */
  deliver(): Promise<number>;
}

/** The parts of a login that a provider uses. */
export interface LoginHost {
  /** The origins or DIDs that people log in to. */
  readonly audiences: readonly string[];
  /** The issuer and the requirements of a login. */
  readonly gate: LoginGate;
  /** The store of sessions, codes and tokens. */
  readonly store: RecordStore;
  readonly challenges: Omit<CreateChallengeOptions, "require">;
  readonly logins: Omit<VerifyLoginOptions, "checkRelationship">;
  readonly now: () => Date;
}

/** A provider within a login. */
export interface HostedProvider extends ProviderWork {
  addRoutes(app: Hono<ServiceEnv>): void;
  /** Allows pages of applications to request some routes. */
  readonly allowOrigin: AllowOrigin;
  /** The hosts of forward auth, which proxies may name in `Host`. */
  readonly hosts: readonly string[];
}

/** A provider for `AppOptions.openid`; see `@sig/web/openid`. */
export interface OpenIdProvider {
  /**
   * Joins a login; nothing is fetched or written yet. Called by `createApp`.
   *
   * @internal
   *
   * @throws {SigError} `invalid_request` for a login without requirements or
   * without an audience that can be an issuer identifier.
   */
  joinLogin(host: LoginHost): HostedProvider;
}
