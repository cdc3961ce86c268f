/**
 * The second script: all views but a login's, and the verification of feeds.
 * Whoever comes to sign in does not wait for it.
 *
 * @module
 */
/// <reference lib="dom" />

import type { ComponentChild } from "preact";
import type { ReadFeed } from "../feed/read_feed.ts";
import type { Route } from "../parts/route.ts";
import type { Exchange } from "../server/api.ts";
import type { Config } from "../server/config.ts";
import type { Site } from "./site.ts";

/** What a view is drawn of. */
export interface ViewProps {
  readonly site: Site;
  readonly route: Route;
  readonly exchanges: readonly Exchange[];
  /** Whether the person was on the page already, and came to this view. */
  readonly moved: boolean;
}

/** What `more.tsx` exports. */
export interface More {
  /** The view that the address names, if it is not a login. */
  readonly OtherView: (props: ViewProps) => ComponentChild;
  /** Makes what reads the feeds of the issuers that the server knows. */
  readonly createReadFeed: (config: Config) => ReadFeed;
}

/** Gets it, once a page: modules are kept by their address. */
export async function loadMore(): Promise<More> {
  // It stands beside this script, whatever the bundler would call it.
  return await import(new URL("more.js", import.meta.url).href);
}
