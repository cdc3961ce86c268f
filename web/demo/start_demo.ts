/** The demo of a process: its issuer, and its applications. @module */

import type { ServerIo } from "@sig/api/http";
import { findIssuerIdentifier } from "../openid/issuer_identifier.ts";
import type { DemoApp } from "./apps/demo_app.ts";
import {
  type DemoAppsOptions,
  type Settings,
  startDemoApps,
} from "./apps/start_apps.ts";
import { createDemoIssuer, type DemoIssuer } from "./demo_issuer.ts";

/** What {@linkcode startDemo} works with. */
export interface DemoOptions
  extends
    Pick<DemoAppsOptions, "address" | "settings">,
    Pick<ServerIo, "serve" | "now"> {
  /** Where the server listens. */
  readonly url: string;
  /** Whom it speaks for. */
  readonly audiences: readonly string[];
}

/** A demo. */
export interface Demo {
  /** Its issuer. */
  readonly issuer: DemoIssuer;
  /** Its applications; none where no audience is an origin they can log in at. */
  readonly apps: readonly DemoApp[];
  /** The provider's settings, which know them. */
  readonly settings: Settings;
  /** Stops the applications. */
  close(): Promise<void>;
}

/**
 * Starts it. Nothing of it outlives the process.
 *
 * @throws {SigError} `invalid_request` if the applications can't listen.
 */
export async function startDemo(options: DemoOptions): Promise<Demo> {
  const { url, audiences, settings, serve, address, now } = options;
  const issuer = await createDemoIssuer({ origin: url, now });
  const login = findIssuerIdentifier(audiences);
  if (login === undefined) {
    return { issuer, apps: [], settings, close: () => Promise.resolve() };
  }
  const apps = await startDemoApps({
    ...{ login, issuer, settings, serve, address, now },
  });
  return { issuer, ...apps };
}
